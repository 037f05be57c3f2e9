//! Vectors of the processor with operators, for formulas.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pulp::Simd;

use super::real::Real;
use crate::ops::formula::Number;

/// A vector of numbers.
#[derive(Clone, Copy)]
pub(crate) struct Wide<S: Simd, T: Real> {
    simd: S,
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

    /// `2^x` for `x ≤ 0`, see [`exp2`](super::exp2).
    #[inline(always)]
    pub fn exp2(self) -> Self {
        Self::new(self.simd, T::exp2(self.simd, self.lanes))
    }

    /// The sum of the lanes.
    #[inline(always)]
    pub fn sum(self) -> T {
        T::sum(self.simd, self.lanes)
    }
}

macro_rules! operator {
    ($($trait:ident $name:ident;)*) => {$(
        impl<S: Simd, T: Real> $trait for Wide<S, T> {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self::new(self.simd, T::$name(self.simd, self.lanes, other.lanes))
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
    Add add;
    Sub sub;
    Mul mul;
    Div div;
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
        (self * std::f64::consts::LOG2_E).exp2()
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
