//! The pair statistic `h = k·g` of the pairs of a tile, and what the gradient needs of it.

use std::ops::AddAssign;

use pulp::{Simd, WithSimd};

use super::{
    layout::{PAIR, QUAD, Vectors, line},
    radial::Radial,
    real::Real,
    similarity::{Coordinate, Inner, similarity},
    tile::Tile,
};

/// What is written for each pair, with `k` the kernel, `g` the inner product of the residuals and
/// `s = g·∂k` the slope.
pub(super) const STATISTIC: u8 = 0; // `h`, and nothing
pub(super) const SEPARATE: u8 = 1; // `s` and `−k`
pub(super) const MERGED: u8 = 2; // `s` and `s − k`

pub(super) struct Weigh<'a, T, R, C, const OUTPUT: u8> {
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

impl<T, R, C, const OUTPUT: u8> WithSimd for Weigh<'_, T, R, C, OUTPUT>
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
        let (mut value, mut stretch) = ([zero; PAIR], [zero; PAIR]);
        let first = T::lanes_mut::<S>(self.first);
        let second = T::lanes_mut::<S>(self.second);
        let mask = self.mask.map(T::lanes::<S>);
        let mut here = 0;
        for strip in tile.strips.clone() {
            let (point_strip, residual_strip) = (points.strip(strip), residuals.strip(strip));
            for row in tile.quads::<T>() {
                let (point_quad, residual_quad) = (points.quad(row), residuals.quad(row));
                for start in (0..line::<T, S>()).step_by(PAIR) {
                    let separation =
                        similarity(simd, self.coordinate, point_quad, point_strip, start);
                    let product = similarity(simd, Inner, residual_quad, residual_strip, start);
                    for q in 0..QUAD {
                        let here = here + q * line::<T, S>() + start;
                        let first = &mut first[here..here + PAIR];
                        let second = &mut second[here..here + PAIR];
                        for v in 0..PAIR {
                            let radial = self.radial.of(simd, separation[q][v]);
                            let kernel = match mask {
                                Some(mask) => T::mul(simd, radial.kernel, mask[here + v]),
                                None => radial.kernel,
                            };
                            let h = T::mul(simd, kernel, product[q][v]);
                            value[v] = T::add(simd, value[v], h);
                            if OUTPUT == STATISTIC {
                                first[v] = h;
                            } else {
                                let slope = T::mul(simd, h, radial.slope);
                                let from = if OUTPUT == MERGED { slope } else { zero };
                                stretch[v] = T::mul_add(simd, h, radial.stretch, stretch[v]);
                                first[v] = slope;
                                second[v] = T::sub(simd, from, kernel);
                            }
                        }
                    }
                }
                here += QUAD * line::<T, S>();
            }
        }
        let total =
            |sums: [T::Lanes<S>; PAIR]| T::sum(simd, T::add(simd, sums[0], sums[1])).to_f64();
        Totals {
            value: total(value),
            stretch: total(stretch),
        }
    }
}
