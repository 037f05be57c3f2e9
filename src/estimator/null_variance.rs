//! The variance of `T = n·SKCE_uq` if the model is calibrated, given the predictions.

use std::ops::Range;

use burn::tensor::{Bool, Tensor};
use rand::Rng;

use super::{joint::JointKernel, pair_matrix::PairMatrix};
use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
    host::{tensor_like, to_scalar, to_vec, widened, without_diagonal},
    kernel::ClassKernel,
    ops::{covariance_sum, is_on_host},
    tiles::{SIDE, upper_tiles},
};

/// An unbiased estimate: the mean of `2 (n−1)⁻² Σ_{i≠j} h_ij²` over data sets whose targets are redrawn
/// from the predictions. Their number falls with `n²`, from 16 to 2.
pub(super) fn by_redrawing<P: Predictive, K: JointKernel<P>>(
    kernel: &K,
    predictions: &P,
    rng: &mut dyn Rng,
) -> Result<f64> {
    let n = predictions.len();
    let sets = (PAIRS / (n * n)).clamp(2, 16);
    let mut total = 0.0;
    for _ in 0..sets {
        total += sum_of_squares(&kernel.pairs(predictions, &predictions.sample(rng))?);
    }
    Ok(2.0 * total / (sets * (n - 1) * (n - 1)) as f64)
}

/// Pairs of samples over all redrawn data sets.
const PAIRS: usize = 1 << 18;

/// `Σ_{i≠j} h_ij²`.
pub(crate) fn sum_of_squares(pairs: &(impl PairMatrix + ?Sized)) -> f64 {
    let all: f64 = upper_tiles(pairs.samples(), SIDE)
        .map(|tile| {
            let h = pairs.tile(tile.rows.clone(), tile.columns.clone());
            tile.multiplicity() * to_scalar(h.square().sum())
        })
        .sum();
    all - to_scalar(pairs.diagonal().square().sum())
}

/// Exactly `2 (n−1)⁻² Σ_{i≠j} E h_ij²`, see [`VarianceFactors`].
///
/// - kernel: with a fixed bandwidth
/// - points: what it compares, the probabilities or the variable that they are given, `[n, w]`
pub(super) fn of_classes(
    kernel: &impl ClassKernel,
    predictions: &Categorical,
    points: Tensor<2>,
) -> f64 {
    let [p, points] = [predictions.probabilities(), points].map(|x| widened(x.detach()));
    let n = predictions.len();
    let on_host = covariances_on_host(kernel, &p, &points);
    let total = on_host.unwrap_or_else(|| covariances(kernel, p, points));
    2.0 * total.max(0.0) / ((n - 1) * (n - 1)) as f64
}

/// `Σ_{i≠j} E h_ij²` in one pass over the pairs; None where there is none.
fn covariances_on_host(
    kernel: &impl ClassKernel,
    p: &Tensor<2>,
    points: &Tensor<2>,
) -> Option<f64> {
    let fused = kernel.fused()?;
    if kernel.matrix().is_some() || !is_on_host(p) {
        return None;
    }
    let scalar = kernel.scalar();
    let bandwidth = to_scalar(scalar.bandwidth_of_pairs(points.clone(), p.dims()[0], || None));
    Some(covariance_sum(points.clone(), p.clone(), fused, bandwidth))
}

/// `Σ_{i≠j} E h_ij²` by tensor operations, in tiles.
fn covariances(kernel: &impl ClassKernel, p: Tensor<2>, points: Tensor<2>) -> f64 {
    let (scalar, n) = (kernel.scalar(), p.dims()[0]);
    let factors = VarianceFactors::new(kernel, p);
    let points = |rows: &Range<usize>| points.clone().slice(rows.clone()).unsqueeze();
    let total: f64 = upper_tiles(n, SIDE)
        .map(|tile| {
            let (rows, columns) = (factors.slice(&tile.rows), factors.slice(&tile.columns));
            let gram = scalar.between(points(&tile.rows), points(&tile.columns));
            let terms = gram.squeeze_dim::<2>(0).square() * rows.traces(&columns); // [rows, columns]
            tile.multiplicity() * to_scalar(terms.sum())
        })
        .sum();
    let diagonal: f64 = to_vec(factors.diagonal()).iter().sum();
    total - diagonal
}

/// The standard deviation of the unbiased SKCE of classes, see [`deviation`].
pub(super) fn deviation_of_classes(
    kernel: &impl ClassKernel,
    predictions: &Categorical,
    points: Tensor<2>,
    kept: Option<Tensor<1, Bool>>,
) -> Tensor<1> {
    let (p, points) = (predictions.probabilities().detach(), points.detach());
    let bound = kernel.half_bound();
    let options = (&p.device(), p.dtype());
    let on_host = match kept {
        None => covariances_on_host(kernel, &p, &points),
        Some(_) => None,
    };
    match on_host {
        Some(sum) => {
            let n = p.dims()[0];
            let sum = (2.0 * sum).max(4.0 * bound * bound);
            Tensor::from_data([sum.sqrt() / (n * (n - 1)) as f64], options)
        }
        None => {
            let gram = kernel.scalar().gram(points.unsqueeze());
            let factors = VarianceFactors::new(kernel, p);
            let squares = gram.squeeze_dim::<2>(0).square() * factors.traces(&factors);
            deviation(squares, kept, bound)
        }
    }
}

/// The standard deviation of the unbiased SKCE, `√(2 Σ_{i≠j} E h_ij²)/(n(n−1))`, at least
/// `2·bound/(n(n−1))`: `[1]`.
///
/// - squares: `E h_ij²`, `[n, n]`
/// - kept: whether a sample counts, `[n]`
pub(super) fn deviation(
    squares: Tensor<2>,
    kept: Option<Tensor<1, Bool>>,
    bound: f64,
) -> Tensor<1> {
    let n = squares.dims()[0];
    let ones = Tensor::<1>::ones([n], (&squares.device(), squares.dtype()));
    let counts = match kept {
        None => ones,
        Some(kept) => ones.mask_fill(kept.bool_not(), 0.0),
    };
    let counts = counts.unsqueeze::<2>(); // [1, n]
    let pairs = without_diagonal(counts.clone().transpose() * counts); // [n, n]
    let sum = (squares * pairs.clone()).sum();
    // rounding can take a sum of nothing below 0
    (sum * 2.0).clamp_min(4.0 * bound * bound).sqrt() / pairs.sum().clamp_min(1.0)
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
    fn new(kernel: &impl ClassKernel, p: Tensor<2>) -> Self {
        let (mp, weighted) = match kernel.matrix() {
            None => (p.clone(), p.clone()),
            Some(matrix) => {
                let square = |row: &Vec<f64>| row.iter().map(|entry| entry * entry).collect();
                let squares: Vec<Vec<f64>> = matrix.iter().map(square).collect();
                (times(&p, matrix), times(&p, &squares))
            }
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

    /// The traces of each sample with itself, `[n, 1]`.
    fn diagonal(&self) -> Tensor<2> {
        let dot = |x: Tensor<2>| (x * self.p.clone()).sum_dim(1);
        dot(self.weighted.clone()) - dot(self.mp.clone().square()) * 2.0
            + dot(self.mp.clone()).square()
    }
}

/// `x M`, for rows `x` and a symmetric matrix.
fn times(x: &Tensor<2>, matrix: &[Vec<f64>]) -> Tensor<2> {
    let m = matrix.len();
    x.clone().matmul(tensor_like(matrix.concat(), [m, m], x))
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device, TensorData, activation::softmax};

    use super::*;
    use crate::kernel::{Bandwidth, Kernel};

    /// In several tiles of rows and columns, as of tensor operations.
    #[test]
    fn covariances_in_tiles() {
        let (n, m) = (470, 900);
        let logits: Vec<f64> = (0..n * m).map(|k| 9.0 * (k as f64 * 0.37).sin()).collect();
        let logits = TensorData::new(logits, [n, m]);
        let logits = Tensor::<2>::from_data(logits, (&Device::default(), DType::F64));
        let p = softmax(logits, 1);
        let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.3));
        let expected = covariances(&kernel, p.clone(), p.clone());
        if let Some(found) = covariances_on_host(&kernel, &p, &p) {
            assert!(
                (found - expected).abs() < 1e-12 * expected,
                "{found}, {expected}"
            );
        }
    }
}
