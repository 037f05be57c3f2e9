//! The pair statistic `h = k·g` of the pairs of a tile, and what the gradient needs of it.

use std::ops::AddAssign;

use pulp::{Simd, WithSimd};

use super::{
    lanes::Lanes,
    radial::{Form, Radial, Separation, with_form},
    real::Real,
};
use crate::radial::curve::Value;

/// Vectors of pairs that are weighed at once: each waits long for its exponential.
const UNROLLED: usize = 4;

/// Takes separations in `first` and inner products of residuals in `second`. With a gradient, for each pair
/// is written, with `k` the kernel, `g` the inner product of the residuals and `s = g·∂k` the slope: `s`, and
/// `−k`, or `s − k` for [`Slopes::Merged`](super::slope::Slopes::Merged).
pub(super) struct Weigh<'a, T, const GRADIENT: bool> {
    pub radial: Radial,
    /// 1 for pairs that count, else 0; all count if there is none.
    pub mask: Option<&'a [T]>,
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

impl<T: Real, const GRADIENT: bool> WithSimd for Weigh<'_, T, GRADIENT> {
    type Output = Totals;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Totals {
        let merged = self.radial.separation == Separation::Exponents;
        let merged = T::new(f64::from(u8::from(merged)));
        with_form!(self.radial, form => weigh::<S, T, _, GRADIENT>(
            simd,
            form,
            T::splat(simd, merged),
            (self.first, self.second),
            self.mask,
        ))
    }
}

/// Turns separations and inner products of residuals into what is written.
#[inline(always)]
fn weigh<S: Simd, T: Real, F: Form, const GRADIENT: bool>(
    simd: S,
    form: F,
    merged: T::Lanes<S>,
    (first, second): (&mut [T], &mut [T]),
    mask: Option<&[T]>,
) -> Totals {
    let zero = T::splat(simd, T::new(0.0));
    let [mut value, mut stretch] = [[zero; UNROLLED]; 2];
    let first = T::lanes_mut::<S>(first).chunks_exact_mut(UNROLLED);
    let second = T::lanes_mut::<S>(second).chunks_exact_mut(UNROLLED);
    let mask = mask.map(T::lanes::<S>);
    for (k, (first, second)) in first.zip(second).enumerate() {
        for v in 0..UNROLLED {
            let at = form.of(Lanes::<S, T>::new(simd), first[v]);
            let Value {
                mut kernel,
                mut slope,
            } = at.value;
            if let Some(mask) = mask {
                let mask = mask[k * UNROLLED + v];
                kernel = T::mul(simd, kernel, mask);
                slope = T::mul(simd, slope, mask);
            }
            value[v] = T::mul_add(simd, kernel, second[v], value[v]);
            if GRADIENT {
                let slope = T::mul(simd, slope, second[v]);
                stretch[v] = T::mul_add(simd, slope, at.separation, stretch[v]);
                first[v] = slope;
                second[v] = T::sub(simd, T::mul(simd, merged, slope), kernel);
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
