//! Vectors of the processor as what a [`Profile`](crate::radial::Profile) is computed in.

use std::{f64::consts::LOG2_E, marker::PhantomData};

use pulp::Simd;

use super::{log2, real::Real};
use crate::radial::curve::Numbers;

/// `N` vectors of an instruction set, which are computed side by side; single numbers with
/// [`pulp::Scalar`].
#[derive(Clone, Copy)]
pub(crate) struct Lanes<S, T, const N: usize> {
    simd: S,
    numbers: PhantomData<T>,
}

impl<S: Simd, T: Real, const N: usize> Lanes<S, T, N> {
    #[inline(always)]
    pub fn new(simd: S) -> Self {
        Self {
            simd,
            numbers: PhantomData,
        }
    }

    #[inline(always)]
    fn splat(self, x: f64) -> T::Lanes<S> {
        T::splat(self.simd, T::new(x))
    }
}

/// `$of` for each vector `$x` of as many as `$all`.
macro_rules! each {
    ($all:ident, $x:ident => $of:expr) => {{
        let mut all = $all;
        for number in &mut all {
            let $x = *number;
            *number = $of;
        }
        all
    }};
}

impl<S: Simd, T: Real, const N: usize> Numbers for Lanes<S, T, N> {
    type Number = [T::Lanes<S>; N];

    #[inline(always)]
    fn scaled(self, x: Self::Number, factor: f64) -> Self::Number {
        let factor = self.splat(factor);
        each!(x, x => T::mul(self.simd, x, factor))
    }

    #[inline(always)]
    fn plus(self, x: Self::Number, constant: f64) -> Self::Number {
        let constant = self.splat(constant);
        each!(x, x => T::add(self.simd, x, constant))
    }

    #[inline(always)]
    fn times(self, mut x: Self::Number, y: Self::Number) -> Self::Number {
        for (x, y) in x.iter_mut().zip(y) {
            *x = T::mul(self.simd, *x, y);
        }
        x
    }

    #[inline(always)]
    fn sqrt(self, x: Self::Number) -> Self::Number {
        each!(x, x => T::sqrt(self.simd, x))
    }

    #[inline(always)]
    fn not_negative(self, x: Self::Number) -> Self::Number {
        let zero = self.splat(0.0);
        each!(x, x => T::max(self.simd, x, zero))
    }

    #[inline(always)]
    fn over(self, mut x: Self::Number, y: Self::Number) -> Self::Number {
        for (x, y) in x.iter_mut().zip(y) {
            *x = T::where_normal(self.simd, y, T::div(self.simd, *x, y));
        }
        x
    }

    #[inline(always)]
    fn decay(self, x: Self::Number, factor: f64) -> Self::Number {
        let factor = self.splat(-factor * LOG2_E);
        each!(x, x => T::exp2(self.simd, T::mul(self.simd, x, factor)))
    }

    #[inline(always)]
    fn power(self, x: Self::Number, a: f64) -> Self::Number {
        each!(x, x => log2::power::<S, T>(self.simd, x, a))
    }

    #[inline(always)]
    fn power_of_successor(self, x: Self::Number, a: f64) -> [Self::Number; 2] {
        let (mut powers, mut reciprocals) = (x, x);
        for (power, reciprocal) in powers.iter_mut().zip(&mut reciprocals) {
            [*power, *reciprocal] = log2::power_of_successor::<S, T>(self.simd, *power, a);
        }
        [powers, reciprocals]
    }
}
