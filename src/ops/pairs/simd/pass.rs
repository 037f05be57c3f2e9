//! One pass over all pairs `i < j`, in tiles: the sum of the pair statistic, and its gradient.

use super::{
    aligned::Aligned,
    arch::Arch,
    layout::{PaddedVectors, strip},
    radial::Radial,
    real::Real,
    similarity::{Similarity, similarities},
    sums::GradientSums,
    tile::StripTile,
    weigh::{Totals, Weigh},
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

/// Memory in which a tile is computed, `[strip][row][column]`.
struct Scratch<T> {
    first: Aligned<T>,
    second: Aligned<T>,
}

impl<T: Real> Pass<T> {
    /// Over all pairs, on the threads of rayon. With the gradient, if it is wanted. Both are the same for any number of
    /// threads.
    pub fn run(&self, gradient: bool) -> (Totals, Option<GradientSums<'_, T>>) {
        let tiles = self.n.div_ceil(strip::<T>());
        let (mut totals, sums, _) = fold_tiles(
            tiles,
            threads_for(self.n, self.residuals.d, tiles),
            || {
                let sums = gradient.then(|| GradientSums::zeros(self));
                (Vec::new(), sums, self.scratch(gradient))
            },
            |(totals, sums, scratch), tile| {
                let of_tile = self.rows(tile * strip::<T>(), scratch, sums.as_mut());
                totals.push((tile, of_tile));
            },
            |(totals, sums, _), other| {
                totals.extend(other.0);
                if let (Some(sums), Some(others)) = (sums, &other.1) {
                    sums.merge(others);
                }
            },
        );
        totals.sort_unstable_by_key(|(tile, _)| *tile);
        let mut all = Totals::default();
        totals.into_iter().for_each(|(_, of_tile)| all += of_tile);
        (all, sums)
    }

    /// Returns memory for a tile: all of its strips where the gradient is asked for, which comes after them, else one.
    fn scratch(&self, gradient: bool) -> Scratch<T> {
        let zeros = |strips: usize| Aligned::zeros(strips * StripTile::size::<T>());
        let most = if gradient { STRIPS } else { 1 };
        let strips = most.min(self.n.div_ceil(strip::<T>()));
        Scratch {
            first: zeros(strips),
            second: zeros(strips),
        }
    }

    /// The pairs of the rows of a tile with all columns after them.
    fn rows(
        &self,
        row: usize,
        scratch: &mut Scratch<T>,
        mut sums: Option<&mut GradientSums<T>>,
    ) -> Totals {
        let mut totals = Totals::default();
        let strips = row / strip::<T>()..self.n.div_ceil(strip::<T>());
        for first in strips.clone().step_by(STRIPS) {
            let tile = &StripTile {
                n: self.n,
                row,
                strips: first..strips.end.min(first + STRIPS),
            };
            totals += self.weigh(tile, scratch, sums.is_some());
            if let Some(sums) = &mut sums {
                let size = tile.strips.len() * StripTile::size::<T>();
                sums.add(tile, &scratch.first[..size], &scratch.second[..size]);
            }
        }
        totals
    }

    fn weigh(&self, tile: &StripTile, scratch: &mut Scratch<T>, gradient: bool) -> Totals {
        let (size, mut totals) = (StripTile::size::<T>(), Totals::default());
        for (k, strip) in tile.strips.clone().enumerate() {
            let place = if gradient { k * size } else { 0 };
            let first = &mut scratch.first[place..place + size];
            let second = &mut scratch.second[place..place + size];
            let of = |vectors| ((vectors, tile.rows::<T>()), (vectors, strip));
            let (rows, columns) = of(&self.residuals);
            similarities(Similarity::InnerProduct, rows, columns, second);
            let (rows, columns) = of(&self.points);
            similarities(self.radial.sum.into(), rows, columns, first);
            tile.fill_rest(strip, T::new(0.0), second); // then slopes are 0 too
            totals += Arch::new().dispatch(Weigh {
                radial: self.radial,
                gradient,
                first,
                second: &mut *second,
            });
            tile.fill_rest(strip, T::new(0.0), second);
        }
        totals
    }
}
