//! A null from moments: a shifted gamma distribution (Pearson's type III).

use burn::tensor::Tensor;
use statrs::distribution::{ContinuousCDF, Gamma, Normal};

use crate::{
    distribution::Categorical,
    host::{to_scalar, widened},
    kernel::Kernel,
    tiles::{SIDE, upper_tiles},
};

/// The variance of `T = n·SKCE_uq` if the model is calibrated, given the predictions: exactly
/// `2 (n−1)⁻² Σ_{i≠j} k(p_i, p_j)² tr(C_i C_j)`, with `C_i = diag(p_i) − p_i p_iᵀ`.
///
/// The covariance of `δ_i` given `p_i` is known, `C_i`, hence no label is needed. Its trace is
/// `tr(C_i C_j) = p_i·p_j − p_i²·p_j − p_i·p_j² + (p_i·p_j)²`, squares of vectors by coordinate.
///
/// - kernel: with a fixed bandwidth
pub(super) fn conditional_variance(kernel: &Kernel, predictions: &Categorical) -> f64 {
    let points = widened(predictions.probabilities().detach());
    let squares = points.clone().square();
    let n = predictions.samples();
    let total: f64 = upper_tiles(n, SIDE)
        .map(|tile| {
            let rows = |x: &Tensor<2>| x.clone().slice(tile.rows.clone());
            let columns = |x: &Tensor<2>| x.clone().slice(tile.columns.clone());
            let kernel = kernel.between(rows(&points).unsqueeze(), columns(&points).unsqueeze());
            let traces = covariance_traces(
                rows(&points),
                rows(&squares),
                columns(&points).transpose(),
                columns(&squares).transpose(),
            );
            let terms = kernel.squeeze_dim::<2>(0).square() * traces; // [rows, columns]
            tile.multiplicity() * to_scalar(terms.sum())
        })
        .sum();
    // k(p_i, p_i) = 1
    let dot = squares.clone().sum_dim(1); // p·p, [n, 1]
    let cubes = (points * squares).sum_dim(1);
    let diagonal = to_scalar((dot.clone() - cubes * 2.0 + dot.square()).sum());
    2.0 * (total - diagonal).max(0.0) / ((n - 1) * (n - 1)) as f64
}

/// `tr(C_i C_j)` between rows `p_i` of `p`, `[a, m]`, and columns `q_j` of `q`, `[m, b]`: `[a, b]`.
fn covariance_traces(
    p: Tensor<2>,
    p_squared: Tensor<2>,
    q: Tensor<2>,
    q_squared: Tensor<2>,
) -> Tensor<2> {
    let dot = p.clone().matmul(q.clone());
    dot.clone() - p_squared.matmul(q) - p.matmul(q_squared) + dot.square()
}

/// The skewness `E[T³]/E[T²]^{3/2}` of `T` under the hypothesis, from unbiased estimates of both
/// moments of `U = T/n` over `s` samples, and between 0 and √8 as it is in the limit.
///
/// `(n−1)² E[T²] = 2 n(n−1) E[h_12²]`,
/// `(n−1)³ E[T³] = 8 n(n−1)(n−2) E[h_12 h_23 h_31] + 4 n(n−1) E[h_12³]`.
///
/// - h: `[s, s]` with zero diagonal
pub(super) fn skewness(h: Tensor<2>, samples: usize) -> f64 {
    let s = h.dims()[0] as f64;
    let n = samples as f64;
    let pairs = s * (s - 1.0);
    let triples = (pairs * (s - 2.0)).max(1.0);
    let square = h.clone().square();
    let second = to_scalar(square.clone().sum()) / pairs; // E[h_12²]
    let cube = to_scalar((square * h.clone()).sum()) / pairs; // E[h_12³]
    let triangle = to_scalar((h.clone().matmul(h.clone()) * h).sum()) / triples;
    let variance = 2.0 * n * (n - 1.0) * second;
    let third = n * (n - 1.0) * (8.0 * (n - 2.0) * triangle + 4.0 * cube);
    let skewness = third / variance.powf(1.5);
    if skewness.is_finite() {
        skewness.clamp(0.0, 8f64.sqrt())
    } else {
        0.0 // no variance
    }
}

/// The upper tail of the gamma distribution, shifted to mean 0, with the given standard deviation
/// and skewness `g`: `P((G − a)/√a ≥ t/σ)` with `G ∼ Gamma(a, 1)`, `a = 4/g²`; normal for `g → 0`.
///
/// A deviation of 0 is a point mass at 0.
pub(super) fn upper_tail(t: f64, deviation: f64, skewness: f64) -> f64 {
    if deviation == 0.0 {
        return f64::from(t <= 0.0);
    }
    let x = t / deviation;
    if skewness < 1e-3 {
        return Normal::standard().sf(x);
    }
    let shape = 4.0 / (skewness * skewness);
    let gamma = Gamma::new(shape, 1.0).expect("a positive shape");
    gamma.sf(shape + shape.sqrt() * x)
}
