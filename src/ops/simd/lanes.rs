//! Vectors of the processor as what a [`Profile`](crate::radial::Profile) is computed in.

use std::{f64::consts::LOG2_E, marker::PhantomData};

use pulp::Simd;

use super::{log2, real::Real};
use crate::radial::curve::Numbers;

/// Vectors of an instruction set; single numbers with [`pulp::Scalar`].
#[derive(Clone, Copy)]
pub(crate) struct Lanes<S, T> {
    simd: S,
    numbers: PhantomData<T>,
}

impl<S: Simd, T: Real> Lanes<S, T> {
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

impl<S: Simd, T: Real> Numbers for Lanes<S, T> {
    type Number = T::Lanes<S>;

    #[inline(always)]
    fn scaled(self, x: T::Lanes<S>, factor: f64) -> T::Lanes<S> {
        T::mul(self.simd, x, self.splat(factor))
    }

    #[inline(always)]
    fn plus(self, x: T::Lanes<S>, constant: f64) -> T::Lanes<S> {
        T::add(self.simd, x, self.splat(constant))
    }

    #[inline(always)]
    fn times(self, x: T::Lanes<S>, y: T::Lanes<S>) -> T::Lanes<S> {
        T::mul(self.simd, x, y)
    }

    #[inline(always)]
    fn sqrt(self, x: T::Lanes<S>) -> T::Lanes<S> {
        T::sqrt(self.simd, x)
    }

    #[inline(always)]
    fn not_negative(self, x: T::Lanes<S>) -> T::Lanes<S> {
        T::max(self.simd, x, self.splat(0.0))
    }

    #[inline(always)]
    fn over(self, x: T::Lanes<S>, y: T::Lanes<S>) -> T::Lanes<S> {
        T::where_normal(self.simd, y, T::div(self.simd, x, y))
    }

    #[inline(always)]
    fn decay(self, x: T::Lanes<S>, factor: f64) -> T::Lanes<S> {
        let exponent = T::mul(self.simd, x, self.splat(-factor * LOG2_E));
        T::exp2(self.simd, exponent)
    }

    #[inline(always)]
    fn power(self, x: T::Lanes<S>, a: f64) -> T::Lanes<S> {
        log2::power::<S, T>(self.simd, x, a)
    }

    #[inline(always)]
    fn power_of_successor(self, x: T::Lanes<S>, a: f64) -> [T::Lanes<S>; 2] {
        log2::power_of_successor::<S, T>(self.simd, x, a)
    }
}
