//! Distributions over real vectors: moments, distribution functions, scores, calibration of quantiles.

mod marginals;
mod regression;
mod score_data;
mod score_gradients;
mod scores;

use crate::prelude::*;

/// Draws `[n, S, d]` in f64.
fn samples(draws: &[Vec<Vec<f64>>]) -> Samples {
    Samples::new(draws_of(draws, DType::F64))
}

fn draws_of(draws: &[Vec<Vec<f64>>], dtype: DType) -> Tensor<3> {
    let shape = [draws.len(), draws[0].len(), draws[0][0].len()];
    let values = draws.iter().flatten().flatten().copied().collect();
    Tensor::from_data(TensorData::new::<f64, _>(values, shape), (&device(), dtype))
}

/// The same number for every row: a prediction with `n` targets.
fn repeated(value: f64, n: usize) -> Tensor<2> {
    column(vec![value; n])
}

/// `n` times the mixture of three normals that the references are of.
const WEIGHTS: [f64; 3] = [0.2, 0.5, 0.3];
const LOCATIONS: [f64; 3] = [-1.0, 0.5, 2.0];
const SCALES: [f64; 3] = [0.5, 1.0, 0.25];

fn weights(n: usize) -> Tensor<2> {
    tensor(&vec![WEIGHTS.to_vec(); n])
}

fn parameters(n: usize) -> (Tensor<2>, Tensor<2>) {
    (column(LOCATIONS.repeat(n)), column(SCALES.repeat(n)))
}

fn normal_mixture(n: usize) -> Mixture<Normal> {
    let (location, scale) = parameters(n);
    Mixture::new(weights(n), Normal::new(location, scale))
}

fn laplace_mixture(n: usize) -> Mixture<Laplace> {
    let (location, scale) = parameters(n);
    Mixture::new(weights(n), Laplace::new(location, scale))
}

/// Positive numbers, `n × m`, uniform in `[low, high]`.
fn positive_rows(n: usize, m: usize, [low, high]: [f64; 2], rng: &mut StdRng) -> Vec<Vec<f64>> {
    let mut row = || (0..m).map(|_| rng.random_range(low..high)).collect();
    (0..n).map(|_| row()).collect()
}

/// Compares the gradient of the sum of `f` with central differences, for every entry of every parameter, each of which
/// has an effect.
#[track_caller]
fn check_gradients<const D: usize>(
    parameters: &[Vec<Vec<f64>>],
    f: impl Fn(Vec<Tensor<2>>) -> Tensor<D>,
) {
    let largest = gradients_are_differences(parameters, 1e-5, f);
    assert!(largest.iter().all(|g| *g > 0.0), "{largest:?}");
}
