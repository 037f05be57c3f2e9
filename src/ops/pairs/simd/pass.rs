//! One pass over all pairs `i < j`: the sum of the pair statistic, and its gradient.

use pulp::{Simd, WithSimd};

use super::{
    aligned::Aligned,
    arch::Arch,
    deal::{deal, threads},
    layout::{Vectors, strip},
    radial::{Radial, Separation},
    real::Real,
    similarity::{Inner, L1, SquaredEuclidean, similarities},
    sums::Sums,
    tile::Tile,
    weigh::{Totals, Weigh},
};

/// Strips in a tile at most: what is computed of it stays in the second-level cache.
const STRIPS: usize = 32;

/// What the pairs are of: samples in the order of the pass.
pub(super) struct Pass<T> {
    pub n: usize,
    pub radial: Radial,
    /// In strips unless exponents come from the residuals.
    pub points: Vectors<T>,
    pub residuals: Vectors<T>,
    /// The label of each sample, padded; without meaning where residuals are rows.
    pub labels: Vec<u32>,
    /// Whether the residuals are `e_y − p`.
    pub by_label: bool,
    /// `−½ |x|²` of each point, padded: what exponents start from.
    pub halves: Aligned<T>,
    pub exponents_from_residuals: bool,
}

/// What a tile is computed in, `[strip][row][column]`, and the mask of a strip.
struct Scratch<T> {
    first: Aligned<T>,
    second: Aligned<T>,
    mask: Aligned<T>,
}

impl<T: Real> Pass<T> {
    /// Over all pairs, on as many threads as rayon has: the same result for the same number. With the
    /// gradient, if it is wanted.
    pub fn run(&self, gradient: bool) -> (Totals, Option<Sums<'_, T>>) {
        let tiles = self.n.div_ceil(strip::<T>());
        let (totals, sums, _) = deal(
            tiles,
            threads(self.n, self.residuals.d, tiles),
            || {
                let sums = gradient.then(|| Sums::zeros(self));
                (Totals::default(), sums, self.scratch(gradient))
            },
            |(totals, sums, scratch), tile| {
                *totals += self.rows(tile * strip::<T>(), scratch, sums.as_mut());
            },
            |(totals, sums, _), other| {
                *totals += other.0;
                if let (Some(sums), Some(others)) = (sums, &other.1) {
                    sums.merge(others);
                }
            },
        );
        (totals, sums)
    }

    /// Of one strip without a gradient, which comes after all strips of a tile.
    fn scratch(&self, gradient: bool) -> Scratch<T> {
        let zeros = |strips: usize| Aligned::zeros(strips * strip::<T>() * strip::<T>());
        let most = if gradient { STRIPS } else { 1 };
        let strips = most.min(self.n.div_ceil(strip::<T>()));
        Scratch {
            first: zeros(strips),
            second: zeros(strips),
            mask: zeros(1),
        }
    }

    /// The pairs of the rows of a tile with all columns after them.
    fn rows(&self, row: usize, scratch: &mut Scratch<T>, mut sums: Option<&mut Sums<T>>) -> Totals {
        let mut totals = Totals::default();
        let strips = row / strip::<T>()..self.n.div_ceil(strip::<T>());
        for first in strips.clone().step_by(STRIPS) {
            let tile = &Tile {
                n: self.n,
                row,
                strips: first..strips.end.min(first + STRIPS),
            };
            totals += self.weigh(tile, scratch, sums.is_some());
            if let Some(sums) = &mut sums {
                let size = tile.len::<T>();
                sums.add(tile, &scratch.first[..size], &scratch.second[..size]);
            }
        }
        totals
    }

    fn weigh(&self, tile: &Tile, scratch: &mut Scratch<T>, gradient: bool) -> Totals {
        let size = strip::<T>() * strip::<T>();
        let (arch, mut totals) = (Arch::new(), Totals::default());
        for (k, strip) in tile.strips.clone().enumerate() {
            let place = if gradient { k * size } else { 0 };
            let first = &mut scratch.first[place..place + size];
            let second = &mut scratch.second[place..place + size];
            let masked = tile.is_masked::<T>(strip);
            if masked {
                tile.mask(strip, &mut scratch.mask);
            }
            arch.dispatch(Similarities {
                row: tile.row,
                strip,
                pass: self,
                first: &mut *first,
                second: &mut *second,
            });
            totals += arch.dispatch(Weigh {
                radial: self.radial,
                gradient,
                mask: masked.then_some(&*scratch.mask),
                first,
                second,
            });
        }
        totals
    }
}

/// Writes separations and inner products of residuals of a strip, `[row][column]`.
struct Similarities<'a, T> {
    row: usize,
    strip: usize,
    pass: &'a Pass<T>,
    first: &'a mut [T],
    second: &'a mut [T],
}

impl<'a, T: Real> WithSimd for Similarities<'a, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let pass = self.pass;
        let rows = self.row..self.row + strip::<T>();
        let of = |vectors: &'a Vectors<T>| ((vectors, rows.clone()), (vectors, self.strip));
        let (rows, columns) = of(&pass.residuals);
        similarities(simd, Inner, rows, columns, None, self.second);
        if pass.exponents_from_residuals {
            return self.exponents();
        }
        let (rows, columns) = of(&pass.points);
        match pass.radial.separation {
            Separation::Magnitudes => similarities(simd, L1, rows, columns, None, self.first),
            Separation::Squares => {
                similarities(simd, SquaredEuclidean, rows, columns, None, self.first);
            }
            Separation::Exponents => {
                let halves = Some(&*pass.halves);
                similarities(simd, Inner, rows, columns, halves, self.first);
            }
        }
    }
}

impl<T: Real> Similarities<'_, T> {
    /// Exponents from the inner products of residuals, which saves those of points.
    ///
    /// With `δ = e_y − p` the points have `p_i·p_j = δ_i·δ_j + 1[y_i = y_j] − δ_i[y_j] − δ_j[y_i]`. An exponent
    /// needs digits after the point alone, which it has where the bandwidth is not small against a
    /// residual; the inner product of residuals needs all of its digits, and has no such recovery from
    /// that of points.
    #[inline(always)]
    fn exponents(&mut self) {
        let Pass {
            residuals,
            labels,
            halves,
            ..
        } = self.pass;
        let width = strip::<T>();
        let columns = self.strip * width..(self.strip + 1) * width;
        let lines = (self.first.chunks_exact_mut(width)).zip(self.second.chunks_exact(width));
        for (i, (line, products)) in (self.row..).zip(lines) {
            let (label, residual) = (labels[i], residuals.rows.row(i));
            for (x, &y) in line.iter_mut().zip(&labels[columns.clone()]) {
                let same = T::new(f64::from(u8::from(y == label)));
                *x = same.minus(residual[y as usize]);
            }
            let of_label = &residuals.strip(self.strip)[label as usize * width..][..width];
            let others = products.iter().zip(of_label).zip(&halves[columns.clone()]);
            for (x, ((&product, &other), &half)) in line.iter_mut().zip(others) {
                let inner = product.plus(x.minus(other));
                *x = inner.plus(halves[i].plus(half));
            }
        }
    }
}
