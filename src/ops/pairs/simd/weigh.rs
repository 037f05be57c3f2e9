//! The pair statistic `h = k·g` of the pairs of a tile, and what the gradient needs of it.

use std::ops::AddAssign;

use pulp::{Simd, WithSimd};

use super::{
    lanes::Lanes,
    radial::{Radial, with_known},
    real::Real,
};
use crate::radial::curve::Value;

/// Vectors of pairs that are weighed at once: each waits long for its exponential.
const UNROLLED: usize = 4;

/// Takes separations in `first` and inner products of residuals in `second`. With a gradient, for each pair
/// is written, with `k` the kernel, `g` the inner product of the residuals and `s = g·∂k` the slope: `s` and `−k`.
pub(super) struct Weigh<'a, T> {
    pub radial: Radial,
    pub gradient: bool,
    pub first: &'a mut [T],
    pub second: &'a mut [T],
}

/// Sums over the pairs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    /// `Σ h`
    pub value: f64,
    /// `ν ∂/∂ν Σ h`
    pub stretch: f64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.value += other.value;
        self.stretch += other.stretch;
    }
}

impl<T: Real> WithSimd for Weigh<'_, T> {
    type Output = Totals;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Totals {
        with_known!(self.radial, radial => weigh(simd, Self { radial, ..self }))
    }
}

#[inline(always)]
fn weigh<S: Simd, T: Real>(simd: S, tile: Weigh<T>) -> Totals {
    let zero = T::splat(simd, T::new(0.0));
    let [mut value, mut stretch] = [[zero; UNROLLED]; 2];
    let first = T::lanes_mut::<S>(tile.first).as_chunks_mut::<UNROLLED>();
    let second = T::lanes_mut::<S>(tile.second).as_chunks_mut::<UNROLLED>();
    for (first, second) in first.0.iter_mut().zip(second.0) {
        for v in 0..UNROLLED {
            let at = tile.radial.of(Lanes::<S, T>::new(simd), first[v]);
            let Value { kernel, slope } = at.value;
            value[v] = T::mul_add(simd, kernel, second[v], value[v]);
            if tile.gradient {
                let slope = T::mul(simd, slope, second[v]);
                stretch[v] = T::mul_add(simd, slope, at.separation, stretch[v]);
                first[v] = slope;
                second[v] = T::sub(simd, zero, kernel);
            }
        }
    }
    let total = |sums: [T::Lanes<S>; UNROLLED]| {
        let mut total = sums[0];
        for &sum in &sums[1..] {
            total = T::add(simd, total, sum);
        }
        T::sum(simd, total).to_f64()
    };
    Totals {
        value: total(value),
        stretch: -total(stretch),
    }
}
