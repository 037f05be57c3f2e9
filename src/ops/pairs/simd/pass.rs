//! One pass over all pairs `i < j`, in tiles: the sum of the pair statistic, and its gradient.

use std::ops::Range;

use super::{
    Real,
    arch::Arch,
    layout::{Aligned, PaddedVectors, strip},
    radial::{Radial, Totals, Weigh},
    similarity::{Similarity, similarities},
    sums::GradientSums,
};
use crate::parallel::{fold_tiles, threads_for};

/// Strips in a tile at most: what is computed of it stays in the second-level cache.
const STRIPS: usize = 8;

/// The data of all pairs.
pub(super) struct Pass<T> {
    pub radial: Radial,
    pub n: usize,
    pub points: PaddedVectors<T>,
    pub residuals: PaddedVectors<T>,
    /// Whether the residuals are `e_y − p`.
    pub by_label: bool,
}

/// The pairs `i < j < n` of a strip's worth of rows `i` and the columns `j` of some strips.
pub(super) struct Tile {
    n: usize,
    /// The first row, a multiple of a strip's.
    pub row: usize,
    pub strips: Range<usize>,
}

impl<T: Real> Pass<T> {
    /// Over all pairs, on the threads of rayon. With the gradient, if it is wanted. Both are the same for any number of
    /// threads.
    pub fn run(&self, gradient: bool) -> (Totals, Option<GradientSums<'_, T>>) {
        let strips = self.n.div_ceil(strip::<T>());
        // the gradient comes after all strips of a tile
        let at_once = if gradient { STRIPS.min(strips) } else { 1 };
        let (totals, sums, _) = fold_tiles(
            strips,
            threads_for(self.n, self.residuals.d, strips),
            || {
                let sums = gradient.then(|| GradientSums::zeros(self));
                let scratch = [(); 2].map(|()| Aligned::zeros(at_once * Tile::size::<T>()));
                (Totals::default(), sums, scratch)
            },
            |(totals, sums, scratch), rows| {
                for first in (rows..strips).step_by(STRIPS) {
                    let tile = &Tile {
                        n: self.n,
                        row: rows * strip::<T>(),
                        strips: first..strips.min(first + STRIPS),
                    };
                    *totals += self.weigh(tile, scratch, gradient);
                    if let Some(sums) = sums {
                        let size = tile.strips.len() * Tile::size::<T>();
                        let [slopes, weights] = scratch.each_ref().map(|pairs| &pairs[..size]);
                        sums.add(tile, slopes, weights);
                    }
                }
            },
            |(totals, sums, _), (others, other_sums, _)| {
                *totals += others;
                if let (Some(sums), Some(others)) = (sums, &other_sums) {
                    sums.merge(others);
                }
            },
        );
        (totals, sums)
    }

    /// Computes the pairs of a tile in the scratch, `[strip][row][column]`; without a gradient one strip after the other.
    fn weigh(&self, tile: &Tile, scratch: &mut [Aligned<T>; 2], gradient: bool) -> Totals {
        let (size, mut totals) = (Tile::size::<T>(), Totals::default());
        for (k, strip) in tile.strips.clone().enumerate() {
            let place = if gradient { k * size } else { 0 };
            let [first, second] = (scratch.each_mut()).map(|pairs| &mut pairs[place..place + size]);
            let of = |vectors| ((vectors, tile.rows::<T>()), (vectors, strip));
            let (rows, columns) = of(&self.residuals);
            similarities(Similarity::InnerProduct, rows, columns, second);
            let (rows, columns) = of(&self.points);
            similarities(self.radial.sum.into(), rows, columns, first);
            tile.clear_rest(strip, second); // then slopes are 0 too
            totals += Arch::new().dispatch(Weigh {
                radial: self.radial,
                gradient,
                first,
                second: &mut *second,
            });
            tile.clear_rest(strip, second);
        }
        totals
    }
}

impl Tile {
    pub fn rows<T>(&self) -> Range<usize> {
        self.row..self.row + strip::<T>()
    }

    /// Pairs of the rows and a strip.
    const fn size<T>() -> usize {
        strip::<T>() * strip::<T>()
    }

    /// Writes 0 in the places, `[row][column]`, of the pairs of a strip that do not count.
    fn clear_rest<T: Real>(&self, index: usize, numbers: &mut [T]) {
        let width = strip::<T>();
        let first = index * width;
        let end = self.n.saturating_sub(first).min(width);
        if self.rows::<T>().end <= first.min(self.n) && end == width {
            return;
        }
        for (i, numbers) in self.rows::<T>().zip(numbers.chunks_exact_mut(width)) {
            let start = if i < self.n { i + 1 } else { usize::MAX };
            let start = start.saturating_sub(first).min(end);
            numbers[..start].fill(T::new(0.0));
            numbers[end..].fill(T::new(0.0));
        }
    }
}
