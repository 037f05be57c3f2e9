//! A null from eigenvalues: replicates of `Σ_k λ_k (Z_k² − 1)`.

use burn::tensor::Tensor;
use nalgebra::DMatrix;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::host::{to_vec, without_diagonal};

/// The fewest samples whose matrix can be centred.
pub(super) const FEWEST: usize = 4;

/// Replicates of `Σ_k λ_k (Z_k² − 1)` with standard normal `Z_k`, for the eigenvalues `λ_k` of the
/// centred matrix over `s − 1`.
///
/// - h: `[s, s]` with zero diagonal
///
/// The diagonal stays 0: a diagonal of `h_ii` adds `n⁻¹ Σ_i h_ii²` to `Σ_k λ_k²`, which makes the
/// null too wide on small data, and the test conservative.
pub(super) fn replicates(h: Tensor<2>, replicates: usize, rng: &mut dyn Rng) -> Vec<f64> {
    let eigenvalues = eigenvalues(h);
    let mut draw = || {
        let term = |&eigenvalue: &f64| {
            let z: f64 = StandardNormal.sample(rng);
            eigenvalue * (z * z - 1.0)
        };
        eigenvalues.iter().map(term).sum()
    };
    (0..replicates).map(|_| draw()).collect()
}

fn eigenvalues(h: Tensor<2>) -> Vec<f64> {
    let [size, _] = h.dims();
    let values = to_vec(centred(h));
    let matrix = DMatrix::from_row_slice(size, size, &values) / (size as f64 - 1.0);
    matrix.symmetric_eigenvalues().as_slice().to_vec()
}

/// The unbiased centring of a matrix with zero diagonal, so that rows sum to 0 and the diagonal
/// stays 0: `h_ij − (s−2)⁻¹ (Σ_k h_ik + Σ_k h_kj) + ((s−1)(s−2))⁻¹ Σ_kl h_kl`.
fn centred(h: Tensor<2>) -> Tensor<2> {
    let [size, _] = h.dims();
    let s = size as f64;
    let rows = h.clone().sum_dim(1) * (s - 2.0).recip(); // [s, 1]
    let columns = h.clone().sum_dim(0) * (s - 2.0).recip(); // [1, s]
    let total = h.clone().sum().reshape([1, 1]) * ((s - 1.0) * (s - 2.0)).recip(); // [1, 1]
    without_diagonal(h - rows - columns + total)
}
