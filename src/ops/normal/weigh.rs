use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{
    packs::{Packs, pack},
    pair::NUMBERS,
};
use crate::{
    ops::simd::{aligned::Aligned, lanes::Lanes, wide::Select},
    radial::{
        Profile,
        curve::{Curve, with_curve},
    },
};

/// Packs of columns in a tile.
pub(super) const PACKS: usize = 4;

/// The kernel on predictions of the pairs of a tile, `[row][pack][lane]`.
pub(super) struct Weights<T> {
    pub kernel: Aligned<T>,
    /// The derivative of the kernel along a difference of coordinates over that difference.
    pub slope: Aligned<T>,
    /// The squared distances.
    pub squares: Aligned<T>,
}

impl<T: Select> Weights<T> {
    /// Zeros for a tile of a pack of rows and so many packs of columns.
    pub fn zeros() -> Self {
        let zeros = || Aligned::zeros(pack::<T>() * PACKS * pack::<T>());
        Self {
            kernel: zeros(),
            slope: zeros(),
            squares: zeros(),
        }
    }

    /// Lets the pairs of some rows and a pack count that are `kept`, given row and column in the packs.
    pub fn keep(&mut self, rows: usize, index: usize, kept: impl Fn(usize, usize) -> bool) {
        for row in 0..rows {
            for lane in 0..pack::<T>() {
                if !kept(row, lane) {
                    let at = (row * PACKS + index) * pack::<T>() + lane;
                    self.kernel[at] = T::new(0.0);
                    self.slope[at] = T::new(0.0);
                }
            }
        }
    }
}

/// A kernel on predictions, `κ(W₂/ν)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Radial {
    pub profile: Profile,
    pub bandwidth: f64,
}

/// Writes the weights of a pack of rows with some packs of columns; in lanes, of each row with the column
/// of its lane.
pub(super) struct Weigh<'a, T> {
    pub radial: Radial,
    pub rows: (&'a Packs<T>, usize),
    pub columns: (&'a Packs<T>, Range<usize>),
    pub in_lanes: bool,
    pub weights: &'a mut Weights<T>,
}

impl<T: Select> WithSimd for Weigh<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let line = pack::<T>() / T::width::<S>();
        let (rows, row) = (self.rows.0, self.rows.0.pack(self.rows.1));
        let lanes_of_row = T::lanes::<S>(row);
        let squares = T::lanes_mut::<S>(&mut self.weights.squares);
        let count = if self.in_lanes { 1 } else { pack::<T>() };
        for r in 0..count {
            for (k, index) in self.columns.1.clone().enumerate() {
                let column = T::lanes::<S>(self.columns.0.pack(index));
                for v in 0..line {
                    let of_row = |number: usize| {
                        if self.in_lanes {
                            lanes_of_row[number * line + v]
                        } else {
                            T::splat(simd, row[number * pack::<T>() + r])
                        }
                    };
                    let mut sum = T::splat(simd, T::new(0.0));
                    for c in (0..rows.d).map(|c| c * NUMBERS) {
                        let location = T::sub(simd, of_row(c), column[c * line + v]);
                        let scale = T::sub(simd, of_row(c + 1), column[(c + 1) * line + v]);
                        sum = T::mul_add(simd, location, location, sum);
                        sum = T::mul_add(simd, scale, scale, sum);
                    }
                    squares[(r * PACKS + k) * line + v] = sum;
                }
            }
        }
        let kernel = T::lanes_mut::<S>(&mut self.weights.kernel);
        let slope = T::lanes_mut::<S>(&mut self.weights.slope);
        let rate = self.radial.bandwidth.recip();
        with_curve!(self.radial.profile, rate, curve => {
            for r in 0..count {
                let row = r * PACKS * line..(r * PACKS + self.columns.1.len()) * line;
                for at in row {
                    let value = curve.of_square(Lanes::<S, T>::new(simd), squares[at]);
                    kernel[at] = value.kernel;
                    slope[at] = value.slope;
                }
            }
        });
    }
}
