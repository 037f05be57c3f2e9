use burn::tensor::Tensor;
use burn_calibration::distribution::Normal;
use rand::rngs::StdRng;
use rand_distr::{Distribution, StandardNormal};

use crate::data::*;

/// `N(0, 1)` in each coordinate, and targets from it times a factor.
pub fn standard(n: usize, d: usize, factor: f64, rng: &mut StdRng) -> (Normal, Tensor<2>) {
    let mut draw = || {
        let z: f64 = StandardNormal.sample(rng);
        factor * z
    };
    let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| draw()).collect()).collect();
    let targets = tensor(&rows);
    let predictions = Normal::new(targets.zeros_like(), targets.ones_like());
    (predictions, targets)
}
