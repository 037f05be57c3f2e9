//! What tests assert of numbers, errors and shares.

use std::{
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind},
};

pub use approx::assert_relative_eq;
use burn::tensor::{DType, Device, Tensor};
use burn_calibration::{error::Error, estimator::Interval};
use statrs::distribution::{ContinuousCDF as _, Normal as StandardNormal};

use crate::{
    data::{median, moved, scalar, sorted, tensor, tensor_on, vector},
    messages::says,
};

/// Two numbers that differ by at most so much, relative to the larger one.
#[track_caller]
pub fn assert_relative(found: f64, expected: f64, tolerance: f64) {
    assert_relative_eq!(found, expected, max_relative = tolerance);
}

/// Two numbers that differ by at most so much.
#[track_caller]
pub fn assert_near(found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(error <= tolerance, "{found}, expected {expected}");
}

/// As [`assert_near`], with what the numbers are of.
#[track_caller]
pub fn assert_near_in(what: impl Debug, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(error <= tolerance, "{what:?}: {found}, expected {expected}");
}

/// Equally many numbers, each near the other.
#[track_caller]
pub fn all_near(found: impl AsRef<[f64]>, expected: impl AsRef<[f64]>, tolerance: f64) {
    all(found.as_ref(), expected.as_ref(), |_| tolerance);
}

/// Equally many numbers that differ by at most so much, relative to the expected ones.
#[track_caller]
pub fn all_relative(found: impl AsRef<[f64]>, expected: impl AsRef<[f64]>, tolerance: f64) {
    all(found.as_ref(), expected.as_ref(), |x| tolerance * x.abs());
}

#[track_caller]
fn all(found: &[f64], expected: &[f64], tolerance: impl Fn(f64) -> f64) {
    assert_eq!(found.len(), expected.len());
    for (at, (f, e)) in found.iter().zip(expected).enumerate() {
        let is_close = (f - e).abs() <= tolerance(*e);
        assert!(is_close, "entry {at}: {f:e}, expected {e:e}");
    }
}

#[track_caller]
pub fn all_finite(numbers: impl AsRef<[f64]>) {
    let numbers = numbers.as_ref();
    assert!(numbers.iter().all(|x| x.is_finite()), "{numbers:?}");
}

#[track_caller]
pub fn contains(text: &impl ToString, part: &str) {
    let text = text.to_string();
    assert!(text.contains(part), "no {part:?} in {text}");
}

#[track_caller]
pub fn begins(text: &impl ToString, start: &str) {
    let text = text.to_string();
    assert!(text.starts_with(start), "{text}");
}

#[track_caller]
pub fn ends(text: &impl ToString, end: &str) {
    let text = text.to_string();
    assert!(text.ends_with(end), "{text}");
}

/// The error is the next line of the running test in `messages.txt`.
#[track_caller]
pub fn refuses<T>(result: Result<T, Error>) {
    says(result.err().expect("an error"));
}

/// The first line of the message of the panic is the next line of the running test in `messages.txt`.
#[track_caller]
pub fn panics<T>(f: impl FnOnce() -> T) {
    says(panic_of(f).lines().next().unwrap_or_default());
}

/// The message of a panic.
#[track_caller]
pub fn panic_of<T>(f: impl FnOnce() -> T) -> String {
    let caught = catch_unwind(AssertUnwindSafe(f));
    match caught.err().expect("a panic").downcast::<String>() {
        Ok(text) => *text,
        Err(other) => (*other.downcast::<&str>().expect("a text")).into(),
    }
}

/// A function of a matrix and its gradient by automatic differentiation.
pub fn with_gradient(
    rows: &[impl AsRef<[f64]>],
    dtype: DType,
    f: impl Fn(Tensor<2>) -> Tensor<1>,
) -> (f64, Vec<f64>) {
    let x = tensor_on(rows, &Device::flex().autodiff(), dtype).require_grad();
    let value = f(x.clone());
    assert_eq!(value.dtype(), dtype);
    let gradient = x.grad(&value.backward()).expect("a gradient");
    (scalar(value), vector(gradient))
}

pub fn gradient(rows: &[impl AsRef<[f64]>], f: impl Fn(Tensor<2>) -> Tensor<1>) -> Vec<f64> {
    with_gradient(rows, DType::F64, f).1
}

/// Compares the gradient with central differences, to 1e-6 of its largest entry.
#[track_caller]
pub fn check_gradient(rows: &[Vec<f64>], step: f64, f: impl Fn(Tensor<2>) -> Tensor<1>) {
    gradients_are_differences(&[rows.to_vec()], step, |mut x| f(x.remove(0)));
}

/// As [`check_gradient`], of the sum of a function of several matrices. Gives the largest entry of each gradient.
#[track_caller]
pub fn gradients_are_differences<const D: usize>(
    parameters: &[Vec<Vec<f64>>],
    step: f64,
    f: impl Fn(Vec<Tensor<2>>) -> Tensor<D>,
) -> Vec<f64> {
    let device = Device::flex().autodiff();
    let tracked = |rows: &Vec<Vec<f64>>| tensor_on(rows, &device, DType::F64).require_grad();
    let tracked: Vec<Tensor<2>> = parameters.iter().map(tracked).collect();
    let gradients = f(tracked.clone()).sum().backward();
    let mut all = Vec::new();
    for (p, x) in tracked.into_iter().enumerate() {
        let gradient = vector(x.grad(&gradients).expect("a gradient"));
        let columns = parameters[p][0].len();
        let tolerance = 1e-6 * largest(&gradient).max(1e-3);
        for (k, g) in gradient.iter().enumerate() {
            let at = |step: f64| {
                let mut tensors: Vec<_> = parameters.iter().map(|rows| tensor(rows)).collect();
                tensors[p] = tensor(&moved(&parameters[p], k / columns, k % columns, step));
                scalar(f(tensors).sum())
            };
            let difference = (at(step) - at(-step)) / (2.0 * step);
            assert_near_in((p, k), *g, difference, tolerance);
        }
        all.push(largest(&gradient));
    }
    all
}

/// The largest number in absolute value.
pub fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

pub fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// How far the mean of values is from a number, in standard errors.
pub fn standardised(values: &[f64], expected: f64) -> f64 {
    let (n, mean) = (values.len() as f64, mean(values));
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean - expected) / (variance / n).sqrt()
}

/// A mean that is within so many standard errors of a number.
#[track_caller]
pub fn assert_mean(values: &[f64], expected: f64, errors: f64) {
    let (n, mean) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let error = (squares / (n * (n - 1.0))).sqrt();
    assert_near(mean, expected, errors * error + 1e-12);
}

/// The number of data sets of a simulation: an eighth of `all`, unless `BURN_CALIBRATION_SIMULATIONS=full`, which
/// `.ci/nightly` sets. Bounds are in standard errors of the number that it gives.
pub fn simulated(all: usize) -> usize {
    if is_full() { all } else { all.div_ceil(8) }
}

/// Whether simulations take all data sets, and comparisons all cases.
pub fn is_full() -> bool {
    std::env::var("BURN_CALIBRATION_SIMULATIONS").is_ok_and(|value| value == "full")
}

/// A number of successes that is within so many standard deviations of a probability.
#[track_caller]
pub fn assert_binomial(
    successes: usize,
    trials: usize,
    (probability, deviations): (f64, f64),
    what: impl Debug,
) {
    let (n, p) = (trials as f64, probability);
    let error = (successes as f64 - n * p).abs();
    assert!(
        error <= deviations * (n * p * (1.0 - p)).sqrt(),
        "{what:?}: {successes} of {trials}, expected {p} of them"
    );
}

/// A number of intervals that cover, of which at least a share has to, within three standard deviations.
#[track_caller]
pub fn assert_covers(covering: usize, trials: usize, level: f64, what: impl Debug) {
    let least = level - 3.0 * (level * (1.0 - level) / trials as f64).sqrt();
    let covers = covering as f64 / trials as f64 > least;
    assert!(
        covers,
        "{what:?}: {covering} of {trials}, expected {level} of them"
    );
}

/// A number of rejections that is at most so many standard deviations above a probability.
#[track_caller]
pub fn assert_at_most(
    rejected: usize,
    trials: usize,
    (probability, deviations): (f64, f64),
    what: impl Debug,
) {
    let (n, p) = (trials as f64, probability);
    let most = n * p + deviations * (n * p * (1.0 - p)).sqrt();
    assert!(
        rejected as f64 <= most,
        "{what:?}: {rejected} of {trials}, expected {p} of them"
    );
}

/// Intervals of simulated data sets. Three faults are found: they miss the truth, they are refused, they are too wide.
pub struct Intervals {
    level: f64,
    covering: usize,
    refused: usize,
    estimates: Vec<f64>,
    widths: Vec<f64>,
}

impl Intervals {
    pub fn new(level: f64) -> Self {
        Self {
            level,
            covering: 0,
            refused: 0,
            estimates: Vec::new(),
            widths: Vec::new(),
        }
    }

    /// Takes the interval of a data set, or its refusal, with the truth.
    pub fn push(&mut self, interval: Result<Interval, Error>, truth: f64) {
        let Ok(interval) = interval else {
            self.refused += 1;
            return;
        };
        let tolerance = 1e-12;
        let covers = interval.lower <= truth + tolerance && truth <= interval.upper + tolerance;
        self.covering += usize::from(covers);
        self.estimates.push(interval.estimate);
        self.widths.push(interval.upper - interval.lower);
    }

    /// Asserts that this share of the intervals covers, within three standard deviations, and that so many are refused
    /// at most. The median width is at most so many times that of a normal interval of the estimates' own deviation.
    #[track_caller]
    pub fn assert(&self, least: f64, refused: usize, widest: f64, what: impl Debug) {
        let given = self.widths.len();
        assert!(
            self.refused <= refused,
            "{what:?}: {} refused",
            self.refused
        );
        let deviation = (self.level * (1.0 - self.level) / given as f64).sqrt();
        let share = self.covering as f64 / given as f64;
        assert!(share >= least - 3.0 * deviation, "{what:?}: {share} cover");
        let center = mean(&self.estimates);
        let squares = self.estimates.iter().map(|x| (x - center).powi(2));
        let spread = (squares.sum::<f64>() / (given - 1) as f64).sqrt();
        let normal = StandardNormal::new(0.0, 1.0).unwrap();
        let needed = 2.0 * spread * normal.inverse_cdf(0.5 + 0.5 * self.level);
        let width = median(&sorted(self.widths.iter().copied()));
        let ratio = width / needed;
        assert!(ratio <= widest, "{what:?}: {ratio} times as wide as needed");
    }
}
