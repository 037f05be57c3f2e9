//! The gradient, summed over the pairs: the lanes of the processor are columns.
//!
//! With `s_ij` the slopes and `k_ij` the kernel, points have the gradient `Σ_j s_ij (x_i − x_j)`, or with signs of the
//! differences, and residuals `Σ_j k_ij δ_j`. A tile is read once: it adds to the sums of its columns, and to vectors of
//! partial sums of its rows.
//!
//! ```text
//!                         columns j
//!                 ┌───────────────────────┐
//!          rows i │ w_ij, four rows and   │──► row_sums[i]    ∓= w_ij · term(x_i, x_j)
//!                 │ two vectors at a time │
//!                 └───────────┬───────────┘
//!                             └──► column_sums[j] += w_ij · term(x_i, x_j)
//! ```

use pulp::{Simd, WithSimd};

use super::{
    Real,
    arch::Arch,
    layout::{Aligned, PAIR, PaddedVectors, QUAD, line, strip, write_rows},
    pass::{Pass, Tile},
};
use crate::radial::CoordinateSum;

/// Rows of a tile of the narrowest type.
const MOST_ROWS: usize = strip::<f32>();
/// Coordinates at a time: their sums of all rows of a tile stay in the first-level cache.
const COORDINATES: usize = 12;

/// The gradient of a share of the pairs, `[strip][coordinate][column]`.
pub(super) struct GradientSums<'a, T> {
    pass: &'a Pass<T>,
    /// The gradient of the points, with that of residuals of labels.
    points: Aligned<T>,
    /// Minus the gradient of residuals that are rows.
    residuals: Option<Aligned<T>>,
}

impl<'a, T: Real> GradientSums<'a, T> {
    pub fn zeros(pass: &'a Pass<T>) -> Self {
        let zeros = |d: usize| Aligned::zeros(pass.n.next_multiple_of(strip::<T>()) * d);
        Self {
            pass,
            points: zeros(pass.points.d),
            residuals: (!pass.by_label).then(|| zeros(pass.residuals.d)),
        }
    }

    /// Adds the pairs of a tile with slopes and the weights of residuals, `[strip][row][column]`; 0 for
    /// pairs that do not count.
    pub fn add(&mut self, tile: &Tile, slopes: &[T], weights: &[T]) {
        let terms = match self.pass.radial.sum {
            CoordinateSum::Magnitudes => Terms::Signs,
            CoordinateSum::Squares => Terms::Differences,
        };
        Arch::new().dispatch(TileSums {
            tile,
            weights: slopes,
            vectors: &self.pass.points,
            terms,
            sums: &mut self.points,
        });
        Arch::new().dispatch(TileSums {
            tile,
            weights,
            vectors: &self.pass.residuals,
            terms: Terms::Vectors,
            sums: self.residuals.as_mut().unwrap_or(&mut self.points),
        });
    }

    /// Adds another share.
    pub fn merge(&mut self, other: &Self) {
        self.points.add(&other.points);
        if let (Some(sums), Some(others)) = (&mut self.residuals, &other.residuals) {
            sums.add(others);
        }
    }

    /// Writes the gradients of points and of residuals that are rows, `[sample][coordinate]`.
    pub fn write(&self, [points, residuals]: &mut [&mut [T]; 2]) {
        write_rows(&self.points, 1.0, points, self.pass.points.d);
        if let Some(sums) = &self.residuals {
            write_rows(sums, -1.0, residuals, self.pass.residuals.d);
        }
    }
}

/// The term that the other member of a pair adds to a sum; it is multiplied by the weight of the pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Terms {
    /// The signs of the differences `y − x` to columns, and the opposite to rows.
    Signs,
    /// The differences.
    Differences,
    /// The row `x` to columns, and the column `y` to rows.
    Vectors,
}

/// Adds the weighted terms of all coordinates to the sums of columns and of rows.
struct TileSums<'a, T> {
    tile: &'a Tile,
    weights: &'a [T],
    vectors: &'a PaddedVectors<T>,
    terms: Terms,
    sums: &'a mut [T],
}

impl<T: Real> WithSimd for TileSums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.terms {
            Terms::Signs => {
                // differences of numbers of at most 1 are 0 or at least 1 in this unit, but those of numbers near 0
                let bounds = [T::MIN_POSITIVE.recip(), 1.0, -1.0];
                let [huge, one, minus_one] = bounds.map(|x| T::splat(simd, T::new(x)));
                self.add(
                    simd,
                    #[inline(always)]
                    |x, y| {
                        let difference = T::times(simd, T::minus(simd, y, x), huge);
                        [T::min(simd, T::max(simd, difference, minus_one), one); 2]
                    },
                );
            }
            Terms::Differences => self.add(
                simd,
                #[inline(always)]
                |x, y| [T::minus(simd, y, x); 2],
            ),
            Terms::Vectors => self.add(
                simd,
                #[inline(always)]
                |x, y| [x, y],
            ),
        }
    }
}

impl<T: Real> TileSums<'_, T> {
    /// Some coordinates at a time; `terms(x, y)` are what a pair adds to its column and, up to the sign, to its row.
    #[inline(always)]
    fn add<S: Simd>(
        mut self,
        simd: S,
        terms: impl Fn(T::Lanes<S>, T::Lanes<S>) -> [T::Lanes<S>; 2],
    ) {
        for first in (0..self.vectors.d).step_by(COORDINATES) {
            let count = COORDINATES.min(self.vectors.d - first);
            self.block(simd, &terms, first, count);
        }
    }

    /// Adds those of so many coordinates from `first` on.
    #[inline(always)]
    fn block<S: Simd>(
        &mut self,
        simd: S,
        terms: &impl Fn(T::Lanes<S>, T::Lanes<S>) -> [T::Lanes<S>; 2],
        first: usize,
        count: usize,
    ) {
        let (d, height, line) = (self.vectors.d, strip::<T>(), line::<T, S>());
        let zero = T::splat(simd, T::new(0.0));
        let weights = T::lanes::<S>(self.weights).chunks_exact(height * line);
        let mut row_sums = [[[zero; QUAD]; COORDINATES]; MOST_ROWS / QUAD];
        for (strip, weights) in self.tile.strips.clone().zip(weights) {
            let place = (strip * d + first) * line..(strip * d + first + count) * line;
            let columns = &T::lanes::<S>(self.vectors.strip(strip))[first * line..];
            let column_sums = &mut T::lanes_mut::<S>(self.sums)[place];
            let quads = self.tile.rows::<T>().step_by(QUAD);
            let weights = weights.chunks_exact(QUAD * line).zip(&mut row_sums);
            for (row, (weights, row_sums)) in quads.zip(weights) {
                let [a, b, c, d] = self.vectors.quad(row).map(|row| &row[first..]);
                for start in (0..line).step_by(PAIR) {
                    let mut w = [[zero; PAIR]; QUAD];
                    for (w, weights) in w.iter_mut().zip(weights.chunks_exact(line)) {
                        w.copy_from_slice(&weights[start..start + PAIR]);
                    }
                    let rows = a.iter().zip(b).zip(c).zip(d);
                    let columns = rows.zip(columns.chunks_exact(line));
                    let sums = (column_sums.chunks_exact_mut(line)).zip(&mut *row_sums);
                    for (((((a, b), c), d), y), (column_sums, row_sums)) in columns.zip(sums) {
                        let y = &y[start..start + PAIR];
                        let column_sums = &mut column_sums[start..start + PAIR];
                        let mut over_rows = [column_sums[0], column_sums[1]];
                        for ((&x, w), row_sum) in [a, b, c, d].into_iter().zip(&w).zip(row_sums) {
                            let x = T::splat(simd, x);
                            let mut over_columns = *row_sum;
                            for v in 0..PAIR {
                                let [to_column, to_row] = terms(x, y[v]);
                                over_rows[v] = T::mul_add(simd, w[v], to_column, over_rows[v]);
                                over_columns = T::mul_add(simd, w[v], to_row, over_columns);
                            }
                            *row_sum = over_columns;
                        }
                        column_sums.copy_from_slice(&over_rows);
                    }
                }
            }
        }
        let sums = &mut self.sums[self.tile.row * d + first * height..];
        let sign = T::new(if self.terms == Terms::Vectors {
            1.0
        } else {
            -1.0
        });
        for (quad, row_sums) in row_sums[..height / QUAD].iter().enumerate() {
            for (sums, row_sums) in sums.chunks_exact_mut(height).zip(&row_sums[..count]) {
                for (sum, &row_sum) in sums[quad * QUAD..].iter_mut().zip(row_sums) {
                    *sum += sign * T::sum(simd, row_sum);
                }
            }
        }
    }
}
