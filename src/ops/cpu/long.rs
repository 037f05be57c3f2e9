//! The gradient of long vectors: the lanes of the processor are coordinates.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::{
    aligned::Aligned,
    blocks::{blocks, with_constant},
    gradient::{Gradient, Weights},
    layout::{QUAD, Rows, strip},
    real::Real,
    slope::{Difference, Sign, Slope, Slopes},
    tile::Tile,
};

/// Vectors of coordinates that are taken at once.
const VECTORS: usize = 4;

pub(super) struct Long<'a, T> {
    slopes: Slopes,
    labels: &'a [u32],
    points: &'a Rows<T>,
    residuals: &'a Rows<T>,
    /// The gradient.
    sums: Rows<T>,
    /// `Σ_j s_ij`, which multiplies the point.
    slope_sums: Aligned<T>,
}

impl<'a, T: Real> Long<'a, T> {
    /// `points` are scaled as for [`Sign`] for [`Slopes::Signs`]; `labels` are padded.
    pub fn new(
        slopes: Slopes,
        labels: &'a [u32],
        points: &'a Rows<T>,
        residuals: &'a Rows<T>,
    ) -> Self {
        Self {
            slopes,
            labels,
            points,
            residuals,
            sums: Rows {
                stride: residuals.stride,
                numbers: Aligned::zeros(residuals.numbers.len()),
            },
            slope_sums: Aligned::zeros(labels.len()),
        }
    }

    fn antisymmetric(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        weights: &[T],
        slope: impl Slope<T>,
    ) {
        Arch::new().dispatch(Antisymmetric {
            rows,
            columns,
            weights,
            vectors: self.points,
            sums: &mut self.sums.numbers,
            slope,
        });
    }

    /// See [`scatter`](super::scatter): here with so many classes that two samples rarely share one.
    fn scatter(&mut self, rows: Range<usize>, columns: Range<usize>, slope: &[T]) {
        let stride = self.sums.stride;
        let minus = |a: &mut T, b: T| *a = a.plus(b.times(T::new(-1.0)));
        for (i, slope) in rows.zip(slope.chunks_exact(strip::<T>())) {
            let label = self.labels[i] as usize;
            let mut total = T::new(0.0);
            for (j, &s) in columns.clone().zip(slope) {
                total = total.plus(s);
                self.slope_sums[j] = self.slope_sums[j].plus(s);
                minus(&mut self.sums.numbers[j * stride + label], s);
                minus(
                    &mut self.sums.numbers[i * stride + self.labels[j] as usize],
                    s,
                );
            }
            self.slope_sums[i] = self.slope_sums[i].plus(total);
        }
    }
}

impl<T: Real> Gradient<T> for Long<'_, T> {
    const WANTED: bool = true;

    fn add(&mut self, tile: &Tile, weights: Weights<T>) {
        let width = strip::<T>();
        let (slopes, residuals) = (weights.slope, weights.residual);
        let strips = slopes
            .chunks_exact(width * width)
            .zip(residuals.chunks_exact(width * width));
        for (strip, (slope, residual)) in tile.strips.clone().zip(strips) {
            let rows = tile.row..tile.row + width;
            let columns = strip * width..(strip + 1) * width;
            let (i, j) = (rows.clone(), columns.clone());
            match self.slopes {
                Slopes::Merged => self.scatter(i, j, slope),
                Slopes::Differences => self.antisymmetric(i, j, slope, Difference),
                Slopes::Signs => self.antisymmetric(i, j, slope, Sign),
            }
            for (targets, sources, strides) in [
                (rows.clone(), columns.clone(), [width, 1]),
                (columns, rows, [1, width]),
            ] {
                let stride = self.residuals.stride;
                Arch::new().dispatch(WeightedSums {
                    weights: residual,
                    strides,
                    vectors: &self.residuals.numbers[sources.start * stride..sources.end * stride],
                    sums: &mut self.sums.numbers[targets.start * stride..targets.end * stride],
                    stride,
                });
            }
        }
    }

    fn finish_rows(&mut self, _: usize) {}

    fn merge(&mut self, other: Self) {
        self.sums.numbers.add(&other.sums.numbers);
        self.slope_sums.add(&other.slope_sums);
    }

    fn write(&self, i: usize, point: &[T], gradient: &mut [T]) {
        let sums = &self.sums.numbers[i * self.sums.stride..];
        let slope = self.slope_sums[i];
        for ((&sum, gradient), &point) in sums.iter().zip(gradient).zip(point) {
            *gradient = sum.plus(slope.times(point));
        }
    }
}

/// `sums[a] += Σ_b w_ab vectors[b]`, a product of matrices.
struct WeightedSums<'a, T> {
    /// `w_ab` at `a·strides[0] + b·strides[1]`.
    weights: &'a [T],
    strides: [usize; 2],
    vectors: &'a [T],
    sums: &'a mut [T],
    stride: usize,
}

impl<T: Real> WithSimd for WeightedSums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for block in blocks(self.stride / T::width::<S>(), VECTORS) {
            with_constant!(block.len(), N => self.block::<S, N>(simd, block.start));
        }
    }
}

impl<T: Real> WeightedSums<'_, T> {
    #[inline(always)]
    fn block<S: Simd, const N: usize>(&mut self, simd: S, start: usize) {
        let line = self.stride / T::width::<S>();
        let vectors = T::lanes::<S>(self.vectors).chunks_exact(line);
        let sums = T::lanes_mut::<S>(self.sums).chunks_exact_mut(QUAD * line);
        let [to, from] = self.strides;
        for (quad, sums) in sums.enumerate() {
            let weights = &self.weights[quad * QUAD * to..];
            let mut acc = [[T::splat(simd, T::new(0.0)); N]; QUAD];
            for (b, y) in vectors.clone().enumerate() {
                let y = &y[start..start + N];
                for (q, acc) in acc.iter_mut().enumerate() {
                    let w = T::splat(simd, weights[q * to + b * from]);
                    for (acc, &y) in acc.iter_mut().zip(y) {
                        *acc = T::mul_add(simd, w, y, *acc);
                    }
                }
            }
            for (acc, sums) in acc.iter().zip(sums.chunks_exact_mut(line)) {
                for (&acc, sum) in acc.iter().zip(&mut sums[start..start + N]) {
                    *sum = T::add(simd, *sum, acc);
                }
            }
        }
    }
}

/// `t_ijc = w_ij·slope(y_jc − y_ic)` added to `sums[j]` and subtracted from `sums[i]`.
struct Antisymmetric<'a, T, L> {
    rows: Range<usize>,
    columns: Range<usize>,
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
            with_constant!(block.len(), N => self.block::<S, N>(simd, block.start));
        }
    }
}

impl<T: Real, L: Slope<T>> Antisymmetric<'_, T, L> {
    #[inline(always)]
    fn block<S: Simd, const N: usize>(&mut self, simd: S, start: usize) {
        let width = strip::<T>();
        let line = self.vectors.stride / T::width::<S>();
        let vectors = T::lanes::<S>(&self.vectors.numbers);
        let sums = T::lanes_mut::<S>(self.sums);
        let zero = T::splat(simd, T::new(0.0));
        let quads = self
            .rows
            .clone()
            .step_by(QUAD)
            .zip(self.weights.chunks_exact(QUAD * width));
        for (row, weights) in quads {
            let mut x = [[zero; N]; QUAD];
            for (q, x) in x.iter_mut().enumerate() {
                x.copy_from_slice(&vectors[(row + q) * line + start..][..N]);
            }
            let mut acc = [[zero; N]; QUAD];
            for (k, j) in self.columns.clone().enumerate() {
                let here = j * line + start..j * line + start + N;
                let (y, sums) = (&vectors[here.clone()], &mut sums[here]);
                for q in 0..QUAD {
                    let w = T::splat(simd, weights[q * width + k]);
                    for v in 0..N {
                        let slope = self.slope.of(simd, T::sub(simd, y[v], x[q][v]));
                        sums[v] = T::mul_add(simd, w, slope, sums[v]);
                        acc[q][v] = T::mul_add(simd, w, slope, acc[q][v]);
                    }
                }
            }
            for (q, acc) in acc.iter().enumerate() {
                let sums = &mut sums[(row + q) * line + start..][..N];
                for (sum, &acc) in sums.iter_mut().zip(acc) {
                    *sum = T::sub(simd, *sum, acc);
                }
            }
        }
    }
}
