//! A null from moments: a shifted gamma distribution (Pearson's type III).

use burn::tensor::Tensor;
use statrs::distribution::{ContinuousCDF, Gamma, Normal};

use crate::host::to_scalar;

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
