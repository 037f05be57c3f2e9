//! The variance of `T = n·SKCE_uq` if the model is calibrated, given the predictions.

use std::ops::Range;

use burn::tensor::{Bool, Tensor};
use rand::Rng;

use super::{PairMatrix, joint::JointKernel, skce::weights_of_kept};
use crate::{
    distribution::Geometry,
    error::{Result, check_samples},
    host::{widened, without_diagonal},
    kernel::{Bandwidth, Kernel, KnownKernel, OnClasses},
    ops::{Computation, is_on_host},
    tiles::sum_over_pairs,
};

/// Class predictions, a kernel on them, and the points that it compares: the probabilities, or the variable
/// that they are given.
pub(super) struct Compared<'a> {
    pub kernel: Kernel,
    pub points: Tensor<2>,
    pub classes: OnClasses<'a>,
}

impl<'a> Compared<'a> {
    /// None where predictions are not of classes.
    pub fn new<P: Geometry, K: JointKernel<P>>(kernel: &'a K, predictions: &'a P) -> Option<Self> {
        let known = kernel.on_targets().known(predictions.unconditional());
        let Some(KnownKernel::Classes(classes)) = known else {
            return None;
        };
        Some(Self {
            kernel: kernel.on_predictions(),
            points: predictions.coordinates()?.detach(),
            classes: OnClasses {
                probabilities: classes.probabilities.detach(),
                ..classes
            },
        })
    }

    /// In f64 where the device has it.
    pub fn widened(self) -> Self {
        Self {
            points: widened(self.points),
            classes: OnClasses {
                probabilities: widened(self.classes.probabilities),
                ..self.classes
            },
            ..self
        }
    }

    /// `Σ_{i≠j} E h_ij²`, in tiles. A median bandwidth is that of all points on the host.
    fn covariances(&self) -> f64 {
        let kernel = self.kernel.fixed_on_host(self.points.clone(), || None);
        let factors = VarianceFactors::new(&self.classes);
        let points = |rows: &Range<usize>| self.points.clone().slice(rows.clone()).unsqueeze();
        sum_over_pairs(self.points.dims()[0], |tile| {
            let (rows, columns) = (factors.slice(&tile.rows), factors.slice(&tile.columns));
            let gram = kernel.between(points(&tile.rows), points(&tile.columns));
            let squares = gram.squeeze_dim::<2>(0).square() * rows.traces(&columns);
            if tile.is_diagonal() {
                without_diagonal(squares)
            } else {
                squares
            }
        })
    }
}

/// The variance of `n·SKCE_uq` if the model is calibrated, given the predictions, `2 (n−1)⁻² Σ_{i≠j} E
/// h_ij²`; the bandwidth must be fixed. Exact for classes, see
/// [`AsymptoticSkceTest`](crate::hypothesis::AsymptoticSkceTest); otherwise the mean over data sets whose
/// targets are redrawn from the predictions, which is unbiased. Their number falls with `n²`, from 16 to 2.
///
/// # Errors
///
/// As [`JointKernel::pairs`]; fewer than two samples.
pub fn null_variance<P: Geometry, K: JointKernel<P>>(
    kernel: &K,
    predictions: &P,
    rng: &mut dyn Rng,
) -> Result<f64> {
    predictions.check()?;
    let n = predictions.len();
    check_samples("the variance of the unbiased SKCE", 2, n)?;
    let mean = match Compared::new(kernel, predictions).map(Compared::widened) {
        Some(classes) => classes.covariances().max(0.0),
        None => {
            let sets = (PAIRS / (n * n)).clamp(2, 16);
            let mut total = 0.0;
            for _ in 0..sets {
                let targets = predictions.sample(rng);
                total += kernel
                    .pairs(predictions, &targets)?
                    .row_sums_and_squares()
                    .1;
            }
            total / sets as f64
        }
    };
    Ok(2.0 * mean / ((n - 1) * (n - 1)) as f64)
}

/// Pairs of samples over all redrawn data sets.
const PAIRS: usize = 1 << 18;

/// The standard deviation of the unbiased SKCE, see [`JointKernel::null_deviation`].
pub(crate) fn deviation<P: Geometry, K: JointKernel<P>>(
    kernel: &K,
    predictions: &P,
    targets: &P::Targets,
    (kept, weights): (Option<Tensor<1, Bool>>, Option<Tensor<2>>),
) -> Tensor<1> {
    let (n, bound) = (predictions.len(), kernel.half_bound());
    let squares = match Compared::new(kernel, predictions) {
        Some(classes) => {
            if kept.is_none() && weights.is_none() && n > 1 && is_on_host(&classes.points) {
                let sum = (2.0 * classes.covariances()).max(4.0 * bound * bound);
                let options = (&predictions.device(), predictions.dtype());
                return Tensor::from_data([sum.sqrt() / (n * (n - 1)) as f64], options);
            }
            let points = classes.points.clone().unsqueeze();
            let gram = classes.kernel.gram_of_kept(points, kept.clone());
            let factors = VarianceFactors::new(&classes.classes);
            gram.squeeze_dim::<2>(0).square() * factors.traces(&factors)
        }
        None => {
            let pairs = PairMatrix::unchecked(kernel, Computation::Auto, predictions, targets);
            let pairs = pairs.with_median_of(kept.clone());
            let h = match kernel.on_predictions().bandwidth {
                Bandwidth::Fixed(_) => pairs.tile(0..n, 0..n),
                _ => pairs.within_blocks(0..1, n).squeeze_dim(0),
            };
            h.square()
        }
    };
    let counts = weights_of_kept(weights, kept, &squares);
    let counts = counts.unwrap_or_else(|| squares.ones_like().slice([0..n, 0..1])); // [n, 1]
    let pairs = without_diagonal(counts.clone() * counts.transpose()); // [n, n]
    let sum = (squares * pairs.clone().square()).sum();
    // rounding can take a sum of nothing below 0
    let least = pairs.clone().max().square() * (4.0 * bound * bound);
    let total = pairs.sum();
    let none = total.clone().lower_equal_elem(0.0);
    (sum * 2.0)
        .max_pair(least.mask_fill(none.clone(), 1.0))
        .sqrt()
        / total.mask_fill(none, 1.0)
}

/// The factors of `E[(δ_iᵀ M δ_j)²] = tr(M C_i M C_j)` with the covariances `C_i = diag(p_i) − p_i p_iᵀ` of the
/// residuals, which are known given the predictions, so that no label is needed. With the elementwise
/// square `M∘M`, the trace is
/// `p_iᵀ(M∘M)p_j − p_i·(Mp_j)² − (Mp_i)²·p_j + (p_iᵀMp_j)²`, squares of vectors by coordinate.
struct VarianceFactors {
    /// `p`, `[n, m]`
    p: Tensor<2>,
    /// `Mp`
    mp: Tensor<2>,
    /// `(M∘M)p`
    weighted: Tensor<2>,
}

impl VarianceFactors {
    fn new(classes: &OnClasses) -> Self {
        let p = classes.probabilities.clone();
        let (mp, weighted) = match classes.matrix {
            None => (p.clone(), p.clone()),
            Some(matrix) => (matrix.times(p.clone()), matrix.times_squares(p.clone())),
        };
        Self { p, mp, weighted }
    }

    fn slice(&self, rows: &Range<usize>) -> Self {
        let of = |x: &Tensor<2>| x.clone().slice(rows.clone());
        Self {
            p: of(&self.p),
            mp: of(&self.mp),
            weighted: of(&self.weighted),
        }
    }

    /// The traces of all pairs, `[n, k]`.
    fn traces(&self, other: &Self) -> Tensor<2> {
        let product = |x: &Tensor<2>, y: Tensor<2>| x.clone().matmul(y.transpose());
        product(&self.weighted, other.p.clone())
            - product(&self.p, other.mp.clone().square())
            - product(&self.mp.clone().square(), other.p.clone())
            + product(&self.mp, other.p.clone()).square()
    }
}
