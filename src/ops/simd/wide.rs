//! Vectors of the processor with operators, for formulas and for profiles of kernels.

use std::{
    f64::consts::LOG2_E,
    marker::PhantomData,
    ops::{Add, Div, Mul, Neg, Sub},
};

use pulp::Simd;

use super::{
    powers::{exp2, power, power_of_successor},
    real::Real,
};
use crate::{ops::formula::Number, radial::curve::Numbers};

/// A vector of numbers; a single number with [`pulp::Scalar`].
#[derive(Clone, Copy)]
pub(crate) struct Wide<S: Simd, T: Real> {
    pub simd: S,
    pub lanes: T::Lanes<S>,
}

/// Functions besides those that any [`Number`] of a formula has.
impl<S: Simd, T: Real> Wide<S, T> {
    #[inline(always)]
    pub fn new(simd: S, lanes: T::Lanes<S>) -> Self {
        Self { simd, lanes }
    }

    #[inline(always)]
    pub fn splat(simd: S, x: T) -> Self {
        Self::new(simd, T::splat(simd, x))
    }

    /// The smaller number of each pair.
    #[inline(always)]
    pub fn min(self, other: f64) -> Self {
        let other = self.constant(other).lanes;
        Self::new(self.simd, T::min(self.simd, self.lanes, other))
    }

    /// The larger number of each pair.
    #[inline(always)]
    pub fn max(self, other: f64) -> Self {
        let other = self.constant(other).lanes;
        Self::new(self.simd, T::max(self.simd, self.lanes, other))
    }

    /// These numbers where others are at least the smallest normal number, else 0.
    #[inline(always)]
    pub fn where_normal(self, others: Self) -> Self {
        let least = self.constant(T::MIN_POSITIVE);
        others.where_less(least, self.constant(0.0), self)
    }

    /// The arithmetic that profiles of kernels are computed in.
    #[inline(always)]
    pub fn arithmetic(self) -> Vectors<S, T> {
        Vectors(self.simd, PhantomData)
    }

    /// The sum of the lanes.
    #[inline(always)]
    pub fn sum(self) -> T {
        T::sum(self.simd, self.lanes)
    }
}

macro_rules! operator {
    ($($trait:ident $name:ident $of_lanes:ident;)*) => {$(
        impl<S: Simd, T: Real> $trait for Wide<S, T> {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self::new(self.simd, T::$of_lanes(self.simd, self.lanes, other.lanes))
            }
        }

        impl<S: Simd, T: Real> $trait<f64> for Wide<S, T> {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: f64) -> Self {
                self.$name(self.constant(other))
            }
        }
    )*};
}

operator! {
    Add add plus;
    Sub sub minus;
    Mul mul times;
    Div div over;
}

impl<S: Simd, T: Real> Number for Wide<S, T> {
    #[inline(always)]
    fn is_f64(&self) -> bool {
        size_of::<T>() == 8
    }

    #[inline(always)]
    fn smallest(&self) -> f64 {
        T::MIN_POSITIVE
    }

    #[inline(always)]
    fn constant(&self, x: f64) -> Self {
        Self::splat(self.simd, T::new(x))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self::new(self.simd, T::abs(self.simd, self.lanes))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::new(self.simd, T::sqrt(self.simd, self.lanes))
    }

    #[inline(always)]
    fn exp(self) -> Self {
        exp2(self * LOG2_E)
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        let sum = T::mul_add(self.simd, self.lanes, b.lanes, c.lanes);
        Self::new(self.simd, sum)
    }

    #[inline(always)]
    fn where_less(self, bound: Self, yes: Self, no: Self) -> Self {
        let pair = [self.lanes, bound.lanes];
        let chosen = T::where_less(self.simd, pair, yes.lanes, no.lanes);
        Self::new(self.simd, chosen)
    }
}

impl<S: Simd, T: Real> Neg for Wide<S, T> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self.constant(0.0) - self
    }
}

/// The arithmetic of [`Wide`] vectors of an instruction set.
#[derive(Clone, Copy)]
pub(crate) struct Vectors<S, T>(S, PhantomData<T>);

impl<S: Simd, T: Real> Numbers for Vectors<S, T> {
    type Number = Wide<S, T>;

    #[inline(always)]
    fn scaled(self, x: Wide<S, T>, factor: f64) -> Wide<S, T> {
        x * factor
    }

    #[inline(always)]
    fn plus(self, x: Wide<S, T>, constant: f64) -> Wide<S, T> {
        x + constant
    }

    #[inline(always)]
    fn times(self, x: Wide<S, T>, y: Wide<S, T>) -> Wide<S, T> {
        x * y
    }

    #[inline(always)]
    fn sqrt(self, x: Wide<S, T>) -> Wide<S, T> {
        x.sqrt()
    }

    #[inline(always)]
    fn over(self, x: Wide<S, T>, y: Wide<S, T>) -> Wide<S, T> {
        (x / y).where_normal(y)
    }

    #[inline(always)]
    fn decay(self, x: Wide<S, T>, factor: f64) -> Wide<S, T> {
        exp2(x * (-factor * LOG2_E))
    }

    #[inline(always)]
    fn power(self, x: Wide<S, T>, a: f64) -> Wide<S, T> {
        power(x, a)
    }

    #[inline(always)]
    fn power_of_successor(self, x: Wide<S, T>, a: f64) -> [Wide<S, T>; 2] {
        power_of_successor(x, a)
    }
}
