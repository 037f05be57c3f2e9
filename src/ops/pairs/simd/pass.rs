//! One pass over all pairs `i < j` of short vectors: the sum of the pair statistic, and its gradient.

use pulp::{Simd, WithSimd};

use super::{
    aligned::Aligned,
    arch::Arch,
    deal::{deal, threads},
    gradient::{Gradient, Weights},
    layout::{Vectors, strip},
    radial::Radial,
    real::Real,
    similarity::{Coordinate, Inner, similarities},
    tile::Tile,
    weigh::{Totals, Weigh},
};

/// Strips in a tile: so many stay in the cache.
const STRIPS: usize = 4;

/// A pass with a kernel and the coordinates' part of its separation.
pub(super) struct Pass<'a, T, C> {
    pub n: usize,
    pub points: &'a Vectors<T>,
    pub residuals: &'a Vectors<T>,
    pub radial: Radial,
    pub coordinate: C,
}

/// What a tile is computed in, `[strip][row][column]`, and the mask of a strip.
struct Scratch<T> {
    first: Aligned<T>,
    second: Aligned<T>,
    mask: Aligned<T>,
}

impl<T: Real, C: Coordinate<T>> Pass<'_, T, C> {
    /// Over all pairs, on as many threads as rayon has: the same result for the same number.
    pub fn run<G: Gradient<T>>(&self, gradient: impl Fn() -> G + Sync) -> (Totals, G) {
        let tiles = self.n.div_ceil(strip::<T>());
        let (totals, gradient, _) = deal(
            tiles,
            threads(self.n, self.points.d, tiles),
            || (Totals::default(), gradient(), self.scratch()),
            |(totals, gradient, scratch), tile| {
                *totals += self.rows(tile * strip::<T>(), scratch, gradient);
            },
            |(totals, gradient, _), other| {
                *totals += other.0;
                gradient.merge(other.1);
            },
        );
        (totals, gradient)
    }

    fn scratch(&self) -> Scratch<T> {
        let zeros = |strips: usize| Aligned::zeros(strips * strip::<T>() * strip::<T>());
        let strips = STRIPS.min(self.n.div_ceil(strip::<T>()));
        Scratch {
            first: zeros(strips),
            second: zeros(strips),
            mask: zeros(1),
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
        for first in strips.clone().step_by(STRIPS) {
            let tile = &Tile {
                n: self.n,
                row,
                strips: first..strips.end.min(first + STRIPS),
            };
            if G::WANTED {
                totals += self.weigh::<true>(tile, scratch);
                let slope = &scratch.first[..tile.len::<T>()];
                let residual = &scratch.second[..tile.len::<T>()];
                gradient.add(tile, Weights { slope, residual });
            } else {
                totals += self.weigh::<false>(tile, scratch)
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
        let size = strip::<T>() * strip::<T>();
        let (arch, mut totals) = (Arch::new(), Totals::default());
        let tiles = first
            .chunks_exact_mut(size)
            .zip(second.chunks_exact_mut(size));
        for (strip, (first, second)) in tile.strips.clone().zip(tiles) {
            let masked = tile.is_masked::<T>(strip);
            if masked {
                tile.mask(strip, mask);
            }
            arch.dispatch(Similarities {
                row: tile.row,
                strip,
                pass: self,
                first: &mut *first,
                second: &mut *second,
            });
            totals += arch.dispatch(Weigh::<_, GRADIENT> {
                radial: self.radial,
                mask: masked.then_some(&**mask),
                first,
                second,
            });
        }
        totals
    }
}

/// Writes separations and inner products of residuals of a strip.
struct Similarities<'a, T, C> {
    row: usize,
    strip: usize,
    pass: &'a Pass<'a, T, C>,
    first: &'a mut [T],
    second: &'a mut [T],
}

impl<T: Real, C: Coordinate<T>> WithSimd for Similarities<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { pass, row, .. } = self;
        let rows = row..row + strip::<T>();
        let (points, residuals) = (pass.points, pass.residuals);
        let (of_points, of_residuals) = ((points, rows.clone()), (residuals, rows));
        let columns = (points, self.strip);
        let (first, second) = (self.first, self.second);
        similarities(
            simd,
            pass.coordinate,
            of_points,
            columns,
            first,
            strip::<T>(),
        );
        let columns = (residuals, self.strip);
        similarities(simd, Inner, of_residuals, columns, second, strip::<T>());
    }
}
