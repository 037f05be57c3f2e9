//! What most tests use: the library, tensors in f64 on the Flex backend, random data, brute-force references.

use std::{borrow::Borrow, path::PathBuf};

use proptest::test_runner::{Config, RngSeed};

pub use burn::tensor::{DType, Device, Int, Tensor, TensorData};
pub use burn_calibration::{
    distribution::*, error::Error, estimator::*, hypothesis::*, kernel::*, loss::*, ops::*,
    recalibration::*, score::*,
};
pub use rand::{RngExt, SeedableRng, rngs::StdRng};

pub use self::checks::*;
pub use crate::messages::says;

#[path = "checks.rs"]
mod checks;

/// The folder of real data, named by the variable `BURN_CALIBRATION_DATA`, which the tests that are ignored need.
pub fn data_folder() -> PathBuf {
    let folder = std::env::var_os("BURN_CALIBRATION_DATA");
    folder
        .expect("BURN_CALIBRATION_DATA names the data folder")
        .into()
}

pub fn device() -> Device {
    Device::flex()
}

pub fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// So many cases of a property, the same in every run; `PROPTEST_RNG_SEED` chooses others.
pub fn cases(cases: u32) -> Config {
    let default = Config::with_cases(cases);
    let rng_seed = match default.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        chosen => chosen,
    };
    Config {
        rng_seed,
        failure_persistence: None,
        ..default
    }
}

/// Rows as an f64 tensor.
pub fn tensor(rows: &[Vec<f64>]) -> Tensor<2> {
    tensor_on(rows, &device(), DType::F64)
}

pub fn tensor_on(rows: &[Vec<f64>], device: &Device, dtype: DType) -> Tensor<2> {
    let shape = [rows.len(), rows.first().map_or(0, Vec::len)];
    Tensor::from_data(TensorData::new(rows.concat(), shape), (device, dtype))
}

pub fn labels(labels: &[usize]) -> Tensor<1, Int> {
    labels_on(labels, &device())
}

pub fn labels_on(labels: &[usize], device: &Device) -> Tensor<1, Int> {
    let labels: Vec<i64> = labels.iter().map(|&label| label as i64).collect();
    let n = labels.len();
    Tensor::from_data(TensorData::new(labels, [n]), device)
}

/// One column of numbers.
pub fn column(numbers: impl IntoIterator<Item: Borrow<f64>>) -> Tensor<2> {
    let rows = numbers.into_iter().map(|x| vec![*x.borrow()]);
    tensor(&rows.collect::<Vec<_>>())
}

pub fn categorical(rows: &[Vec<f64>]) -> Categorical {
    Categorical::from_probabilities(tensor(rows)).unwrap()
}

pub fn from_logits(rows: &[Vec<f64>]) -> Categorical {
    Categorical::from_logits(tensor(rows)).unwrap()
}

/// Two classes, from the probabilities of the second.
pub fn binary(r: &[f64]) -> Categorical {
    categorical(&r.iter().map(|r| vec![1.0 - r, *r]).collect::<Vec<_>>())
}

pub const SECOND: Event = Event::Class(1);

pub fn scalar(tensor: Tensor<1>) -> f64 {
    tensor.try_into_vec_as::<f64>().unwrap()[0]
}

pub fn vector<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.try_into_vec_as::<f64>().unwrap()
}

/// `n × m` numbers, uniform in `[−scale, scale]`.
pub fn random_rows(n: usize, m: usize, scale: f64, rng: &mut StdRng) -> Vec<Vec<f64>> {
    let mut row = || (0..m).map(|_| rng.random_range(-scale..scale)).collect();
    (0..n).map(|_| row()).collect()
}

pub fn random_labels(n: usize, m: usize, rng: &mut StdRng) -> Vec<usize> {
    (0..n).map(|_| rng.random_range(0..m)).collect()
}

pub fn softmax(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = row.iter().map(|z| (z - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

/// Each number of each row by a function.
pub fn mapped(rows: &[Vec<f64>], f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    let row = |row: &Vec<f64>| row.iter().map(|x| f(*x)).collect();
    rows.iter().map(row).collect()
}

pub fn softmax_rows(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| softmax(row)).collect()
}

/// Where the largest number is, of ties the first.
pub fn argmax(row: &[f64]) -> usize {
    (1..row.len()).fold(0, |top, c| if row[c] > row[top] { c } else { top })
}

pub fn identity(m: usize) -> Vec<Vec<f64>> {
    let row = |i| (0..m).map(|j| f64::from(i == j)).collect();
    (0..m).map(row).collect()
}

/// A class drawn with the given probabilities.
pub fn draw_class(probabilities: &[f64], rng: &mut StdRng) -> usize {
    let mut u = rng.random::<f64>();
    let drawn = probabilities.iter().position(|p| {
        u -= p;
        u < 0.0
    });
    drawn.unwrap_or(probabilities.len() - 1)
}

pub fn draw_classes(rows: &[Vec<f64>], rng: &mut StdRng) -> Vec<usize> {
    rows.iter().map(|row| draw_class(row, rng)).collect()
}

pub fn random_probabilities(n: usize, m: usize, rng: &mut StdRng) -> Vec<Vec<f64>> {
    softmax_rows(&random_rows(n, m, 3.0, rng))
}

/// Distances by scalar loops.
pub fn l1(p: &[f64], q: &[f64]) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum()
}

pub fn euclidean(p: &[f64], q: &[f64]) -> f64 {
    p.iter()
        .zip(q)
        .map(|(p, q)| (p - q).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// `h_ij` by scalar loops, in the form of docs/mathematics.md section 2 that needs no residuals.
pub fn pair_statistic(
    rows: &[Vec<f64>],
    labels: &[usize],
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Vec<Vec<f64>> {
    let h = |i: usize, j: usize| {
        let (p, q, y, z) = (&rows[i], &rows[j], labels[i], labels[j]);
        let dot: f64 = p.iter().zip(q).map(|(p, q)| p * q).sum();
        kernel(p, q) * (f64::from(y == z) - p[z] - q[y] + dot)
    };
    (0..rows.len())
        .map(|i| (0..rows.len()).map(|j| h(i, j)).collect())
        .collect()
}

pub fn unbiased(h: &[Vec<f64>]) -> f64 {
    let n = h.len();
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    2.0 * pairs.map(|(i, j)| h[i][j]).sum::<f64>() / (n * (n - 1)) as f64
}

pub fn biased(h: &[Vec<f64>]) -> f64 {
    h.concat().iter().sum::<f64>() / (h.len() * h.len()) as f64
}

/// Predictions of a training batch, from logits.
pub fn of_logits(logits: Tensor<2>) -> Categorical {
    Categorical::from_logits_unchecked(logits)
}

/// Predictions of a training batch, from probabilities.
pub fn of_probabilities(probabilities: Tensor<2>) -> Categorical {
    Categorical::from_probabilities_unchecked(probabilities)
}

/// Rows of logits that are 2.5 times too large, with classes.
pub fn overconfident_rows(n: usize, m: usize, size: f64, seed: u64) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut rng = rng(seed);
    let logits = random_rows(n, m, size, &mut rng);
    let truth = softmax_rows(&mapped(&logits, |z| z / 2.5));
    let classes = draw_classes(&truth, &mut rng);
    (logits, classes)
}

/// What rows and classes give.
pub trait OnRows {
    fn outcome_on(&self, rows: &[Vec<f64>], classes: &[usize], seed: u64) -> TestOutcome;
}

impl<T: CalibrationTest + ?Sized> OnRows for T {
    fn outcome_on(&self, rows: &[Vec<f64>], classes: &[usize], seed: u64) -> TestOutcome {
        let outcome = self.outcome(&categorical(rows), &labels(classes), &mut rng(seed));
        outcome.unwrap()
    }
}

/// A fit to rows of logits with classes.
pub trait FitRows: Fit {
    fn fitted(&self, rows: &[Vec<f64>], classes: &[usize]) -> Self::Map {
        self.fit(tensor(rows), labels(classes)).unwrap()
    }
}

impl<F: Fit> FitRows for F {}
