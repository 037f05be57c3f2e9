//! Maps of predictive distributions.

use crate::prelude::*;

mod auto;
mod influence;
mod local;
mod location_scale;
mod properties;
mod quantile;
mod skce;
mod temperature;
mod tempered;
mod variance;

/// `[n, d]` in f64, row after row.
pub fn matrix(values: &[f64], d: usize) -> Tensor<2> {
    let data = TensorData::new(values.to_vec(), [values.len() / d, d]);
    Tensor::from_data(data, (&device(), DType::F64))
}

/// `n` numbers in `(0.01, 0.99)`, evenly spread: multiples of an irrational number modulo 1.
pub fn spread(n: usize, irrational: f64) -> Vec<f64> {
    let number = |i: usize| (i as f64 * irrational).fract() * 0.98 + 0.01;
    (0..n).map(number).collect()
}

pub fn u(n: usize) -> Vec<f64> {
    spread(n, 0.6180339887498949)
}

pub fn v(n: usize) -> Vec<f64> {
    spread(n, 0.7548776662466927)
}

/// One row again and again.
fn repeated(row: &[f64], n: usize) -> Tensor<2> {
    matrix(&row.repeat(n), row.len())
}

/// The CRPS of normal predictions in closed form.
fn crps(p: &Normal, y: &Tensor<2>) -> Tensor<1> {
    let z = (y.clone() - p.mean()) / p.standard_deviation();
    let density = (z.clone().square() * -0.5).exp() * (2.0 / std::f64::consts::TAU.sqrt());
    let term = z * (p.cdf(y) * 2.0 - 1.0) + density - std::f64::consts::PI.sqrt().recip();
    (p.standard_deviation() * term).mean()
}

fn log_score(p: &Normal, y: &Tensor<2>) -> Tensor<1> {
    p.log_density(y).mean().neg()
}

#[track_caller]
fn close(got: f64, expected: f64, tolerance: f64) {
    let scale = 1.0 + expected.abs();
    assert_near(got, expected, tolerance * scale);
}
