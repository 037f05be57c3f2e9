//! Pairs of long vectors: blocks of rows, whole products of matrices, and plain loops between them.
//!
//! ```text
//!           columns j
//!         ┌───────────┐   G = R_b Rᵀ    inner products of residuals
//!  rows i │   block   │   P_b Pᵀ        those of points; with residuals e_y − p they are G and two gathers
//!         └─────┬─────┘   u = |p_i|² + |p_j|² − 2 p_iᵀp_j,   k = κ(u),   s = G ∂k
//!               │
//!               └──► gradients of the rows: points (Σ_j s_ij) p_i − S P, residuals K R,
//!                    or with residuals e_y − p: (Σ_j s_ij) p_i − Σ_j s_ij e_yj + (S − K) R;
//!                    and those of the columns, with the transposed matrices
//! ```

use std::{f64::consts::SQRT_2, ops::Range};

use super::{
    PairSamples, Radial, Real, Totals,
    arch::Arch,
    layout::Aligned,
    product::{MatrixView, add_product, product},
    radial::Weigh,
};
use crate::{
    parallel::{fold_tiles, for_each_chunk, threads_for},
    radial::CoordinateSum,
};

/// The largest number of coordinates of a short vector.
const LONG: usize = 48;
/// Up to this length of the longest vector in bandwidths squared distances may be taken from inner products: they lose
/// the digits of the squared lengths.
const LONGEST: f64 = 4.0;
/// From this bandwidth on the gradient of points may be taken from sums over residuals.
const BANDWIDTH: f64 = 0.05;
/// The length of `e_y − e_z`.
const LONGEST_RESIDUAL: f64 = SQRT_2;
/// The rows and the most columns of a block.
const ROWS: usize = 64;
const COLUMNS: usize = 1024;
/// The number of columns whose vectors stay in the cache.
const PART_OF_COLUMNS: usize = 16;
/// The number of pairs that are summed in the dtype before their sum is added as f64.
const PART: usize = 4096;

/// Writes squared distances in the place of the inner products of some points with others, `[row][column]`.
fn squared_distances<T: Real>(products: &mut [T], of_rows: &[T], of_columns: &[T]) {
    let lines = products.chunks_exact_mut(of_columns.len());
    for (line, &of_row) in lines.zip(of_rows) {
        for (x, &of_column) in line.iter_mut().zip(of_columns) {
            *x = of_row + of_column - (*x + *x); // rounding may make it negative
        }
    }
}

/// Some of the vectors, `[vector][coordinate]`.
fn matrix<'a, T: Real>(vectors: &'a [T], d: usize, some: &Range<usize>) -> MatrixView<'a, T> {
    MatrixView::new(&vectors[some.start * d..some.end * d], d, [some.len(), d])
}

/// Samples with long vectors, and their kernel.
pub(super) struct LongPairs<'a, T> {
    samples: PairSamples<'a, T>,
    radial: Radial,
    /// `|p|²` of each point.
    squares: Vec<T>,
}

/// Sums over a share of the pairs.
struct Sums<T> {
    totals: Totals,
    /// The gradient of points, but for the slopes; with that of residuals of labels. Empty if it is not wanted.
    points: Vec<T>,
    /// Minus the gradient of residuals that are rows.
    residuals: Vec<T>,
    /// `Σ_j s_ij`, which multiplies `p_i`.
    slopes: Vec<T>,
}

/// Pairs of some samples with others.
struct Block<'a> {
    rows: &'a Range<usize>,
    columns: Range<usize>,
}

impl<'a, T: Real> LongPairs<'a, T> {
    /// None if vectors are short, or if digits would be lost.
    pub fn new(samples: PairSamples<'a, T>, radial: Radial) -> Option<Self> {
        let is_smooth = samples.labels.is_none() || radial.steepest() * BANDWIDTH <= 1.0;
        if samples.d <= LONG || radial.sum != CoordinateSum::Squares || !is_smooth {
            return None;
        }
        let square = |x: &T| x.to_f64() * x.to_f64();
        let points = samples.points.chunks_exact(samples.d);
        let squares: Vec<f64> = points.map(|p| p.iter().map(square).sum()).collect();
        let longest = squares.iter().copied().fold(0.0, f64::max).sqrt();
        (longest * radial.steepest() <= LONGEST).then(|| Self {
            samples,
            radial,
            squares: squares.into_iter().map(T::new).collect(),
        })
    }

    /// The sums over all pairs; writes the gradients of points and residuals, if they are wanted. Both are the same for
    /// any number of threads.
    pub fn sums(&self, gradient: Option<&mut [&mut [T]; 2]>) -> Totals {
        let (n, PairSamples { d, m, .. }) = (self.squares.len(), self.samples);
        let of_rows = self.samples.labels.is_none();
        let zeros = |wanted: bool, count: usize| vec![T::new(0.0); if wanted { count } else { 0 }];
        let tiles = n.div_ceil(ROWS);
        let shares = threads_for(n, m, tiles).min(tiles.div_ceil(2)); // each has a gradient of all samples
        let (sums, _) = fold_tiles(
            tiles,
            shares,
            || {
                let sums = Sums {
                    totals: Totals::default(),
                    points: zeros(gradient.is_some(), n * d),
                    residuals: zeros(gradient.is_some() && of_rows, n * m),
                    slopes: zeros(gradient.is_some(), n),
                };
                let scratch = [(); 2].map(|()| Aligned::zeros(ROWS * COLUMNS.min(n)));
                (sums, scratch)
            },
            |(sums, scratch), tile| {
                self.add_rows(tile * ROWS..n.min((tile + 1) * ROWS), sums, scratch);
            },
            |(sums, _), (others, _)| sums.add(&others),
        );
        if let Some([points, residuals]) = gradient {
            let sign = T::new(if of_rows { -1.0 } else { 1.0 });
            for_each_chunk(points, d, 1, |(i, point)| {
                let of_point = sums.points[i * d..].iter().zip(self.samples.point(i));
                for (x, (&sum, &p)) in point.iter_mut().zip(of_point) {
                    *x = sign * sum + sums.slopes[i] * p;
                }
            });
            for (x, &sum) in residuals.iter_mut().zip(&sums.residuals) {
                *x = sign * sum;
            }
        }
        sums.totals
    }

    /// Adds the pairs of some rows with the samples after each; blocks are computed in the scratch, `[row][column]`.
    fn add_rows(&self, rows: Range<usize>, sums: &mut Sums<T>, scratch: &mut [Aligned<T>; 2]) {
        let n = self.squares.len();
        for start in (rows.start..n).step_by(COLUMNS) {
            let block = Block {
                rows: &rows,
                columns: start..n.min(start + COLUMNS),
            };
            let size = ROWS * block.columns.len();
            let [separations, products] = scratch.each_mut().map(|pairs| &mut pairs[..size]);
            self.pairs(&block, separations, products);
            block.clear_rest(products); // then slopes are 0 too
            let gradient = !sums.slopes.is_empty();
            let parts = separations.chunks_mut(PART).zip(products.chunks_mut(PART));
            for (first, second) in parts {
                sums.totals += Arch::new().dispatch(Weigh {
                    radial: self.radial,
                    gradient,
                    first,
                    second,
                });
            }
            if gradient {
                block.clear_rest(products);
                self.add_gradient(&block, separations, products, sums);
            }
        }
    }

    /// Writes squared distances of points and inner products of residuals, `[row][column]`.
    fn pairs(&self, block: &Block, separations: &mut [T], products: &mut [T]) {
        let PairSamples {
            points,
            d,
            residuals,
            m,
            labels,
        } = self.samples;
        let width = block.columns.len();
        let [rows, columns] = [block.rows, &block.columns].map(|some| matrix(residuals, m, some));
        product(products, width, rows, columns.transposed());
        match labels {
            Some(labels) if LONGEST_RESIDUAL * self.radial.steepest() <= LONGEST => {
                self.products_of_points(block, labels, separations, products);
            }
            _ => {
                let [rows, columns] =
                    [block.rows, &block.columns].map(|some| matrix(points, d, some));
                product(separations, width, rows, columns.transposed());
            }
        }
        let [rows, columns] = [block.rows, &block.columns].map(|some| &self.squares[some.clone()]);
        squared_distances(separations, rows, columns);
    }

    /// Writes `p_iᵀp_j = δ_iᵀδ_j + p_i[y_j] − δ_j[y_i]`, for residuals `δ = e_y − p`.
    fn products_of_points(
        &self,
        block: &Block,
        labels: &[u32],
        of_points: &mut [T],
        of_residuals: &[T],
    ) {
        let width = block.columns.len();
        let lines = of_points
            .chunks_exact_mut(width)
            .zip(of_residuals.chunks_exact(width));
        for (i, (line, of_residuals)) in block.rows.clone().zip(lines) {
            let point = self.samples.point(i);
            let pairs = line
                .iter_mut()
                .zip(of_residuals)
                .zip(&labels[block.columns.clone()]);
            for ((x, product), &y) in pairs {
                *x = *product + point[y as usize];
            }
        }
        block.for_each_part(of_points, |i, columns, line| {
            for (x, j) in line.iter_mut().zip(columns) {
                *x -= self.samples.residual(j)[labels[i] as usize];
            }
        });
    }

    /// Adds slopes `s` and kernels, which come as `−k`, to the gradients of rows and of columns.
    fn add_gradient(&self, block: &Block, slopes: &mut [T], kernels: &[T], sums: &mut Sums<T>) {
        let PairSamples {
            points,
            d,
            residuals,
            m,
            labels,
        } = self.samples;
        let width = block.columns.len();
        for (i, line) in block.rows.clone().zip(slopes.chunks_exact(width)) {
            let (of_columns, mut sum) = (&mut sums.slopes[block.columns.clone()], T::new(0.0));
            for (of_column, &slope) in of_columns.iter_mut().zip(line) {
                *of_column += slope;
                sum += slope;
            }
            sums.slopes[i] += sum;
        }
        let Some(labels) = labels else {
            block.add_products(&mut sums.points, slopes, points, d);
            return block.add_products(&mut sums.residuals, kernels, residuals, m);
        };
        for (i, line) in block.rows.clone().zip(slopes.chunks_exact(width)) {
            let gradient = &mut sums.points[i * d..][..d];
            for (&slope, &y) in line.iter().zip(&labels[block.columns.clone()]) {
                gradient[y as usize] -= slope;
            }
        }
        block.for_each_part(slopes, |i, columns, line| {
            for (&mut slope, j) in line.iter_mut().zip(columns) {
                sums.points[j * d + labels[i] as usize] -= slope;
            }
        });
        for (slope, &kernel) in slopes.iter_mut().zip(kernels) {
            *slope += kernel;
        }
        block.add_products(&mut sums.points, slopes, residuals, d);
    }
}

impl<T: Real> Sums<T> {
    /// Adds another share.
    fn add(&mut self, other: &Self) {
        self.totals += other.totals;
        let add = |sums: &mut [T], others: &[T]| {
            for (sum, &other) in sums.iter_mut().zip(others) {
                *sum += other;
            }
        };
        add(&mut self.points, &other.points);
        add(&mut self.residuals, &other.residuals);
        add(&mut self.slopes, &other.slopes);
    }
}

impl Block<'_> {
    /// `Σ_j w_ij x_j` to the sums of rows and `Σ_i w_ij x_i` to those of columns, for vectors of `d` coordinates.
    fn add_products<T: Real>(&self, sums: &mut [T], weights: &[T], vectors: &[T], d: usize) {
        let width = self.columns.len();
        let weights = MatrixView::new(weights, width, [self.rows.len(), width]);
        let of_rows = &mut sums[self.rows.start * d..];
        add_product(of_rows, d, weights, matrix(vectors, d, &self.columns));
        let of_columns = &mut sums[self.columns.start * d..];
        add_product(
            of_columns,
            d,
            weights.transposed(),
            matrix(vectors, d, self.rows),
        );
    }

    /// Calls a function with each row and some of its columns: all rows of these come before others, so that what it
    /// reads and writes of columns stays in the cache.
    fn for_each_part<T>(&self, pairs: &mut [T], mut f: impl FnMut(usize, Range<usize>, &mut [T])) {
        let Range { start, end } = self.columns;
        for first in (start..end).step_by(PART_OF_COLUMNS) {
            let columns = first..end.min(first + PART_OF_COLUMNS);
            for (i, line) in self.rows.clone().zip(pairs.chunks_exact_mut(end - start)) {
                f(
                    i,
                    columns.clone(),
                    &mut line[first - start..columns.end - start],
                );
            }
        }
    }

    /// Writes 0 for pairs of a sample with itself or one before it, and for rows that are not there.
    fn clear_rest<T: Real>(&self, pairs: &mut [T]) {
        let width = self.columns.len();
        for (i, line) in self.rows.clone().zip(pairs.chunks_exact_mut(width)) {
            let until = (i + 1).saturating_sub(self.columns.start).min(width);
            line[..until].fill(T::new(0.0));
        }
        pairs[self.rows.len() * width..].fill(T::new(0.0));
    }
}
