//! Sums over pairs, their gradient, and matrices.

use std::ops::Range;

use super::{
    NormalRows,
    pair::Gaussian,
    tile::{DERIVATIVES, NormalRadial, NormalTile, NormalWeigh, PACKS, Packs, TilePairs, pack},
};
use crate::{
    ops::{
        non_finite::{poison, poison_blocks},
        simd::{aligned::Aligned, arch::Arch, real::Real},
    },
    parallel::{fold_tiles, for_each_chunk, threads_for},
};

/// Coordinates that a pair costs as much as, for the decision about threads.
const COST: usize = 8;

/// Sums over the pairs `i < j` within blocks.
pub(super) struct NormalPairSums<T> {
    /// `Σ h_ij` of each block.
    pub values: Vec<f64>,
    /// `ν ∂/∂ν Σ h_ij` over all blocks; 0 without a gradient.
    pub stretch: f64,
    /// The gradient of `Σ h_ij` over all blocks with respect to locations and scales, 0 for samples in no
    /// block; empty if it is not wanted.
    pub gradient: [Vec<T>; DERIVATIVES],
}

/// A kernel on predictions and one on targets, in units of the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct NormalPass {
    pub gaussian: Gaussian,
    pub radial: NormalRadial,
}

/// What a thread has summed.
struct Share<T> {
    values: Vec<f64>,
    stretch: f64,
    gradient: Aligned<T>,
    pairs: TilePairs<T>,
}

impl NormalPass {
    /// Over the first `⌊n/size⌋` blocks of consecutive samples, with half of the diagonal if wanted: the same
    /// result for the same number of threads. A sample that is not finite makes the sum of its block and the
    /// gradient of that NaN.
    pub fn pair_sums<T: Real>(
        self,
        rows: NormalRows<T>,
        size: usize,
        with_diagonal: bool,
        gradient: bool,
    ) -> NormalPairSums<T> {
        let mut sums = if gradient {
            self.sums::<T, true>(rows, size, with_diagonal)
        } else {
            self.sums::<T, false>(rows, size, with_diagonal)
        };
        let gradients = sums.gradient.each_mut().map(|g| (&mut g[..], rows.d));
        let totals = (&mut sums.values[..], &mut sums.stretch);
        poison_blocks(rows.non_finite(), size, totals, gradients);
        sums
    }

    fn sums<T: Real, const GRADIENT: bool>(
        self,
        rows: NormalRows<T>,
        size: usize,
        with_diagonal: bool,
    ) -> NormalPairSums<T> {
        let (blocks, lanes) = (rows.count() / size, pack::<T>());
        let n = blocks * size;
        let packs = Packs::new(rows, n, self.gaussian);
        let numbers = packs.count() * packs.d * DERIVATIVES * lanes;
        let start = || Share {
            values: vec![0.0; blocks],
            stretch: 0.0,
            gradient: Aligned::zeros(if GRADIENT { numbers } else { 0 }),
            pairs: TilePairs::zeros(),
        };
        let step = |share: &mut Share<T>, row: usize| {
            let Share {
                pairs, gradient, ..
            } = share;
            let count = lanes.min(n - row * lanes);
            // up to the last sample of the block of the last row
            let last = (row * lanes + count - 1) / size;
            let end = ((last + 1) * size).div_ceil(lanes);
            let is_one_block = row * lanes / size == last;
            for first in (row..end).step_by(PACKS) {
                let columns = first..end.min(first + PACKS);
                self.weigh((&packs, row), (&packs, columns.clone()), pairs);
                for index in columns.clone() {
                    let ends_within = (last + 1) * size < (index + 1) * lanes;
                    if index > row && is_one_block && !ends_within {
                        continue; // all pairs count
                    }
                    for r in 0..count {
                        let i = row * lanes + r;
                        let end = (i / size + 1) * size; // of its block
                        let lane = |j: usize| j.saturating_sub(index * lanes).min(lanes);
                        let first_lane = lane(if with_diagonal { i } else { i + 1 });
                        pairs.keep(r, index - first, first_lane..lane(end));
                    }
                    if index == row && with_diagonal {
                        pairs.halve_diagonal(index - first);
                    }
                }
                let columns = (&packs, columns);
                let rows = ((&packs, row), count);
                share.stretch += self.tile::<T, GRADIENT>(rows, columns, pairs, gradient);
                for (r, value) in pairs.values.iter().enumerate().take(count) {
                    share.values[(row * lanes + r) / size] += value;
                }
            }
        };
        let merge = |all: &mut Share<T>, other: Share<T>| {
            all.stretch += other.stretch;
            all.gradient.add(&other.gradient);
            for (value, other) in all.values.iter_mut().zip(other.values) {
                *value += other;
            }
        };
        let side = (n * size).isqrt(); // of as many pairs
        let threads = threads_for(side, COST * packs.d, packs.count());
        let share = fold_tiles(packs.count(), threads, start, step, merge);
        let gradient = std::array::from_fn(|k| {
            let mut gradient = vec![T::new(0.0); if GRADIENT { rows.locations.len() } else { 0 }];
            for (at, g) in gradient.iter_mut().enumerate().take(n * rows.d) {
                let (row, c) = (at / rows.d, at % rows.d);
                let place = (row / lanes * rows.d + c) * DERIVATIVES + k;
                *g = share.gradient[place * lanes + row % lanes].times(rows.unit);
            }
            gradient
        });
        NormalPairSums {
            values: share.values,
            stretch: share.stretch,
            gradient,
        }
    }

    /// `h_ij` between samples and others, `[n, k]`; NaN for those that are not finite.
    pub fn matrix<T: Real>(self, rows: NormalRows<T>, columns: NormalRows<T>) -> Vec<T> {
        let (n, k, lanes) = (rows.count(), columns.count(), pack::<T>());
        let mut matrix = vec![T::new(0.0); n * k];
        if matrix.is_empty() {
            return matrix;
        }
        let lost = [rows, columns];
        let [rows, columns] =
            [(rows, n), (columns, k)].map(|(x, n)| Packs::new(x, n, self.gaussian));
        for_each_chunk(&mut matrix, lanes * k, COST * rows.d, |(row, matrix)| {
            let pairs = &mut TilePairs::zeros();
            for first in (0..columns.count()).step_by(PACKS) {
                let some = (&columns, first..columns.count().min(first + PACKS));
                self.weigh((&rows, row), some.clone(), pairs);
                let count = lanes.min(n - row * lanes);
                self.tile::<T, false>(((&rows, row), count), some, pairs, &mut []);
                let kernels = pairs.kernel.chunks_exact(PACKS * lanes);
                for (matrix, h) in matrix.chunks_exact_mut(k).zip(kernels) {
                    let matrix = &mut matrix[first * lanes..];
                    let len = matrix.len().min(h.len());
                    matrix[..len].copy_from_slice(&h[..len]);
                }
            }
        });
        let [rows, columns] = lost.map(|samples| samples.non_finite());
        poison(&mut matrix, k, rows, columns);
        matrix
    }

    /// `h_ii`; NaN for samples that are not finite.
    pub fn diagonal<T: Real>(self, rows: NormalRows<T>) -> Vec<T> {
        let (n, lanes) = (rows.count(), pack::<T>());
        let mut diagonal = vec![T::new(0.0); n];
        if n == 0 {
            return diagonal;
        }
        let packs = Packs::new(rows, n, self.gaussian);
        let cost = COST * packs.d * lanes;
        for_each_chunk(&mut diagonal, lanes, cost, |(index, diagonal)| {
            let pairs = &mut TilePairs::zeros();
            let own = (&packs, index..index + 1);
            self.weigh((&packs, index), own.clone(), pairs);
            let rows = ((&packs, index), diagonal.len());
            self.tile::<T, false>(rows, own, pairs, &mut []);
            for (r, h) in diagonal.iter_mut().enumerate() {
                *h = pairs.kernel[r * PACKS * lanes + r];
            }
        });
        poison(&mut diagonal, 1, rows.non_finite(), std::iter::empty());
        diagonal
    }

    fn weigh<T: Real>(
        self,
        rows: (&Packs<T>, usize),
        columns: (&Packs<T>, Range<usize>),
        pairs: &mut TilePairs<T>,
    ) {
        Arch::new().dispatch(NormalWeigh {
            radial: self.radial,
            rows,
            columns,
            pairs,
        });
    }

    /// Sums over so many rows.
    fn tile<T: Real, const GRADIENT: bool>(
        self,
        (rows, count): ((&Packs<T>, usize), usize),
        columns: (&Packs<T>, Range<usize>),
        pairs: &mut TilePairs<T>,
        sums: &mut [T],
    ) -> f64 {
        /// A tile for a number of coordinates.
        macro_rules! of {
            ($d:literal) => {
                Arch::new().dispatch(NormalTile::<T, $d, GRADIENT> {
                    gaussian: self.gaussian,
                    rows,
                    count,
                    columns,
                    pairs,
                    sums,
                })
            };
        }
        match rows.0.d {
            1 => of!(1),
            _ => of!(0),
        }
    }
}
