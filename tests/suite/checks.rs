//! What tests assert of numbers, errors and shares.

use std::{
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind},
};

pub use approx::assert_relative_eq;
use burn_calibration::error::Error;

use crate::messages::says;

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

/// How far the mean of values is from a number, in standard errors.
pub fn standardised(values: &[f64], expected: f64) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean - expected) / (variance / n).sqrt()
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
