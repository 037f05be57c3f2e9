//! One pass over all pairs `i < j` of samples: the sum of the pair statistic, and its gradient.

use pulp::Arch;
use rayon::prelude::*;

use super::{
    aligned::Aligned,
    gradient::{Gradient, Weights},
    layout::{LONG, Vectors, strip},
    radial::Radial,
    real::Real,
    similarity::Coordinate,
    tile::Tile,
    weigh::{Totals, Weigh},
};

/// Below so many coordinates of pairs a pass is done by the calling thread.
const WORTH_THREADS: usize = 1 << 18;

/// A pass with a kernel and the coordinates' part of its separation.
pub(super) struct Pass<'a, T, R, C> {
    pub n: usize,
    pub points: &'a Vectors<T>,
    pub residuals: &'a Vectors<T>,
    pub radial: R,
    pub coordinate: C,
}

/// What a tile is computed in, `[row][column]`.
struct Scratch<T> {
    first: Aligned<T>,
    second: Aligned<T>,
    mask: Aligned<T>,
}

impl<T: Real, R: Radial<T>, C: Coordinate<T>> Pass<'_, T, R, C> {
    /// Over all pairs, on as many threads as rayon has: the same result for the same number.
    pub fn run<G: Gradient<T>>(&self, gradient: impl Fn() -> G + Sync) -> (Totals, G) {
        let tiles = self.n.div_ceil(strip::<T>());
        let threads = match self.n * self.n * self.points.d < WORTH_THREADS {
            true => 1,
            false => rayon::current_num_threads().min(tiles),
        };
        let share = |thread: usize| {
            let (mut totals, mut gradient) = (Totals::default(), gradient());
            let mut scratch = self.scratch();
            // the first tiles have the most columns: deal them out forwards and backwards in turn
            for round in 0..tiles.div_ceil(threads) {
                let tile = match round % 2 {
                    0 => round * threads + thread,
                    _ => (round + 1) * threads - 1 - thread,
                };
                if tile < tiles {
                    totals += self.rows(tile * strip::<T>(), &mut scratch, &mut gradient);
                }
            }
            (totals, gradient)
        };
        match threads {
            1 => share(0),
            _ => {
                let shares: Vec<_> = (0..threads).into_par_iter().map(share).collect();
                let merge = |(mut totals, mut gradient): (Totals, G), other: (Totals, G)| {
                    totals += other.0;
                    gradient.merge(other.1);
                    (totals, gradient)
                };
                shares
                    .into_iter()
                    .reduce(merge)
                    .expect("at least one share")
            }
        }
    }

    /// Strips in a tile: many of short vectors, few of long ones, so that they stay in the cache.
    fn strips(&self) -> usize {
        if self.points.d > LONG { 1 } else { 4 }
    }

    fn scratch(&self) -> Scratch<T> {
        let zeros = || Aligned::zeros(self.strips() * strip::<T>() * strip::<T>());
        Scratch {
            first: zeros(),
            second: zeros(),
            mask: zeros(),
        }
    }

    /// The pairs of the rows of a tile with all columns after them.
    fn rows<G: Gradient<T>>(
        &self,
        row: usize,
        scratch: &mut Scratch<T>,
        gradient: &mut G,
    ) -> Totals {
        let mut totals = Totals::default();
        let strips = row / strip::<T>()..self.n.div_ceil(strip::<T>());
        for first in strips.clone().step_by(self.strips()) {
            let tile = &Tile {
                n: self.n,
                row,
                strips: first..strips.end.min(first + self.strips()),
            };
            match G::WANTED {
                false => totals += self.weigh::<false>(tile, scratch),
                true => {
                    totals += self.weigh::<true>(tile, scratch);
                    let slope = &scratch.first[..tile.len::<T>()];
                    let residual = &scratch.second[..tile.len::<T>()];
                    gradient.add(tile, Weights { slope, residual });
                }
            }
        }
        gradient.finish_rows(row);
        totals
    }

    fn weigh<const GRADIENT: bool>(&self, tile: &Tile, scratch: &mut Scratch<T>) -> Totals {
        let Scratch {
            first,
            second,
            mask,
        } = scratch;
        let masked = tile.is_masked::<T>();
        if masked {
            tile.mask(&mut mask[..tile.len::<T>()]);
        }
        Arch::new().dispatch(Weigh::<_, _, _, GRADIENT> {
            tile,
            points: self.points,
            residuals: self.residuals,
            radial: self.radial,
            coordinate: self.coordinate,
            mask: masked.then_some(&**mask),
            first,
            second,
        })
    }
}
