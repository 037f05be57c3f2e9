//! Predictions as rows on the host, and `h` by hand.

use crate::prelude::*;

/// Locations, scales and targets of `n` samples of dimension `d`.
#[derive(Clone)]
pub struct Rows {
    pub location: Vec<Vec<f64>>,
    pub scale: Vec<Vec<f64>>,
    pub target: Vec<Vec<f64>>,
}

impl Rows {
    pub fn random(n: usize, d: usize, rng: &mut StdRng) -> Self {
        let mut scales = || (0..d).map(|_| rng.random_range(0.2..2.0)).collect();
        Self {
            scale: (0..n).map(|_| scales()).collect(),
            location: random_rows(n, d, 2.0, rng),
            target: random_rows(n, d, 3.0, rng),
        }
    }

    pub fn normal(&self) -> Normal {
        Normal::new(tensor(&self.location), tensor(&self.scale))
    }

    pub fn laplace(&self) -> Laplace {
        Laplace::new(tensor(&self.location), tensor(&self.scale))
    }
}

/// `exp(−W₂/ν) ⊗ exp(−‖y − y'‖²/2ℓ²)`.
pub fn gaussian(bandwidth: f64, length: f64) -> TensorKernel<RealKernel> {
    TensorKernel::wasserstein(RealKernel::gaussian(length))
        .with_bandwidth(Bandwidth::Fixed(bandwidth))
}

/// `exp(−W₂/ν) ⊗ exp(−‖y − y'‖₁/ℓ)`.
pub fn laplacian(bandwidth: f64, length: f64) -> TensorKernel<RealKernel> {
    TensorKernel::wasserstein(RealKernel::laplacian(length))
        .with_bandwidth(Bandwidth::Fixed(bandwidth))
}

/// `E exp(−(Z − y)²/2ℓ²)` for `Z ∼ N(μ, v)`, at `Δ = μ − y`.
pub fn gaussian_factor(delta: f64, variance: f64, length: f64) -> f64 {
    let l2 = length * length;
    (1.0 + variance / l2).sqrt().recip() * (-delta * delta / (2.0 * (l2 + variance))).exp()
}

/// `h` of two normal predictions by the formula of widmann2021, coordinate by coordinate.
pub fn normal_h(rows: &Rows, i: usize, j: usize, bandwidth: f64, length: f64) -> f64 {
    let d = rows.location[i].len();
    let (mut distance, mut terms) = (0.0, [1.0; 4]);
    for c in 0..d {
        let (m, n) = (rows.location[i][c], rows.location[j][c]);
        let (s, t) = (rows.scale[i][c], rows.scale[j][c]);
        let (y, z) = (rows.target[i][c], rows.target[j][c]);
        distance += (m - n).powi(2) + (s - t).powi(2);
        terms[0] *= gaussian_factor(y - z, 0.0, length);
        terms[1] *= gaussian_factor(m - z, s * s, length);
        terms[2] *= gaussian_factor(n - y, t * t, length);
        terms[3] *= gaussian_factor(m - n, s * s + t * t, length);
    }
    (-distance.sqrt() / bandwidth).exp() * (terms[0] - terms[1] - terms[2] + terms[3])
}
