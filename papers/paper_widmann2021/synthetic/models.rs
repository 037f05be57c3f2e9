//! Models whose predictions and targets are drawn.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_calibration::distribution::Normal;
use rand::{RngExt, rngs::StdRng};
use rand_distr::{Distribution, StandardNormal};

/// The standard deviation of all predictions and targets.
const SIGMA: f64 = 0.1;
/// The mean of the first coordinate of the targets of the uncalibrated model.
const FIRST: f64 = 0.1;

/// Predictions `N(c·1, 0.1² I)` with `c ∼ U(0, 1)`. The targets of the calibrated model come from them;
/// the first coordinate of those of the uncalibrated model has the mean 0.1 instead.
#[derive(Clone, Copy, PartialEq)]
pub enum Model {
    Calibrated,
    Uncalibrated,
}

impl Model {
    pub fn name(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated",
            Self::Uncalibrated => "uncalibrated",
        }
    }

    /// `n` predictions and targets of dimension `d`.
    pub fn sample(self, n: usize, d: usize, rng: &mut StdRng) -> (Normal, Tensor<2>) {
        let mut means = Vec::with_capacity(n * d);
        let mut targets = Vec::with_capacity(n * d);
        for _ in 0..n {
            let c: f64 = rng.random();
            for coordinate in 0..d {
                let centre = match (self, coordinate) {
                    (Self::Uncalibrated, 0) => FIRST,
                    _ => c,
                };
                means.push(c);
                targets.push(centre + SIGMA * standard(rng));
            }
        }
        (normal(means, d), rows(targets, d))
    }

    /// The squared kernel calibration error for the [`kernel`](crate::kernel::kernel).
    ///
    /// With `G(Δ) = E exp(−(X − X')²/2)` for normal `X` and `X'` whose means are `Δ` apart, it is the mean
    /// of `exp(−√d|c − c'|) G(c − c')^{d−1} [G(0) − G(c − 0.1) − G(c' − 0.1) + G(c − c')]` over
    /// independent uniform `c` and `c'`.
    pub fn error(self, d: usize) -> f64 {
        if self == Self::Calibrated {
            return 0.0;
        }
        let variance = 1.0 + 2.0 * SIGMA * SIGMA;
        let g = |delta: f64| (-delta * delta / (2.0 * variance)).exp() / variance.sqrt();
        let integrand = |(c, c_): (f64, f64)| {
            let gram = (-(d as f64).sqrt() * (c - c_).abs()).exp();
            let others = g(c - c_).powi(d as i32 - 1);
            gram * others * (g(0.0) - g(c - FIRST) - g(c_ - FIRST) + g(c - c_))
        };
        let points = || (0..POINTS).map(|i| (i as f64 + 0.5) / POINTS as f64);
        let square = points().flat_map(|c| points().map(move |c_| (c, c_)));
        square.map(integrand).sum::<f64>() / (POINTS * POINTS) as f64
    }
}

/// Midpoints of each axis of the integral.
const POINTS: usize = 1000;

/// Test locations of the CME: predictions `N(u, 0.1² I)` with `u` uniform in the hypercube, targets
/// from `N(0, 0.1² I)`.
pub fn locations(count: usize, d: usize, rng: &mut StdRng) -> (Normal, Tensor<2>) {
    let means = (0..count * d).map(|_| rng.random()).collect();
    let targets = (0..count * d).map(|_| SIGMA * standard(rng)).collect();
    (normal(means, d), rows(targets, d))
}

fn normal(means: Vec<f64>, d: usize) -> Normal {
    let means = rows(means, d);
    let deviations = means.full_like(SIGMA);
    Normal::new(means, deviations)
}

fn rows(values: Vec<f64>, d: usize) -> Tensor<2> {
    let shape = [values.len() / d, d];
    let options = (&Device::default(), DType::F64);
    Tensor::from_data(TensorData::new(values, shape), options)
}

fn standard(rng: &mut StdRng) -> f64 {
    StandardNormal.sample(rng)
}
