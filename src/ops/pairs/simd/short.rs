//! The gradient of short vectors: the lanes of the processor are columns.

use pulp::{Simd, WithSimd};

use super::{
    aligned::Aligned,
    arch::Arch,
    blocks::{blocks, with_constant},
    gradient::{Gradient, Weights},
    layout::{PAIR, QUAD, Vectors, line, strip},
    real::Real,
    scatter::Scatter,
    slope::{Difference, Sign, Slope, Slopes},
    tile::Tile,
};

/// Bytes of the widest vectors.
const WIDEST: usize = 64;

pub(super) struct Short<'a, T> {
    slopes: Slopes,
    labels: &'a [u32],
    points: &'a Vectors<T>,
    residuals: &'a Vectors<T>,
    /// The gradient, `[strip][c][column]`.
    sums: Aligned<T>,
    /// Minus that of the residuals, if it is apart.
    residual_sums: Option<Aligned<T>>,
    /// `Σ_j s_ij`, which multiplies the point.
    slope_sums: Aligned<T>,
    /// Sums over the columns for the rows of a tile: `[quad][c][q]`, a vector of partial sums each.
    inner: Aligned<T>,
    /// The same for minus an antisymmetric part.
    antisymmetric: Aligned<T>,
}

impl<'a, T: Real> Short<'a, T> {
    /// `points` are scaled as for [`Sign`] for [`Slopes::Signs`]; `labels` are sorted and
    /// padded; the gradient of the residuals is `apart` unless they are of labels.
    pub fn new(
        slopes: Slopes,
        labels: &'a [u32],
        points: &'a Vectors<T>,
        residuals: &'a Vectors<T>,
        apart: bool,
    ) -> Self {
        let (d, m) = (points.d, residuals.d);
        let partial = |d: usize| strip::<T>() * d * WIDEST / size_of::<T>();
        let antisymmetric = if slopes == Slopes::Merged {
            0
        } else {
            partial(d)
        };
        Self {
            slopes,
            labels,
            points,
            residuals,
            sums: Aligned::zeros(labels.len() * d),
            residual_sums: apart.then(|| Aligned::zeros(labels.len() * m)),
            slope_sums: Aligned::zeros(labels.len()),
            inner: Aligned::zeros(partial(m)),
            antisymmetric: Aligned::zeros(antisymmetric),
        }
    }

    /// Writes the gradient of the `i`-th residual, if it is apart.
    pub fn write_residual(&self, i: usize, gradient: &mut [T]) {
        let Some(sums) = &self.residual_sums else {
            return;
        };
        let (width, m) = (strip::<T>(), self.residuals.d);
        let sums = &sums[i / width * width * m..][..width * m];
        for (line, gradient) in sums.chunks_exact(width).zip(gradient) {
            *gradient = line[i % width].times(T::new(-1.0));
        }
    }

    fn antisymmetric(&mut self, tile: &Tile, weights: &[T], slope: impl Slope<T>) {
        Arch::new().dispatch(Antisymmetric {
            tile,
            weights,
            vectors: self.points,
            row_sums: &mut self.antisymmetric,
            column_sums: &mut self.sums,
            slope,
        });
    }
}

impl<T: Real> Gradient<T> for Short<'_, T> {
    const WANTED: bool = true;

    fn add(&mut self, tile: &Tile, weights: Weights<T>) {
        let arch = Arch::new();
        match self.slopes {
            Slopes::Merged => arch.dispatch(Scatter {
                tile,
                d: self.points.d,
                slope: weights.slope,
                labels: self.labels,
                sums: &mut self.sums,
                slope_sums: &mut self.slope_sums,
            }),
            Slopes::Differences => self.antisymmetric(tile, weights.slope, Difference),
            Slopes::Signs => self.antisymmetric(tile, weights.slope, Sign),
        }
        let (weights, vectors) = (weights.residual, self.residuals);
        let column_sums = self.residual_sums.as_mut().unwrap_or(&mut self.sums);
        arch.dispatch(OverRows {
            tile,
            weights,
            vectors,
            column_sums,
        });
        let row_sums = &mut self.inner;
        arch.dispatch(OverColumns {
            tile,
            weights,
            vectors,
            row_sums,
        });
    }

    fn finish_rows(&mut self, row: usize) {
        let reduce = |partial: &mut [T], sign: f64, d: usize, sums: &mut [T]| {
            Arch::new().dispatch(Reduce {
                partial,
                sign: T::new(sign),
                d,
                sums: &mut sums[row * d..][..strip::<T>() * d],
            });
            partial.fill(T::new(0.0));
        };
        let of_residuals = self.residual_sums.as_mut().unwrap_or(&mut self.sums);
        reduce(&mut self.inner, 1.0, self.residuals.d, of_residuals);
        reduce(&mut self.antisymmetric, -1.0, self.points.d, &mut self.sums);
    }

    fn merge(&mut self, other: Self) {
        self.sums.add(&other.sums);
        if let (Some(sums), Some(others)) = (&mut self.residual_sums, &other.residual_sums) {
            sums.add(others);
        }
        self.slope_sums.add(&other.slope_sums);
    }

    fn write(&self, i: usize, point: &[T], gradient: &mut [T]) {
        let (width, d) = (strip::<T>(), self.points.d);
        let sums = &self.sums[i / width * width * d..][..width * d];
        let slope = self.slope_sums[i];
        for ((line, gradient), &point) in sums.chunks_exact(width).zip(gradient).zip(point) {
            *gradient = line[i % width].plus(slope.times(point));
        }
    }
}

/// `column_sums[c][j] += Σ_i w_ij y_ic`
struct OverRows<'a, T> {
    tile: &'a Tile,
    weights: &'a [T],
    vectors: &'a Vectors<T>,
    column_sums: &'a mut [T],
}

impl<T: Real> WithSimd for OverRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let most = if S::REGISTER_COUNT >= 32 { 8 } else { 5 };
        for block in blocks(self.vectors.d, most) {
            with_constant!(block.len(), N => self.block::<S, N>(simd, block.start));
        }
    }
}

impl<T: Real> OverRows<'_, T> {
    #[inline(always)]
    fn block<S: Simd, const N: usize>(&mut self, simd: S, c: usize) {
        let line = line::<T, S>();
        let strips = T::lanes::<S>(self.weights).chunks_exact(strip::<T>() * line);
        for (strip, weights) in self.tile.strips.clone().zip(strips) {
            let sums = T::lanes_mut::<S>(self.column_sums);
            let sums = &mut sums[(strip * self.vectors.d + c) * line..][..N * line];
            for start in (0..line).step_by(PAIR) {
                let mut acc = [[T::splat(simd, T::new(0.0)); PAIR]; N];
                for (n, acc) in acc.iter_mut().enumerate() {
                    acc.copy_from_slice(&sums[n * line + start..][..PAIR]);
                }
                let rows = self.vectors.rows.numbers[self.tile.row * self.vectors.rows.stride..]
                    .chunks_exact(self.vectors.rows.stride);
                for (w, y) in weights.chunks_exact(line).zip(rows) {
                    let w = &w[start..start + PAIR];
                    for (acc, &y) in acc.iter_mut().zip(&y[c..c + N]) {
                        let y = T::splat(simd, y);
                        for v in 0..PAIR {
                            acc[v] = T::mul_add(simd, w[v], y, acc[v]);
                        }
                    }
                }
                for (n, acc) in acc.iter().enumerate() {
                    sums[n * line + start..][..PAIR].copy_from_slice(acc);
                }
            }
        }
    }
}

/// `row_sums[quad][c][q] += Σ_j w_ij y_jc`
struct OverColumns<'a, T> {
    tile: &'a Tile,
    weights: &'a [T],
    vectors: &'a Vectors<T>,
    row_sums: &'a mut [T],
}

impl<T: Real> WithSimd for OverColumns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let most = if S::REGISTER_COUNT >= 32 { 5 } else { 2 };
        for block in blocks(self.vectors.d, most) {
            with_constant!(block.len(), N => self.block::<S, N>(simd, block.start));
        }
    }
}

impl<T: Real> OverColumns<'_, T> {
    #[inline(always)]
    fn block<S: Simd, const N: usize>(&mut self, simd: S, c: usize) {
        let line = line::<T, S>();
        let d = self.vectors.d;
        let row_sums = T::lanes_mut::<S>(self.row_sums).chunks_exact_mut(QUAD * d);
        for (quad, sums) in row_sums.take(strip::<T>() / QUAD).enumerate() {
            let sums = &mut sums[c * QUAD..][..N * QUAD];
            let mut acc = [[T::splat(simd, T::new(0.0)); QUAD]; N];
            for (acc, sums) in acc.iter_mut().zip(sums.chunks_exact(QUAD)) {
                acc.copy_from_slice(sums);
            }
            let weights = T::lanes::<S>(self.weights).chunks_exact(strip::<T>() * line);
            for (strip, weights) in self.tile.strips.clone().zip(weights) {
                let w = &weights[quad * QUAD * line..][..QUAD * line];
                let y = &T::lanes::<S>(self.vectors.strip(strip))[c * line..][..N * line];
                for v in 0..line {
                    let w = [w[v], w[line + v], w[2 * line + v], w[3 * line + v]];
                    for n in 0..N {
                        let y = y[n * line + v];
                        for q in 0..QUAD {
                            acc[n][q] = T::mul_add(simd, w[q], y, acc[n][q]);
                        }
                    }
                }
            }
            for (n, acc) in acc.iter().enumerate() {
                sums[n * QUAD..][..QUAD].copy_from_slice(acc);
            }
        }
    }
}

/// `t_ijc = w_ij·slope(y_jc − y_ic)` added to `column_sums[c][j]` and to `row_sums[quad][c][q]`.
struct Antisymmetric<'a, T, L> {
    tile: &'a Tile,
    weights: &'a [T],
    vectors: &'a Vectors<T>,
    row_sums: &'a mut [T],
    column_sums: &'a mut [T],
    slope: L,
}

impl<T: Real, L: Slope<T>> WithSimd for Antisymmetric<'_, T, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { tile, vectors, .. } = self;
        let (d, line) = (vectors.d, line::<T, S>());
        let strips = T::lanes::<S>(self.weights).chunks_exact(strip::<T>() * line);
        for (strip, weights) in tile.strips.clone().zip(strips) {
            let columns = T::lanes::<S>(vectors.strip(strip));
            let column_sums = T::lanes_mut::<S>(self.column_sums);
            let column_sums = &mut column_sums[strip * d * line..][..d * line];
            let row_sums = T::lanes_mut::<S>(self.row_sums).chunks_exact_mut(QUAD * d);
            let quads = tile
                .quads::<T>()
                .zip(weights.chunks_exact(QUAD * line))
                .zip(row_sums);
            for ((row, weights), row_sums) in quads {
                for start in (0..line).step_by(PAIR) {
                    let mut w = [[T::splat(simd, T::new(0.0)); PAIR]; QUAD];
                    for (w, weights) in w.iter_mut().zip(weights.chunks_exact(line)) {
                        w.copy_from_slice(&weights[start..start + PAIR]);
                    }
                    let columns = columns.chunks_exact(line);
                    let sums = column_sums
                        .chunks_exact_mut(line)
                        .zip(row_sums.chunks_exact_mut(QUAD));
                    let [a, b, c, d] = vectors.quad(row);
                    let rows = a.iter().zip(b).zip(c).zip(d);
                    for (((((a, b), c), d), y), (column_sums, row_sums)) in
                        rows.zip(columns).zip(sums)
                    {
                        let y = &y[start..start + PAIR];
                        let column_sums = &mut column_sums[start..start + PAIR];
                        let mut over_rows = [column_sums[0], column_sums[1]];
                        for (q, (&x, row_sum)) in [a, b, c, d].into_iter().zip(row_sums).enumerate()
                        {
                            let x = T::splat(simd, x);
                            let mut over_columns = *row_sum;
                            for v in 0..PAIR {
                                let slope = self.slope.of(simd, T::sub(simd, y[v], x));
                                over_rows[v] = T::mul_add(simd, w[q][v], slope, over_rows[v]);
                                over_columns = T::mul_add(simd, w[q][v], slope, over_columns);
                            }
                            *row_sum = over_columns;
                        }
                        column_sums.copy_from_slice(&over_rows);
                    }
                }
            }
        }
    }
}

/// `sums[c][row] += sign · Σ partial[quad][c][q]`, over the lanes of partial sums.
struct Reduce<'a, T> {
    partial: &'a [T],
    sign: T,
    d: usize,
    sums: &'a mut [T],
}

impl<T: Real> WithSimd for Reduce<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = strip::<T>();
        let partial = T::lanes::<S>(self.partial).chunks_exact(QUAD * self.d);
        for (quad, partial) in partial.take(width / QUAD).enumerate() {
            let sums = self
                .sums
                .chunks_exact_mut(width)
                .zip(partial.chunks_exact(QUAD));
            for (sums, partial) in sums {
                for (sum, &partial) in sums[quad * QUAD..].iter_mut().zip(partial) {
                    *sum = sum.plus(self.sign.times(T::sum(simd, partial)));
                }
            }
        }
    }
}
