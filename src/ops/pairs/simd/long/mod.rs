//! The pass over all pairs of long vectors: inner products and weighted sums are products of matrices.

mod antisymmetric;
mod exponents;
mod panels;
mod sums;

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{
    aligned::Aligned,
    arch::Arch,
    deal::{deal, threads},
    layout::{Vectors, strip},
    product::{Matrix, add_product, product},
    radial::Radial,
    real::Real,
    similarity::{Coordinate, similarities},
    tile::mask_row,
    weigh::{Totals, Weigh},
};
pub(super) use exponents::Exponents;
use panels::Panels;
pub(super) use sums::{Long, LongSlopes, Sums};

/// Rows of a tile at most.
const ROWS: usize = 128;
/// Columns of a tile at most: what is computed for it stays in the second-level cache.
const COLUMNS: usize = 256;
/// Tiles of rows for each thread at least, if there are as many.
const A_THREAD: usize = 4;

/// A pass with a kernel and the coordinates' part of its separation.
pub(super) struct LongPass<'a, T, C> {
    pub n: usize,
    pub residuals: &'a Vectors<T>,
    pub radial: Radial,
    pub separations: Separations<'a, T, C>,
}

/// What separations come from.
pub(super) enum Separations<'a, T, C> {
    /// Points; in strips unless the coordinates' part is an inner product.
    Points(&'a Vectors<T>, C),
    /// The residuals.
    Exponents(Exponents<'a, T>),
}

/// Pairs of a tile, by multiples of a strip's width.
#[derive(Debug, Clone)]
struct LongTile {
    rows: Range<usize>,
    columns: Range<usize>,
}

/// The columns of inner products.
struct Columns<T> {
    residuals: Panels<T>,
    /// The points, if separations are inner products of them.
    points: Option<Panels<T>>,
}

/// What a tile is computed in, `[row][column]`.
struct Scratch<T> {
    first: Aligned<T>,
    second: Aligned<T>,
    mask: Aligned<T>,
}

impl<T: Real, C: Coordinate<T>> LongPass<'_, T, C> {
    /// Over all pairs, on as many threads as rayon has: the same result for the same number.
    pub fn run(&self, gradient: Option<&Long<T>>) -> (Totals, Option<Sums<T>>) {
        let padded = self.residuals.rows.count();
        let panels = |vectors: &Vectors<T>| Panels::new(&vectors.rows, vectors.d);
        let side_by_side = &Columns {
            residuals: panels(self.residuals),
            points: match &self.separations {
                Separations::Points(points, _) if C::PRODUCT => Some(panels(points)),
                _ => None,
            },
        };
        let shares = A_THREAD * rayon::current_num_threads();
        let height = padded.div_ceil(shares).next_multiple_of(strip::<T>());
        let height = height.min(ROWS);
        let tiles = padded.div_ceil(height);
        let zeros = || Aligned::zeros(height * COLUMNS);
        let start = || {
            let scratch = Scratch {
                first: zeros(),
                second: zeros(),
                mask: zeros(),
            };
            (Totals::default(), gradient.map(Long::zeros), scratch)
        };
        let step = |share: &mut (Totals, Option<Sums<T>>, _), tile: usize| {
            let (totals, sums, scratch) = share;
            let rows = tile * height..padded.min((tile + 1) * height);
            for panel in rows.start / COLUMNS..padded.div_ceil(COLUMNS) {
                let tile = &LongTile {
                    rows: rows.clone(),
                    columns: rows.start.max(panel * COLUMNS)..padded.min((panel + 1) * COLUMNS),
                };
                match (gradient, &mut *sums) {
                    (Some(gradient), Some(sums)) => {
                        *totals += self.weigh::<true>(tile, side_by_side, scratch);
                        let size = tile.rows.len() * tile.columns.len();
                        let weights = [&scratch.first[..size], &scratch.second[..size]];
                        gradient.add(tile, weights, sums);
                    }
                    _ => *totals += self.weigh::<false>(tile, side_by_side, scratch),
                }
            }
        };
        let merge = |share: &mut (Totals, Option<Sums<T>>, _),
                     other: (Totals, Option<Sums<T>>, _)| {
            share.0 += other.0;
            if let (Some(sums), Some(others)) = (&mut share.1, &other.1) {
                sums.add(others);
            }
        };
        let threads = threads(self.n, self.residuals.d, tiles);
        let (totals, sums, _) = deal(tiles, threads, start, step, merge);
        (totals, sums)
    }

    fn weigh<const GRADIENT: bool>(
        &self,
        tile: &LongTile,
        side_by_side: &Columns<T>,
        scratch: &mut Scratch<T>,
    ) -> Totals {
        let LongTile { rows, columns } = tile;
        let size = rows.len() * columns.len();
        let (first, second) = (&mut scratch.first[..size], &mut scratch.second[..size]);
        let (x, y) = (
            self.residuals.matrix(rows),
            side_by_side.residuals.matrix(columns),
        );
        product(second, columns.len(), x, y);
        self.separations(tile, side_by_side, second, first);
        let mask = &mut scratch.mask[..size];
        let is_masked = rows.end > columns.start || columns.end > self.n;
        if is_masked {
            for (i, mask) in rows.clone().zip(mask.chunks_exact_mut(columns.len())) {
                mask_row(self.n, i, columns.start, mask);
            }
        }
        Arch::new().dispatch(Weigh::<_, GRADIENT> {
            radial: self.radial,
            mask: is_masked.then_some(mask),
            first,
            second,
        })
    }

    /// Writes separations, from the inner products of residuals if these tell them.
    fn separations(
        &self,
        tile: &LongTile,
        side_by_side: &Columns<T>,
        products: &[T],
        separations: &mut [T],
    ) {
        let LongTile { rows, columns } = tile;
        let (points, coordinate) = match &self.separations {
            Separations::Points(points, coordinate) => (*points, *coordinate),
            Separations::Exponents(exponents) => {
                let (residuals, side_by_side) = (&self.residuals.rows, &side_by_side.residuals);
                return exponents.write(tile, residuals, side_by_side, products, separations);
            }
        };
        let Some(side_by_side) = &side_by_side.points else {
            return Arch::new().dispatch(ByCoordinate {
                tile,
                points,
                coordinate,
                separations,
            });
        };
        for (line, &of_row) in separations
            .chunks_exact_mut(columns.len())
            .zip(&points.own[rows.clone()])
        {
            for (x, &of_column) in line.iter_mut().zip(&points.own[columns.clone()]) {
                *x = of_row.plus(of_column);
            }
        }
        let (x, y) = (points.matrix(rows), side_by_side.matrix(columns));
        add_product(separations, columns.len(), x, y);
    }
}

impl<T: Real> Vectors<T> {
    fn matrix(&self, range: &Range<usize>) -> Matrix<'_, T> {
        let rows = self.rows.rows(range.clone());
        Matrix::new(rows, self.rows.stride, [range.len(), self.d])
    }
}

/// Separations that are no inner products.
struct ByCoordinate<'a, T, C> {
    tile: &'a LongTile,
    points: &'a Vectors<T>,
    coordinate: C,
    separations: &'a mut [T],
}

impl<T: Real, C: Coordinate<T>> WithSimd for ByCoordinate<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let LongTile { rows, columns } = self.tile;
        let width = strip::<T>();
        for column in columns.clone().step_by(width) {
            similarities(
                simd,
                self.coordinate,
                (self.points, rows.clone()),
                (self.points, column / width),
                &mut self.separations[column - columns.start..],
                columns.len(),
            );
        }
    }
}
