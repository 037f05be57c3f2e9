use std::ops::Range;

use super::{
    Rows,
    packs::{Packs, pack},
    sums::Pass,
    tile::{DERIVATIVES, Tile, Totals},
    weigh::{PACKS, Weigh, Weights},
};
use crate::{
    ops::{
        non_finite::poison,
        pairs::simd::deal::{deal, threads},
        simd::{aligned::Aligned, arch::Arch, wide::Select},
    },
    parallel::for_each_chunk,
};

/// Coordinates that a pair costs as much as, for the decision about threads.
const COST: usize = 8;

/// A gradient of 0, `[pack][coordinate][derivative][lane]`; empty where none is wanted.
pub(super) fn zeros<T: Select, const GRADIENT: bool>(packs: &Packs<T>) -> Aligned<T> {
    let size = packs.count() * packs.d * DERIVATIVES * pack::<T>();
    Aligned::zeros(if GRADIENT { size } else { 0 })
}

impl Pass {
    /// The sums over the pairs `i < j` of `n` samples, and their gradient: the same result for the same
    /// number of threads.
    pub fn all_pairs<T: Select, const GRADIENT: bool>(
        self,
        packs: &Packs<T>,
        n: usize,
    ) -> (Totals, Aligned<T>) {
        let count = packs.count();
        let start = || {
            (
                Totals::default(),
                zeros::<T, GRADIENT>(packs),
                Weights::zeros(),
            )
        };
        let (totals, gradient, _) = deal(
            count,
            threads(n, COST * packs.d, count),
            start,
            |(totals, gradient, weights), row| {
                let rows = n - row * pack::<T>();
                for first in (row..count).step_by(PACKS) {
                    let columns = first..count.min(first + PACKS);
                    self.weigh((packs, row), (packs, columns.clone()), weights);
                    for index in columns.clone() {
                        let is_padded = index + 1 == count && !n.is_multiple_of(pack::<T>());
                        if index == row || is_padded {
                            let [i, j] = [row, index].map(|index| index * pack::<T>());
                            let counts = |r, lane| i + r < j + lane && j + lane < n;
                            weights.keep(pack::<T>(), index - first, counts);
                        }
                    }
                    let columns = (packs, columns);
                    let tile =
                        self.tile::<T, GRADIENT>((packs, row), rows, columns, weights, gradient);
                    *totals += tile;
                }
            },
            |(totals, gradient, _), other| {
                *totals += other.0;
                gradient.add(&other.1);
            },
        );
        (totals, gradient)
    }

    /// `h_ij` between samples and others, `[n, k]`; NaN for those that are not finite.
    pub fn matrix<T: Select>(self, rows: Rows<T>, columns: Rows<T>) -> Vec<T> {
        let (n, k) = (rows.count(), columns.count());
        let mut matrix = vec![T::new(0.0); n * k];
        if matrix.is_empty() {
            return matrix;
        }
        let lost = [rows, columns];
        let [rows, columns] = [self.packs(rows, 0..n), self.packs(columns, 0..k)];
        let size = pack::<T>() * k;
        for_each_chunk(&mut matrix, size, COST * rows.d, |(row, matrix)| {
            let weights = &mut Weights::zeros();
            for first in (0..columns.count()).step_by(PACKS) {
                let some = first..columns.count().min(first + PACKS);
                let some = (&columns, some);
                self.weigh((&rows, row), some.clone(), weights);
                self.tile::<T, false>((&rows, row), n, some, weights, &mut []);
                let kernels = weights.kernel.chunks_exact(PACKS * pack::<T>());
                for (matrix, h) in matrix.chunks_exact_mut(k).zip(kernels) {
                    let matrix = &mut matrix[first * pack::<T>()..];
                    let len = matrix.len().min(h.len());
                    matrix[..len].copy_from_slice(&h[..len]);
                }
            }
        });
        let [rows, columns] = lost.map(|samples| samples.non_finite());
        poison(&mut matrix, k, rows, columns);
        matrix
    }

    fn weigh<T: Select>(
        self,
        rows: (&Packs<T>, usize),
        columns: (&Packs<T>, Range<usize>),
        weights: &mut Weights<T>,
    ) {
        Arch::new().dispatch(Weigh {
            radial: self.radial,
            rows,
            columns,
            in_lanes: false,
            weights,
        });
    }

    /// Sums over at most `count` rows.
    fn tile<T: Select, const GRADIENT: bool>(
        self,
        rows: (&Packs<T>, usize),
        count: usize,
        columns: (&Packs<T>, Range<usize>),
        weights: &mut Weights<T>,
        sums: &mut [T],
    ) -> Totals {
        /// A tile for a number of coordinates.
        macro_rules! of {
            ($d:literal) => {
                Arch::new().dispatch(Tile::<T, $d, GRADIENT> {
                    gaussian: self.gaussian,
                    rows,
                    count: count.min(pack::<T>()),
                    columns,
                    weights,
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
