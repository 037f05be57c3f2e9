//! The pair statistic `h = k·g` of the pairs of a tile, and what the gradient needs of it.

use std::ops::AddAssign;

use pulp::{Simd, WithSimd};

use super::{
    layout::{Vectors, strip},
    radial::Radial,
    real::Real,
    similarity::{Coordinate, Inner, similarities},
    tile::Tile,
};

/// Vectors of pairs that are weighed at once: each waits long for its exponential.
const UNROLLED: usize = 4;

/// With a gradient, for each pair is written, with `k` the kernel, `g` the inner product of the residuals
/// and `s = g·∂k` the slope: `s`, and `−k` or `s − k`, see [`Radial::MERGED`].
pub(super) struct Weigh<'a, T, R, C, const GRADIENT: bool> {
    pub tile: &'a Tile,
    pub points: &'a Vectors<T>,
    pub residuals: &'a Vectors<T>,
    pub radial: R,
    pub coordinate: C,
    /// 1 for pairs that count, else 0; all count if there is none. These three `[strip][row][column]`.
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

impl<T, R, C, const GRADIENT: bool> WithSimd for Weigh<'_, T, R, C, GRADIENT>
where
    T: Real,
    R: Radial<T>,
    C: Coordinate<T>,
{
    type Output = Totals;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Totals {
        let Self {
            tile,
            points,
            residuals,
            ..
        } = self;
        let zero = T::splat(simd, T::new(0.0));
        let mut sums = [[zero; UNROLLED]; 2]; // value and stretch
        let strip_width = strip::<T>();
        let size = strip_width * strip_width;
        let rows = tile.row..tile.row + strip_width;
        let strips = tile.strips.clone().zip(self.first.chunks_exact_mut(size));
        for (k, ((strip, first), second)) in
            strips.zip(self.second.chunks_exact_mut(size)).enumerate()
        {
            similarities(
                simd,
                self.coordinate,
                (points, rows.clone()),
                (points, strip),
                first,
                strip_width,
            );
            similarities(
                simd,
                Inner,
                (residuals, rows.clone()),
                (residuals, strip),
                second,
                strip_width,
            );
            let mask = self.mask.map(|mask| &mask[k * size..][..size]);
            weigh::<S, T, R, GRADIENT>(simd, self.radial, first, second, mask, &mut sums);
        }
        totals::<S, T, R>(simd, self.radial, sums)
    }
}

/// The same of separations in `first` and inner products of residuals in `second`.
pub(super) struct WeighComputed<'a, T, R, const GRADIENT: bool> {
    pub radial: R,
    pub mask: Option<&'a [T]>,
    pub first: &'a mut [T],
    pub second: &'a mut [T],
}

impl<T: Real, R: Radial<T>, const GRADIENT: bool> WithSimd for WeighComputed<'_, T, R, GRADIENT> {
    type Output = Totals;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Totals {
        let mut sums = [[T::splat(simd, T::new(0.0)); UNROLLED]; 2];
        let Self { radial, mask, .. } = self;
        weigh::<S, T, R, GRADIENT>(simd, radial, self.first, self.second, mask, &mut sums);
        totals::<S, T, R>(simd, radial, sums)
    }
}

/// Of the sums of values and stretches.
#[inline(always)]
fn totals<S: Simd, T: Real, R: Radial<T>>(
    simd: S,
    radial: R,
    [value, stretch]: [[T::Lanes<S>; UNROLLED]; 2],
) -> Totals {
    let total = |sums: [T::Lanes<S>; UNROLLED]| {
        let mut total = sums[0];
        for &sum in &sums[1..] {
            total = T::add(simd, total, sum);
        }
        T::sum(simd, total).to_f64()
    };
    Totals {
        value: total(value),
        stretch: radial.stretch_unit() * total(stretch),
    }
}

/// From separations and inner products of residuals to what is written.
#[inline(always)]
fn weigh<S: Simd, T: Real, R: Radial<T>, const GRADIENT: bool>(
    simd: S,
    radial: R,
    first: &mut [T],
    second: &mut [T],
    mask: Option<&[T]>,
    [value, stretch]: &mut [[T::Lanes<S>; UNROLLED]; 2],
) {
    let zero = T::splat(simd, T::new(0.0));
    let first = T::lanes_mut::<S>(first).chunks_exact_mut(UNROLLED);
    let second = T::lanes_mut::<S>(second).chunks_exact_mut(UNROLLED);
    let mask = mask.map(T::lanes::<S>);
    for (k, (first, second)) in first.zip(second).enumerate() {
        for v in 0..UNROLLED {
            let radial = radial.of(simd, first[v]);
            let kernel = match mask {
                Some(mask) => T::mul(simd, radial.kernel, mask[k * UNROLLED + v]),
                None => radial.kernel,
            };
            let h = T::mul(simd, kernel, second[v]);
            value[v] = T::add(simd, value[v], h);
            if GRADIENT {
                let slope = T::mul(simd, h, radial.slope);
                let from = if R::MERGED { slope } else { zero };
                stretch[v] = T::mul_add(simd, h, radial.stretch, stretch[v]);
                first[v] = slope;
                second[v] = T::sub(simd, from, kernel);
            }
        }
    }
}
