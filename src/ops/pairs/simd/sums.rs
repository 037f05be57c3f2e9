//! The gradient, summed over the pairs: the lanes of the processor are columns.
//!
//! With `s_ij` the slopes and `k_ij` the kernel, residuals have the gradient `Σ_j k_ij δ_j`, see [`weighted_sums`], and
//! points `Σ_j s_ij (x_i − x_j)`, or with signs of the differences. A tile adds to the sums of its columns and of
//! its rows; while it does, those of the rows are vectors of partial sums:
//!
//! ```text
//!                         columns j
//!                 ┌───────────────────────┐
//!          rows i │ s_ij, four rows and   │──► row_sums[i]    −= s_ij · slope(x_j − x_i)
//!                 │ two vectors at a time │
//!                 └───────────┬───────────┘
//!                             └──► column_sums[j] += s_ij · slope(x_j − x_i)
//! ```
//!
//! With residuals `δ = e_y − p` a difference of points is `(e_yi − e_yj) − (δ_i − δ_j)`. So where digits
//! suffice ([`Separation::Exponents`]) the sums over `s_ij (p_i − p_j)` and over `−k_ij δ_j` are one over the
//! `δ_j`, with weight `s − k`, and `Σ_j s_ij e_yj`, which is a sum by label.

use pulp::{Simd, WithSimd};

use super::{
    aligned::Aligned,
    arch::Arch,
    layout::{PAIR, PaddedVectors, QUAD, line, strip},
    pass::Pass,
    radial::Separation,
    real::Real,
    tile::StripTile,
    weighted_sums::weighted_sums,
};

/// Numbers in the widest vectors of the narrowest type.
const MOST_LANES: usize = 16;
/// Rows of a tile of the narrowest type.
const MOST_ROWS: usize = strip::<f32>();
/// Coordinates at a time: their sums of all rows of a tile stay in the first-level cache.
const COORDINATES: usize = 12;

/// The gradient of a share of the pairs, `[strip][coordinate][column]`.
pub(super) struct GradientSums<'a, T> {
    pass: &'a Pass<'a, T>,
    /// The gradient of the points, with that of residuals of labels.
    points: Aligned<T>,
    /// Minus the gradient of residuals that are rows.
    residuals: Option<Aligned<T>>,
    /// `Σ_j s_ij`, which multiplies the point, for [`Separation::Exponents`].
    slopes: Aligned<T>,
}

impl<'a, T: Real> GradientSums<'a, T> {
    pub fn zeros(pass: &'a Pass<'a, T>) -> Self {
        let padded = pass.labels.len();
        Self {
            pass,
            points: Aligned::zeros(padded * pass.sorted.samples.d),
            residuals: (!pass.by_label).then(|| Aligned::zeros(padded * pass.residuals.d)),
            slopes: Aligned::zeros(padded),
        }
    }

    /// Adds the pairs of a tile with slopes and the weights of residuals, `[strip][row][column]`; 0 for
    /// pairs that do not count.
    pub fn add(&mut self, tile: &StripTile, slopes: &[T], weights: &[T]) {
        let (pass, points) = (self.pass, &mut *self.points);
        let vectors = || {
            pass.points
                .as_ref()
                .expect("only exponents come from the residuals")
        };
        match pass.radial.separation {
            Separation::Magnitudes | Separation::Squares => Arch::new().dispatch(Antisymmetric {
                tile,
                weights: slopes,
                vectors: vectors(),
                are_signs: pass.radial.separation == Separation::Magnitudes,
                sums: points,
            }),
            Separation::Exponents => Arch::new().dispatch(ByLabel {
                tile,
                weights: slopes,
                d: pass.sorted.samples.d,
                labels: &pass.labels,
                by_label: points,
                sums: &mut self.slopes,
            }),
        }
        let sums = self.residuals.as_mut().unwrap_or(&mut self.points);
        weighted_sums(tile, weights, &pass.residuals, sums);
    }

    /// Adds another share.
    pub fn merge(&mut self, other: &Self) {
        self.points.add(&other.points);
        if let (Some(sums), Some(others)) = (&mut self.residuals, &other.residuals) {
            sums.add(others);
        }
        self.slopes.add(&other.slopes);
    }

    /// Writes the gradient of the `i`-th point.
    pub fn write(&self, i: usize, point: &[T], gradient: &mut [T]) {
        let sums = coordinates(&self.points, i, point.len());
        for ((gradient, sum), &x) in gradient.iter_mut().zip(sums).zip(point) {
            *gradient = sum.plus(self.slopes[i].times(x));
        }
    }

    /// Writes the gradient of the `i`-th residual, if it is a row.
    pub fn write_residual(&self, i: usize, gradient: &mut [T]) {
        let Some(sums) = &self.residuals else {
            return;
        };
        let sums = coordinates(sums, i, gradient.len());
        for (gradient, sum) in gradient.iter_mut().zip(sums) {
            *gradient = sum.times(T::new(-1.0));
        }
    }
}

/// The coordinates of a sample.
fn coordinates<T: Real>(sums: &[T], i: usize, d: usize) -> impl Iterator<Item = T> {
    let width = strip::<T>();
    let sums = &sums[i / width * width * d..][..width * d];
    sums.iter().skip(i % width).step_by(width).copied()
}

/// Adds `w_ij` times the slopes of all coordinates to the sums of columns, and subtracts it from those of rows.
struct Antisymmetric<'a, T> {
    tile: &'a StripTile,
    weights: &'a [T],
    vectors: &'a PaddedVectors<T>,
    /// Whether the slope, the derivative of a coordinate's part of the separation with respect to `y`, is the sign
    /// of `y − x`, or that itself.
    are_signs: bool,
    sums: &'a mut [T],
}

impl<T: Real> WithSimd for Antisymmetric<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.are_signs {
            let [huge, one, minus_one] = [T::HUGE, 1.0, -1.0].map(|x| T::splat(simd, T::new(x)));
            self.add(
                simd,
                #[inline(always)]
                |difference| {
                    let difference = T::mul(simd, difference, huge);
                    T::min(simd, T::max(simd, difference, minus_one), one)
                },
            );
        } else {
            self.add(
                simd,
                #[inline(always)]
                |difference| difference,
            );
        }
    }
}

impl<T: Real> Antisymmetric<'_, T> {
    /// Some coordinates at a time; `slope` is of a difference.
    #[inline(always)]
    fn add<S: Simd>(mut self, simd: S, slope: impl Fn(T::Lanes<S>) -> T::Lanes<S>) {
        for first in (0..self.vectors.d).step_by(COORDINATES) {
            let count = COORDINATES.min(self.vectors.d - first);
            self.block(simd, &slope, [first, count]);
        }
    }

    /// Adds those of so many coordinates from `first` on.
    #[inline(always)]
    fn block<S: Simd>(
        &mut self,
        simd: S,
        slope: &impl Fn(T::Lanes<S>) -> T::Lanes<S>,
        [first, count]: [usize; 2],
    ) {
        let (d, height, line) = (self.vectors.d, strip::<T>(), line::<T, S>());
        let zero = T::splat(simd, T::new(0.0));
        let weights = T::lanes::<S>(self.weights).chunks_exact(height * line);
        let mut row_sums = [[[zero; QUAD]; COORDINATES]; MOST_ROWS / QUAD];
        for (strip, weights) in self.tile.strips.clone().zip(weights) {
            let place = (strip * d + first) * line..(strip * d + first + count) * line;
            let columns = &T::lanes::<S>(self.vectors.strip(strip))[first * line..];
            let column_sums = &mut T::lanes_mut::<S>(self.sums)[place];
            let quads = self.tile.rows::<T>().step_by(QUAD);
            let weights = weights.chunks_exact(QUAD * line).zip(&mut row_sums);
            for (row, (weights, row_sums)) in quads.zip(weights) {
                let [a, b, c, d] = self.vectors.quad(row).map(|row| &row[first..]);
                for start in (0..line).step_by(PAIR) {
                    let mut w = [[zero; PAIR]; QUAD];
                    for (w, weights) in w.iter_mut().zip(weights.chunks_exact(line)) {
                        w.copy_from_slice(&weights[start..start + PAIR]);
                    }
                    let rows = a.iter().zip(b).zip(c).zip(d);
                    let columns = rows.zip(columns.chunks_exact(line));
                    let sums = (column_sums.chunks_exact_mut(line)).zip(&mut *row_sums);
                    for (((((a, b), c), d), y), (column_sums, row_sums)) in columns.zip(sums) {
                        let y = &y[start..start + PAIR];
                        let column_sums = &mut column_sums[start..start + PAIR];
                        let mut over_rows = [column_sums[0], column_sums[1]];
                        for ((&x, w), row_sum) in [a, b, c, d].into_iter().zip(&w).zip(row_sums) {
                            let x = T::splat(simd, x);
                            let mut over_columns = *row_sum;
                            for v in 0..PAIR {
                                let slope = slope(T::sub(simd, y[v], x));
                                over_rows[v] = T::mul_add(simd, w[v], slope, over_rows[v]);
                                over_columns = T::mul_add(simd, w[v], slope, over_columns);
                            }
                            *row_sum = over_columns;
                        }
                        column_sums.copy_from_slice(&over_rows);
                    }
                }
            }
        }
        let sums = &mut self.sums[self.tile.row * d + first * height..];
        for (quad, row_sums) in row_sums[..height / QUAD].iter().enumerate() {
            for (sums, row_sums) in sums.chunks_exact_mut(height).zip(&row_sums[..count]) {
                for (sum, &row_sum) in sums[quad * QUAD..].iter_mut().zip(row_sums) {
                    *sum = sum.minus(T::sum(simd, row_sum));
                }
            }
        }
    }
}

/// Subtracts `s_ij` from the sum of `i` by the label of `j`, and from that of `j` by the label of `i`; adds it to
/// the sums of both.
struct ByLabel<'a, T> {
    tile: &'a StripTile,
    weights: &'a [T],
    d: usize,
    /// Sorted and padded: neighbours mostly share theirs.
    labels: &'a [u32],
    by_label: &'a mut [T],
    sums: &'a mut [T],
}

impl<T: Real> WithSimd for ByLabel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (d, width, line) = (self.d, strip::<T>(), line::<T, S>());
        let zero = T::splat(simd, T::new(0.0));
        let mut row_sums = [zero; MOST_ROWS];
        let mut label = self.labels[self.tile.strips.start * width];
        let weights = T::lanes::<S>(self.weights).chunks_exact(width * line);
        for (strip, weights) in self.tile.strips.clone().zip(weights) {
            let mut of_rows = weights;
            for run in self.labels[self.tile.row..][..width].chunk_by(u32::eq) {
                let (of_run, rest) = of_rows.split_at(run.len() * line);
                let place = (strip * d + run[0] as usize) * line;
                let by_label = &mut T::lanes_mut::<S>(self.by_label)[place..][..line];
                let sums = &mut T::lanes_mut::<S>(self.sums)[strip * line..][..line];
                for (v, (by_label, sum)) in by_label.iter_mut().zip(sums).enumerate() {
                    let mut total = zero;
                    for weights in of_run.chunks_exact(line) {
                        total = T::add(simd, total, weights[v]);
                    }
                    *by_label = T::sub(simd, *by_label, total);
                    *sum = T::add(simd, *sum, total);
                }
                of_rows = rest;
            }
            let labels = self.labels[strip * width..][..width].chunks_exact(T::width::<S>());
            for (v, labels) in labels.enumerate() {
                let mut lane = 0;
                for run in labels.chunk_by(u32::eq) {
                    if run[0] != label {
                        self.add_to_rows(simd, label, &mut row_sums);
                        label = run[0];
                    }
                    let mut mask = [T::new(0.0); MOST_LANES];
                    mask[lane..lane + run.len()].fill(T::new(1.0));
                    lane += run.len();
                    let mask = T::lanes::<S>(&mask)[0];
                    for (sum, weights) in row_sums.iter_mut().zip(weights.chunks_exact(line)) {
                        *sum = T::mul_add(simd, weights[v], mask, *sum);
                    }
                }
            }
        }
        self.add_to_rows(simd, label, &mut row_sums);
    }
}

impl<T: Real> ByLabel<'_, T> {
    /// Moves sums over columns that share a label.
    #[inline(always)]
    fn add_to_rows<S: Simd>(&mut self, simd: S, label: u32, row_sums: &mut [T::Lanes<S>]) {
        let (width, row) = (strip::<T>(), self.tile.row);
        let by_label = &mut self.by_label[row * self.d + label as usize * width..][..width];
        let sums = by_label.iter_mut().zip(&mut self.sums[row..]);
        for ((by_label, sum), row_sum) in sums.zip(row_sums) {
            let total = T::sum(simd, *row_sum);
            *row_sum = T::splat(simd, T::new(0.0));
            *by_label = by_label.minus(total);
            *sum = sum.plus(total);
        }
    }
}
