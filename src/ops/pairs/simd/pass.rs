//! One pass over all pairs `i < j`: the sum of the pair statistic, and its gradient. Inner products of long vectors
//! are products of matrices.

use pulp::{Simd, WithSimd};

use super::{
    aligned::Aligned,
    arch::Arch,
    layout::{PaddedVectors, strip},
    radial::{Radial, Separation},
    real::Real,
    samples::Sorted,
    similarity::{Similarity, similarities},
    sums::GradientSums,
    tile::StripTile,
    weigh::{Totals, Weigh},
};
use crate::parallel::{fold_tiles, threads_for};

/// Strips in a tile at most: what is computed of it stays in the second-level cache.
const STRIPS: usize = 8;

/// What the pairs are of: samples in the order of the pass.
pub(super) struct Pass<'a, T> {
    pub n: usize,
    pub radial: Radial,
    pub sorted: &'a Sorted<'a, T>,
    /// The points, unless exponents come from the residuals.
    pub points: Option<PaddedVectors<T>>,
    pub residuals: PaddedVectors<T>,
    /// The label of each sample, padded; without meaning where residuals are rows.
    pub labels: Vec<u32>,
    /// Whether the residuals are `e_y − p`.
    pub by_label: bool,
    /// `−½ |x|²` of each point, padded: what exponents start from.
    pub halves: Aligned<T>,
}

/// What a tile is computed in, `[strip][row][column]`.
struct Scratch<T> {
    first: Aligned<T>,
    second: Aligned<T>,
}

impl<T: Real> Pass<'_, T> {
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

    /// Of one strip without a gradient, which comes after all strips of a tile.
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
            similarities(Similarity::InnerProduct, rows, columns, None, second);
            let separation = self.radial.separation;
            if let Some(points) = &self.points {
                let (rows, columns) = of(points);
                let halves = (separation == Separation::Exponents).then_some(&*self.halves);
                similarities(separation.similarity(), rows, columns, halves, first);
            } else {
                Arch::new().dispatch(Exponents {
                    pass: self,
                    tile,
                    strip,
                    products: second,
                    exponents: first,
                });
            }
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

/// Writes exponents of rows with a strip, `[row][column]`, from the inner products of residuals, which saves those
/// of points.
///
/// With `δ = e_y − p` the points have `p_i·p_j = δ_i·δ_j + p_i[y_j] − δ_j[y_i]`. An exponent
/// needs digits after the point alone, which it has where the bandwidth is not small against a
/// residual; the inner product of residuals needs all of its digits, and has no such recovery from
/// that of points.
struct Exponents<'a, T> {
    pass: &'a Pass<'a, T>,
    tile: &'a StripTile,
    strip: usize,
    products: &'a [T],
    exponents: &'a mut [T],
}

impl<T: Real> WithSimd for Exponents<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Pass {
            sorted,
            residuals,
            labels,
            halves,
            ..
        } = self.pass;
        let width = strip::<T>();
        let columns = self.strip * width..(self.strip + 1) * width;
        let (labels_of_columns, halves_of_columns) = (&labels[columns.clone()], &halves[columns]);
        let lines = self.exponents.chunks_exact_mut(width);
        let lines = lines.zip(self.products.chunks_exact(width));
        for (i, (line, products)) in self.tile.rows::<T>().zip(lines) {
            if i >= self.pass.n {
                break; // padding, which does not count
            }
            let point = sorted.point(i);
            for (x, &y) in line.iter_mut().zip(labels_of_columns) {
                *x = point[y as usize];
            }
            let of_label = &residuals.strip(self.strip)[labels[i] as usize * width..][..width];
            let others = products.iter().zip(of_label).zip(halves_of_columns);
            for (x, ((&product, &other), &half)) in line.iter_mut().zip(others) {
                let inner = product.plus(x.minus(other));
                *x = inner.plus(halves[i].plus(half));
            }
        }
    }
}
