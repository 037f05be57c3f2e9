//! The pair statistic `h_ij = k(x_i, x_j) · ⟨r_i, r_j⟩` of points `x` and residuals `r`, its one definition
//! for training, estimates and tests.
//!
//! What differs between kinds of prediction is how the inner products of residuals are computed, the
//! [`Road`]. It is chosen once, when the statistic is made.

mod weights;

use std::{cell::OnceCell, ops::Range};

use burn::tensor::{Bool, Tensor};

use super::{SkceForm, road::Road, skce::mean};
use crate::{
    distribution::{Batch as _, Geometry, Predictive, Targets, in_batches, residuals},
    error::{Error, Result},
    host::{is_host, to_scalar, to_vec},
    kernel::{Bandwidth, Kernel, TargetKernel},
    ops::{
        Computation, Pairing, block_values, has_fused_pass, is_on_host, normal_statistic,
        pair_statistic, residual_statistic,
    },
    tiles::{SIDE, sum_over_pairs, upper_tiles},
};

/// The symmetric matrix of the pair statistic `h_ij` of predictions and targets, which is never stored as a
/// whole.
#[derive(Debug, Clone)]
pub struct PairMatrix<'a, P: Geometry> {
    kernel: Kernel,
    on_targets: &'a dyn TargetKernel<P::Unconditional>,
    /// The predictions that the kernel compares.
    compared: P,
    /// Their points, once they are needed; None where they have no coordinates.
    points: OnceCell<Option<Tensor<2>>>,
    /// The predictions whose residuals are taken.
    predictions: P::Unconditional,
    targets: P::Targets,
    road: Road,
    computation: Computation,
    /// The weights of the samples, `[n, 1]`: then it is the matrix of `w_i w_j h_ij`.
    weights: Option<Tensor<2>>,
    /// Whether a sample counts in a median bandwidth, `[n]`.
    kept: Option<Tensor<1, Bool>>,
}

impl<'a, P: Geometry> PairMatrix<'a, P> {
    /// Takes predictions and targets that fit.
    ///
    /// - compared: what the kernel on predictions compares
    /// - samples: the predictions whose residuals are taken, and their targets
    pub(super) fn new(
        (kernel, on_targets): (Kernel, &'a dyn TargetKernel<P::Unconditional>),
        compared: P,
        (predictions, targets): (&P::Unconditional, &P::Targets),
        computation: Computation,
    ) -> Self {
        let kernels = (kernel, on_targets);
        let own_distances = compared.has_own_distances();
        let road = Road::new(kernels, own_distances, (predictions, targets), computation);
        Self {
            kernel,
            on_targets,
            compared,
            points: OnceCell::new(),
            predictions: predictions.clone(),
            targets: targets.clone(),
            road,
            computation,
            weights: None,
            kept: None,
        }
    }

    /// The same pairs, of which [`within_blocks`](Self::within_blocks) takes the median of those whose samples
    /// both count: all if none are named.
    pub(super) fn with_median_of(self, kept: Option<Tensor<1, Bool>>) -> Self {
        Self { kept, ..self }
    }

    /// The number `n` of samples.
    pub fn samples(&self) -> usize {
        self.predictions.len()
    }

    /// The coordinates of what the kernel compares, `[n, d]`.
    fn points(&self) -> Option<&Tensor<2>> {
        let points = || self.compared.coordinates();
        self.points.get_or_init(points).as_ref()
    }

    /// The residuals of some samples, where they are rows.
    fn residuals(&self, rows: Range<usize>) -> Option<Tensor<2>> {
        match &self.road {
            Road::Labels(labels) => {
                let probabilities = self.points()?.clone().slice(rows.clone());
                Some(residuals(probabilities, labels.clone().slice(rows)))
            }
            Road::Rows(residuals) => Some(residuals.clone().slice(rows)),
            Road::Dense(_) => None,
        }
    }

    /// The predictions and targets of consecutive samples.
    fn part(&self, rows: Range<usize>) -> (P::Unconditional, P::Targets) {
        let predictions = self.predictions.slice_rows(rows.clone());
        (predictions, self.targets.slice_rows(rows))
    }

    /// `h` between consecutive samples and others, `[rows, columns]`, detached; the bandwidth must be fixed.
    pub fn tile(&self, rows: Range<usize>, columns: Range<usize>) -> Tensor<2> {
        let ranges = [rows, columns];
        let gram = match self.points() {
            Some(points) => {
                let [x, y] = ranges
                    .clone()
                    .map(|at| points.clone().slice(at).unsqueeze());
                if self.computation == Computation::Composed {
                    self.kernel.between_points(x, y)
                } else {
                    self.kernel.between(x, y)
                }
            }
            None => {
                let [p, q] = ranges.clone().map(|at| self.compared.slice_rows(at));
                self.kernel.between_of(&p, &q)
            }
        };
        let product = match ranges.clone().map(|at| self.residuals(at)) {
            [Some(rows), Some(columns)] => rows.matmul(columns.transpose()),
            _ => {
                let [(p, y), (q, z)] = ranges.clone().map(|at| self.part(at));
                let product = self.on_targets.residual_product((&p, &y), (&q, &z), 1);
                product.squeeze_dim(0)
            }
        };
        let h = gram.squeeze_dim::<2>(0) * product;
        match self.weights_of_pairs(ranges, 1) {
            Some(weights) => h * weights.squeeze_dim(0),
            None => h,
        }
    }

    /// `h_ii`, `[n]`: the kernel on predictions is 1 there.
    pub fn diagonal(&self) -> Tensor<1> {
        let n = self.samples();
        let width = match &self.road {
            Road::Dense(_) => {
                let all = (&self.predictions, &self.targets);
                let squares = self.on_targets.residual_gram(all, n); // [n, 1, 1]
                return match self.weights_of_pairs([0..n, 0..n], n) {
                    Some(weights) => (squares * weights).reshape([n]),
                    None => squares.reshape([n]),
                };
            }
            Road::Rows(residuals) => residuals.dims()[1],
            Road::Labels(_) => self.predictions.dimensions(),
        };
        // some samples at a time: the residuals are as large as the points
        let step = (RESIDUALS / width.max(1)).max(1);
        let part = |first: usize| {
            let rows = self.residuals(first..n.min(first + step)).expect("rows");
            rows.square().sum_dim(1).squeeze_dim(1)
        };
        Tensor::cat((0..n).step_by(step).map(part).collect(), 0)
    }

    /// `h` within each of the given blocks of `size` consecutive samples, `[blocks, size, size]`,
    /// differentiable. A median bandwidth is that of the pairs within them.
    pub fn within_blocks(&self, blocks: Range<usize>, size: usize) -> Tensor<3> {
        let (rows, batches) = (blocks.start * size..blocks.end * size, blocks.len());
        let product = match self.residuals(rows.clone()) {
            Some(residuals) => {
                let residuals = in_batches(residuals, batches);
                residuals.clone().matmul(residuals.transpose())
            }
            None => {
                let (p, y) = self.part(rows.clone());
                self.on_targets.residual_gram((&p, &y), batches)
            }
        };
        let compared = self.compared.slice_rows(rows.clone());
        let kept = self.kept.clone().map(|kept| kept.slice(rows.clone()));
        let h = self.kernel.gram_of(&compared, batches, kept) * product;
        match self.weights_of_pairs([rows.clone(), rows], batches) {
            Some(weights) => h * weights,
            None => h,
        }
    }

    /// The mean of `h` over the pairs of a form in one pass, `[1]`, differentiable. None where there is no
    /// such pass, or it is not to be taken.
    pub(crate) fn fused(&self, form: SkceForm) -> Option<Tensor<1>> {
        let n = self.samples();
        let knows_median = self.kept.is_none() || !self.kernel.bandwidth.is_median();
        if n < 2 || self.computation == Computation::Composed || !knows_median {
            return None;
        }
        let (kernel, pairing) = (self.kernel, form.pairing(n));
        let asked = self.computation == Computation::Fused;
        let points = |exists: fn(&Tensor<2>) -> bool| {
            let points = self.points().filter(|x| asked || exists(x))?;
            Some((points.clone(), self.bandwidth(pairing)?, kernel.fused()))
        };
        Some(match &self.road {
            Road::Labels(labels) => {
                let (points, bandwidth, kernel) = points(has_fused_pass)?;
                pair_statistic(points, labels.clone(), bandwidth, kernel, pairing)
            }
            Road::Rows(rows) => {
                let (points, bandwidth, kernel) = points(is_on_host)?;
                residual_statistic(points, rows.clone(), bandwidth, kernel, pairing)
            }
            Road::Dense(normal) => {
                let (samples, kernel) = normal.as_ref()?;
                let bandwidth = self.bandwidth(pairing)?;
                normal_statistic(samples.clone(), bandwidth, *kernel, pairing)
            }
        })
    }

    /// The bandwidth for the pairs that a fused pass takes, `[1]`.
    fn bandwidth(&self, pairing: Pairing) -> Option<Tensor<1>> {
        let points = match (self.kernel.bandwidth, &self.road) {
            (Bandwidth::Fixed(_), Road::Dense(Some((samples, _)))) => &samples.locations,
            _ => self.points()?,
        };
        let size = pairing.size(self.samples());
        let spread = || self.compared.spread();
        let bandwidth = self.kernel.bandwidth_of_pairs(points.clone(), size, spread);
        Some(bandwidth)
    }

    /// The SKCE, `[1]`, differentiable; there must be pairs of the form. None where a fused pass is asked for
    /// that does not exist.
    pub(super) fn value(&self, form: SkceForm) -> Option<Tensor<1>> {
        let mut value = self.fused(form);
        if value.is_none() && !self.needs_fused_pass() {
            let size = form.block_size(self.samples())?;
            let blocks = 0..self.samples() / size;
            value = Some(mean(self.within_blocks(blocks, size), form));
        }
        match self.share(form) {
            Some(share) => Some(value? / share),
            None => value,
        }
    }

    /// Returns whether a fused pass is asked for, and there are pairs to take.
    fn needs_fused_pass(&self) -> bool {
        self.computation == Computation::Fused && self.samples() > 1 && self.kept.is_none()
    }

    /// The SKCE, for samples that are enough for the form; in tiles where there is no fused pass.
    ///
    /// # Errors
    ///
    /// [`Error::NoFusedPath`] if a fused computation is asked for that does not exist.
    pub fn estimate(&self, form: SkceForm) -> Result<f64> {
        let n = self.samples() as f64;
        let fused = if self.has_fused_blocks(form) {
            None // some blocks at a time
        } else {
            self.fused(form)
        };
        if fused.is_none() && self.needs_fused_pass() {
            return Err(Error::NoFusedPath {
                kernel: format!("{:?} of {:?}", self.kernel, self.on_targets),
            });
        }
        let share = self.share(form).map_or(1.0, to_scalar);
        let mean = match (fused, form) {
            (Some(estimate), _) => to_scalar(estimate),
            (None, SkceForm::Biased) => self.total(0, self.samples()) / (n * n),
            (None, SkceForm::Unbiased) => {
                let total = self.total(0, self.samples());
                (total - to_scalar(self.diagonal().sum())) / (n * (n - 1.0))
            }
            (None, SkceForm::Block(size)) => {
                let blocks = self.block_estimates(size);
                blocks.iter().sum::<f64>() / blocks.len() as f64
            }
        };
        Ok(mean / share)
    }

    /// Returns whether a block estimate takes the passes over single blocks of classes.
    fn has_fused_blocks(&self, form: SkceForm) -> bool {
        matches!(
            (&self.road, form, self.computation),
            (Road::Labels(_), SkceForm::Block(_), Computation::Auto)
        ) && self.points().is_some_and(is_on_host)
    }

    /// The U-statistics of the first `⌊n/size⌋` consecutive blocks, in memory that does not grow with
    /// the blocks.
    pub fn block_estimates(&self, size: usize) -> Vec<f64> {
        let fused = self.computation != Computation::Composed;
        match (&self.road, self.points(), self.kernel.bandwidth) {
            (Road::Labels(labels), Some(points), Bandwidth::Fixed(bandwidth))
                if fused && is_on_host(points) =>
            {
                let (points, labels) = (points.clone(), labels.clone());
                block_values(points, labels, self.kernel.fused(), bandwidth, size)
            }
            _ => self.composed_block_estimates(size),
        }
    }

    fn composed_block_estimates(&self, size: usize) -> Vec<f64> {
        let pairs_of_block = (size * (size - 1)) as f64;
        let blocks = self.samples() / size;
        let totals: Vec<f64> = if size <= SIDE {
            let batch = (BATCH / (size * size)).max(1);
            let totals = |start: usize| {
                let h = self.within_blocks(start..(start + batch).min(blocks), size);
                // not subtracted from the sum: a heavy sample would leave no digits of the others
                let diagonal = Tensor::<2>::eye(size, &h.device()).bool().unsqueeze::<3>();
                let diagonal = diagonal.expand(h.dims());
                to_vec(h.mask_fill(diagonal, 0.0).sum_dims(&[1, 2]))
            };
            (0..blocks).step_by(batch).flat_map(totals).collect()
        } else {
            let diagonal = to_vec(self.diagonal());
            let total = |block: usize| {
                let of_block = &diagonal[block * size..(block + 1) * size];
                self.total(block * size, size) - of_block.iter().sum::<f64>()
            };
            (0..blocks).map(total).collect()
        };
        totals.iter().map(|total| total / pairs_of_block).collect()
    }

    /// `Σ h` over all pairs of `size` samples from `start` on, in tiles.
    fn total(&self, start: usize, size: usize) -> f64 {
        let shifted = |range: &Range<usize>| range.start + start..range.end + start;
        sum_over_pairs(size, |tile| {
            self.tile(shifted(&tile.rows), shifted(&tile.columns))
        })
    }

    /// `Σ_j h_ij` for each `i` but `j = i`, in tiles.
    pub fn row_sums(&self) -> Vec<f64> {
        self.row_sums_and_squares().0
    }

    /// The same, and `Σ_{i≠j} h_ij²`, in one pass.
    pub(crate) fn row_sums_and_squares(&self) -> (Vec<f64>, f64) {
        let diagonal = self.diagonal();
        let mut squares = -to_scalar(diagonal.clone().square().sum());
        let mut sums: Vec<f64> = to_vec(diagonal).iter().map(|h| -h).collect();
        for tile in upper_tiles(self.samples(), SIDE) {
            let of_tile = TileSums::of(self.tile(tile.rows.clone(), tile.columns.clone()));
            squares += tile.multiplicity() * of_tile.squares;
            if !tile.is_diagonal() {
                add(&mut sums[tile.columns], &of_tile.columns); // its mirror image
            }
            add(&mut sums[tile.rows], &of_tile.rows);
        }
        (sums, squares)
    }
}

/// Numbers of residuals that are computed at once.
const RESIDUALS: usize = 1 << 19;
/// Pairs whose `h` is held at once.
const BATCH: usize = 1 << 18;

/// The sums of the rows and of the columns of a tile, and that of all squares.
struct TileSums {
    rows: Vec<f64>,
    columns: Vec<f64>,
    squares: f64,
}

impl TileSums {
    fn of(h: Tensor<2>) -> Self {
        if !is_host(&h.device()) {
            return Self {
                squares: to_scalar(h.clone().square().sum()),
                rows: to_vec(h.clone().sum_dim(1)),
                columns: to_vec(h.sum_dim(0)),
            };
        }
        let [_, width] = h.dims();
        let h = to_vec(h);
        let (mut columns, mut squares) = (vec![0.0; width], 0.0);
        let rows = h.chunks(width).map(|row| {
            add(&mut columns, row);
            squares += sum(row, |x| x * x);
            sum(row, |x| x)
        });
        Self {
            rows: rows.collect(),
            columns,
            squares,
        }
    }
}

/// The sum of a function of numbers, in lanes of a vector.
fn sum(numbers: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let (vectors, rest) = numbers.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for vector in vectors {
        for (lane, &x) in lanes.iter_mut().zip(vector) {
            *lane += of(x);
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|&x| of(x)).sum::<f64>()
}

/// `a += b`.
fn add(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}
