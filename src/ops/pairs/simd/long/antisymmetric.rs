//! `t_ijc = w_ij·slope(y_jc − y_ic)` added to the sum of `j` and subtracted from that of `i`.

use pulp::{Simd, WithSimd};

use super::LongTile;
use crate::ops::pairs::simd::{
    arch::Arch,
    blocks::{blocks, with_constant},
    layout::{QUAD, Rows, Vectors},
    real::Real,
    slope::Slope,
};

/// Columns that are taken at once: a few coordinates of their vectors and of their sums lie side by
/// side in the first-level cache while all rows of a tile meet them.
const COLUMNS: usize = 64;

/// The weights are those of the tile, `[row][column]`.
pub(super) fn antisymmetric<T: Real>(
    tile: &LongTile,
    weights: &[T],
    vectors: &Vectors<T>,
    slope: impl Slope<T>,
    sums: &mut Rows<T>,
) {
    Arch::new().dispatch(Antisymmetric {
        tile,
        weights,
        vectors: &vectors.rows,
        sums: &mut sums.numbers,
        slope,
    });
}

struct Antisymmetric<'a, T, L> {
    tile: &'a LongTile,
    weights: &'a [T],
    vectors: &'a Rows<T>,
    sums: &'a mut [T],
    slope: L,
}

impl<T: Real, L: Slope<T>> WithSimd for Antisymmetric<'_, T, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for block in blocks(self.vectors.stride / T::width::<S>(), 2) {
            for first in self.tile.columns.clone().step_by(COLUMNS) {
                with_constant!(block.len(), N => self.block::<S, N>(simd, block.start, first));
            }
        }
    }
}

impl<T: Real, L: Slope<T>> Antisymmetric<'_, T, L> {
    /// `N` vectors of coordinates from vector `start` on, of the columns from `first` on.
    #[inline(always)]
    fn block<S: Simd, const N: usize>(&mut self, simd: S, start: usize, first: usize) {
        let LongTile { rows, columns } = self.tile;
        let width = columns.len();
        let line = self.vectors.stride / T::width::<S>();
        let vectors = T::lanes::<S>(&self.vectors.numbers);
        let sums = T::lanes_mut::<S>(self.sums);
        let zero = T::splat(simd, T::new(0.0));
        let columns_here = first..columns.end.min(first + COLUMNS);
        let mut of_columns = [[zero; N]; COLUMNS];
        let mut over_rows = [[zero; N]; COLUMNS];
        for (j, y) in columns_here.clone().zip(&mut of_columns) {
            y.copy_from_slice(&vectors[j * line + start..][..N]);
        }
        let weights = self.weights.chunks_exact(QUAD * width);
        for (row, weights) in rows.clone().step_by(QUAD).zip(weights) {
            let mut x = [[zero; N]; QUAD];
            for (q, x) in x.iter_mut().enumerate() {
                x.copy_from_slice(&vectors[(row + q) * line + start..][..N]);
            }
            let mut over_columns = [[zero; N]; QUAD];
            let weights = &weights[first - columns.start..];
            let pairs = of_columns.iter().zip(&mut over_rows);
            for (k, (y, over_rows)) in pairs.take(columns_here.len()).enumerate() {
                for q in 0..QUAD {
                    let w = T::splat(simd, weights[q * width + k]);
                    for v in 0..N {
                        let slope = self.slope.of(simd, T::sub(simd, y[v], x[q][v]));
                        over_rows[v] = T::mul_add(simd, w, slope, over_rows[v]);
                        over_columns[q][v] = T::mul_add(simd, w, slope, over_columns[q][v]);
                    }
                }
            }
            for (q, over_columns) in over_columns.iter().enumerate() {
                let sums = &mut sums[(row + q) * line + start..][..N];
                for (sum, &over_columns) in sums.iter_mut().zip(over_columns) {
                    *sum = T::sub(simd, *sum, over_columns);
                }
            }
        }
        for (j, over_rows) in columns_here.zip(&over_rows) {
            let sums = &mut sums[j * line + start..][..N];
            for (sum, &over_rows) in sums.iter_mut().zip(over_rows) {
                *sum = T::add(simd, *sum, over_rows);
            }
        }
    }
}
