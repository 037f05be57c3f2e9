//! What most tests use: the library, tensors in f64 on the Flex backend, random data, and short calls.

use std::{borrow::Borrow, ops::Range, path::PathBuf};

use proptest::{
    collection::vec,
    prelude::*,
    sample::select,
    test_runner::{Config, RngSeed},
};

pub use burn::tensor::{DType, Device, Int, Tensor, TensorData};
pub use burn_calibration::{
    distribution::*, error::Error, estimator::*, hypothesis::*, kernel::*, loss::*, ops::*,
    recalibration::*, score::*,
};
pub use rand::{RngExt, SeedableRng};

pub use crate::{
    checks::*,
    generator::StdRng,
    messages::says,
    references::{
        biased, dot, euclidean, in_blocks, l1, log_loss, log_loss_at, pair_statistic,
        pair_statistic_by, unbiased,
    },
};

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

/// So many predictions over so many classes, with labels: of logits of which some are equal, or the odd ones given.
pub fn labelled(
    classes: Range<usize>,
    samples: Range<usize>,
    odd: &'static [f64],
) -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<usize>)> {
    (classes, samples).prop_flat_map(move |(m, n)| {
        let logit = prop_oneof![Just(0.0), -4.0..4.0f64, select([&[0.0], odd].concat())];
        let row = vec(logit, m).prop_map(|row| softmax(&row));
        (vec(row, n), vec(0..m, n))
    })
}

/// A matrix by its entries.
pub fn table(n: usize, m: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let row = |i| (0..m).map(|j| entry(i, j)).collect();
    (0..n).map(row).collect()
}

/// Rows of which one entry is larger by so much.
pub fn moved(rows: &[Vec<f64>], i: usize, j: usize, by: f64) -> Vec<Vec<f64>> {
    let mut moved = rows.to_vec();
    moved[i][j] += by;
    moved
}

/// Pairs of different numbers below `n`, the larger one first.
pub fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..n).flat_map(|i| (0..i).map(move |j| (i, j)))
}

pub fn sorted(numbers: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

pub fn median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    0.5 * (sorted[(n - 1) / 2] + sorted[n / 2])
}

/// The rows of a tensor.
pub fn rows_of(tensor: Tensor<2>) -> Vec<Vec<f64>> {
    let width = tensor.dims()[1];
    vector(tensor).chunks(width).map(<[f64]>::to_vec).collect()
}

/// Rows as an f64 tensor.
pub fn tensor(rows: &[impl AsRef<[f64]>]) -> Tensor<2> {
    tensor_on(rows, &device(), DType::F64)
}

pub fn tensor_on(rows: &[impl AsRef<[f64]>], device: &Device, dtype: DType) -> Tensor<2> {
    let shape = [rows.len(), rows.first().map_or(0, |row| row.as_ref().len())];
    let entries: Vec<f64> = rows.iter().flat_map(|row| row.as_ref()).copied().collect();
    Tensor::from_data(TensorData::new(entries, shape), (device, dtype))
}

/// Rows as an f32 tensor.
pub fn single(rows: &[impl AsRef<[f64]>]) -> Tensor<2> {
    tensor_on(rows, &device(), DType::F32)
}

pub fn labels(labels: &[usize]) -> Tensor<1, Int> {
    labels_on(labels, &device())
}

pub fn labels_on(labels: &[usize], device: &Device) -> Tensor<1, Int> {
    let labels: Vec<i64> = labels.iter().map(|&label| label as i64).collect();
    let n = labels.len();
    Tensor::from_data(TensorData::new(labels, [n]), device)
}

pub fn classes_of(labels: &Tensor<1, Int>) -> Vec<usize> {
    let labels = labels.clone().try_into_vec_as::<i64>().unwrap();
    labels.into_iter().map(|label| label as usize).collect()
}

/// One column of numbers.
pub fn column(numbers: impl IntoIterator<Item: Borrow<f64>>) -> Tensor<2> {
    let rows = numbers.into_iter().map(|x| [*x.borrow()]);
    tensor(&rows.collect::<Vec<_>>())
}

pub fn categorical(rows: &[impl AsRef<[f64]>]) -> Categorical {
    Categorical::from_probabilities(tensor(rows)).unwrap()
}

pub fn from_logits(rows: &[impl AsRef<[f64]>]) -> Categorical {
    Categorical::from_logits(tensor(rows)).unwrap()
}

/// Two classes, from the probabilities of the second.
pub fn binary(r: &[f64]) -> Categorical {
    categorical(&r.iter().map(|r| [1.0 - r, *r]).collect::<Vec<_>>())
}

/// The exponential kernel with a fixed bandwidth.
pub fn exponential(bandwidth: f64) -> Kernel {
    Kernel::exponential().with_bandwidth(Bandwidth::Fixed(bandwidth))
}

pub fn fixed_bandwidth(kernel: &Kernel) -> f64 {
    match kernel.bandwidth {
        Bandwidth::Fixed(bandwidth) => bandwidth,
        other => panic!("{other:?}"),
    }
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

pub fn argmaxes(rows: &[Vec<f64>]) -> Vec<usize> {
    rows.iter().map(|row| argmax(row)).collect()
}

pub fn identity(m: usize) -> Vec<Vec<f64>> {
    table(m, m, |i, j| f64::from(i == j))
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

/// Labels of events with the given probabilities.
pub fn draw_events(probabilities: impl IntoIterator<Item = f64>, rng: &mut StdRng) -> Vec<usize> {
    let draw = |p| usize::from(rng.random_bool(p));
    probabilities.into_iter().map(draw).collect()
}

pub fn random_probabilities(n: usize, m: usize, rng: &mut StdRng) -> Vec<Vec<f64>> {
    softmax_rows(&random_rows(n, m, 3.0, rng))
}

/// All labels of rows, with their probabilities.
pub fn labellings(rows: &[Vec<f64>]) -> impl Iterator<Item = (Vec<usize>, f64)> {
    let (n, m) = (rows.len() as u32, rows[0].len());
    (0..m.pow(n)).map(move |set| {
        let classes: Vec<usize> = (0..n).map(|i| set / m.pow(i) % m).collect();
        let probability = classes.iter().zip(rows).map(|(&y, row)| row[y]).product();
        (classes, probability)
    })
}

/// Rows `(p, 1 − p)` with `p` in a range.
pub fn random_pairs(n: usize, range: Range<f64>, rng: &mut StdRng) -> Vec<Vec<f64>> {
    let p = (0..n).map(|_| rng.random_range(range.clone()));
    p.map(|p| vec![p, 1.0 - p]).collect()
}

/// Normal predictions with means in `[−1, 1]` and deviations in `[½, 3/2]`.
pub fn random_normal(n: usize, d: usize, rng: &mut StdRng) -> Normal {
    let (mean, scale) = (random_rows(n, d, 1.0, rng), random_rows(n, d, 0.5, rng));
    Normal::new(tensor(&mean), tensor(&scale) + 1.0)
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

/// Estimates of data without errors.
pub trait On<P: Predictive>: Estimator<P> {
    fn on(&self, predictions: &P, targets: &P::Targets) -> f64 {
        self.estimate(predictions, targets).unwrap()
    }
}

impl<P: Predictive, E: Estimator<P> + ?Sized> On<P> for E {}

/// Outcomes of data without errors.
pub trait Seeded<P: Predictive>: CalibrationTest<P> {
    fn seeded(&self, predictions: &P, targets: &P::Targets, seed: u64) -> TestOutcome {
        let outcome = self.outcome(predictions, targets, &mut rng(seed));
        outcome.unwrap()
    }

    fn p_value(&self, predictions: &P, targets: &P::Targets, seed: u64) -> f64 {
        self.seeded(predictions, targets, seed).p_value
    }
}

impl<P: Predictive, T: CalibrationTest<P> + ?Sized> Seeded<P> for T {}

/// What rows and classes give.
pub trait OnRows {
    fn outcome_on<R>(&self, rows: &[R], classes: &[usize], seed: u64) -> TestOutcome
    where
        R: AsRef<[f64]>;

    fn p_on<R: AsRef<[f64]>>(&self, rows: &[R], classes: &[usize], seed: u64) -> f64 {
        self.outcome_on(rows, classes, seed).p_value
    }
}

impl<T: CalibrationTest + ?Sized> OnRows for T {
    fn outcome_on<R>(&self, rows: &[R], classes: &[usize], seed: u64) -> TestOutcome
    where
        R: AsRef<[f64]>,
    {
        self.seeded(&categorical(rows), &labels(classes), seed)
    }
}

/// The outcome of the omnibus test, with its aspects.
pub fn omnibus<P: Omnibus>(
    test: OmnibusTest,
    predictions: &P,
    targets: &P::Targets,
    seed: u64,
) -> OmnibusOutcome {
    let outcome = test.outcome(predictions, targets, &mut rng(seed));
    outcome.unwrap()
}

/// A fit to rows of logits with classes.
pub trait FitRows: Fit {
    fn fitted(&self, rows: &[impl AsRef<[f64]>], classes: &[usize]) -> Self::Map {
        self.fit(tensor(rows), labels(classes)).unwrap()
    }
}

impl<F: Fit> FitRows for F {}

/// A fit to predictions and targets that are needed again.
pub trait FitTo<P: Clone, T: Clone>: Fit<P, T> {
    fn fit_to(&self, predictions: &P, targets: &T) -> Self::Map {
        self.fit(predictions.clone(), targets.clone()).unwrap()
    }

    fn fit_to_by(
        &self,
        by: &dyn Criterion<Self::Scored>,
        predictions: &P,
        targets: &T,
    ) -> Self::Map {
        let map = self.fit_by(by, predictions.clone(), targets.clone());
        map.unwrap()
    }
}

impl<P: Clone, T: Clone, F: Fit<P, T>> FitTo<P, T> for F {}

/// A temperature by the log loss alone.
pub fn without_prior() -> TemperatureScalingConfig {
    TemperatureScalingConfig::new().with_prior(None)
}

/// A map that divides logits by so much.
pub fn temperature_map(temperature: f64) -> TemperatureScaling {
    TemperatureScaling::from_temperature(temperature, &device()).unwrap()
}

/// What is told of a fit that has converged.
#[track_caller]
pub fn converged(map: &(impl FittedMap + ?Sized)) -> &FitReport {
    let report = map.report().expect("a report");
    assert_eq!(report.status, FitStatus::Converged, "{report}");
    report
}

/// `r_i = (i + ½)/40`, `c_i = 1[(i² + 3i) mod 11 < 3 + ⌊6i/40⌋]`.
pub fn forty_events() -> (Vec<f64>, Vec<usize>) {
    let r = (0..40).map(|i| (i as f64 + 0.5) / 40.0).collect();
    let c = (0..40).map(|i| usize::from((i * i + 3 * i) % 11 < 3 + 6 * i / 40));
    (r, c.collect())
}
