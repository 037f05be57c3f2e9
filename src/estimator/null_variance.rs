//! The variance of `T = n·SKCE_uq` if the model is calibrated, given the predictions.

use burn::tensor::Tensor;
use rand::Rng;

use super::{joint::JointKernel, pair_matrix::PairMatrix};
use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
    host::{tensor_like, to_scalar, to_vec, widened},
    kernel::ClassKernel,
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
fn sum_of_squares(pairs: &impl PairMatrix) -> f64 {
    let all: f64 = upper_tiles(pairs.samples(), SIDE)
        .map(|tile| {
            let h = pairs.tile(tile.rows.clone(), tile.columns.clone());
            tile.multiplicity() * to_scalar(h.square().sum())
        })
        .sum();
    all - to_scalar(pairs.diagonal().square().sum())
}

/// Exactly `2 (n−1)⁻² Σ_{i≠j} k(p_i, p_j)² tr(M C_i M C_j)`, with `C_i = diag(p_i) − p_i p_iᵀ`.
///
/// The covariance of `δ_i` given `p_i` is known, `C_i`, hence no label is needed. With the elementwise
/// square `M∘M`, the trace is
/// `p_iᵀ(M∘M)p_j − p_i·(Mp_j)² − (Mp_i)²·p_j + (p_iᵀMp_j)²`, squares of vectors by coordinate.
///
/// - kernel: with a fixed bandwidth
pub(super) fn of_classes(kernel: &impl ClassKernel, predictions: &Categorical) -> f64 {
    let scalar = kernel.scalar();
    let p = widened(predictions.probabilities().detach()); // [n, m]
    let (mp, weighted) = match kernel.matrix() {
        None => (p.clone(), p.clone()),
        Some(matrix) => {
            let square = |row: &Vec<f64>| row.iter().map(|entry| entry * entry).collect();
            let squares: Vec<Vec<f64>> = matrix.iter().map(square).collect();
            (times(&p, matrix), times(&p, &squares))
        }
    };
    let mp_squared = mp.clone().square();
    let n = predictions.len();
    let total: f64 = upper_tiles(n, SIDE)
        .map(|tile| {
            let rows = |x: &Tensor<2>| x.clone().slice(tile.rows.clone());
            let columns = |x: &Tensor<2>| x.clone().slice(tile.columns.clone());
            let gram = scalar.between(rows(&p).unsqueeze(), columns(&p).unsqueeze());
            let traces = rows(&weighted).matmul(columns(&p).transpose())
                - rows(&p).matmul(columns(&mp_squared).transpose())
                - rows(&mp_squared).matmul(columns(&p).transpose())
                + rows(&mp).matmul(columns(&p).transpose()).square();
            let terms = gram.squeeze_dim::<2>(0).square() * traces; // [rows, columns]
            tile.multiplicity() * to_scalar(terms.sum())
        })
        .sum();
    // k(p_i, p_i) = 1
    let dot = |x: &Tensor<2>| (x.clone() * p.clone()).sum_dim(1); // [n, 1]
    let diagonal = dot(&weighted) - dot(&mp_squared) * 2.0 + dot(&mp).square();
    let diagonal: f64 = to_vec(diagonal).iter().sum();
    2.0 * (total - diagonal).max(0.0) / ((n - 1) * (n - 1)) as f64
}

/// `x M`, for rows `x` and a symmetric matrix.
fn times(x: &Tensor<2>, matrix: &[Vec<f64>]) -> Tensor<2> {
    let m = matrix.len();
    x.clone().matmul(tensor_like(matrix.concat(), [m, m], x))
}
