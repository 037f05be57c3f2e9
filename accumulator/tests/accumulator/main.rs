//! Evaluation in pieces: the estimators on all predictions, merging, files, bad input.

mod bad_input;
/// The numbers of sums, which the crate does not export.
#[path = "../../src/double_double.rs"]
mod double_double;
mod double_doubles;
mod estimates;
mod files;
mod means;
mod merging;
mod weights;

use burn_calibration::{
    estimator::Event,
    kernel::{Bandwidth, Kernel},
    score::{Brier, LogScore},
};
use burn_calibration_accumulator::*;
use serde::Serialize;
use serde_json::Value;

use burn_calibration_testing::data::*;

use crate::double_double::DoubleDouble;

/// A number that `serde_json` reads back with an error in the last place.
pub const BANDWIDTH: f64 = 0.437_204_018_551_364_1;

pub fn fixed(kernel: Kernel) -> Kernel {
    kernel.with_bandwidth(Bandwidth::Fixed(BANDWIDTH))
}

/// With all parts, 7 bins and blocks of `size`.
pub fn evaluation(classes: usize, size: usize) -> Evaluation {
    let evaluation = Evaluation::new(7, classes).unwrap();
    evaluation
        .with_skce(fixed(Kernel::exponential()), size)
        .unwrap()
}

pub fn rows(probabilities: &[Vec<f64>], classes: &[usize]) -> Rows {
    let labels: Vec<i64> = classes.iter().map(|&label| label as i64).collect();
    let m = probabilities.first().map_or(2, Vec::len);
    Rows::from_probabilities(probabilities.concat(), m, &labels).unwrap()
}

/// The same after it took rows.
pub fn having<A: Accumulator>(empty: &A, probabilities: &[Vec<f64>], classes: &[usize]) -> A {
    let mut accumulator = empty.clone();
    if !probabilities.is_empty() {
        let rows = rows(probabilities, classes);
        accumulator.update_rows(&rows).unwrap();
    }
    accumulator
}

pub fn text(accumulator: &impl Accumulator) -> String {
    serde_json::to_string(accumulator).unwrap()
}

/// Sums agree to `10⁻²⁵` of the sums of magnitudes, that of values below a bound; all else is equal.
#[track_caller]
pub fn agree(found: &impl Serialize, expected: &impl Serialize, bound: f64) {
    let [found, expected] = [
        serde_json::to_value(found).unwrap(),
        serde_json::to_value(expected).unwrap(),
    ];
    agree_in("", &found, &expected, bound);
}

#[track_caller]
fn agree_in(name: &str, found: &Value, expected: &Value, bound: f64) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            assert!(found.keys().eq(expected.keys()));
            for (name, value) in found {
                agree_in(name, value, &expected[name], bound);
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                agree_in(name, found, expected, bound);
            }
        }
        _ => {
            let parts = |value: &Value| DoubleDouble::try_from(value.as_str()?.to_owned()).ok();
            let magnitude = |sum: DoubleDouble| match name {
                "sum" => bound,
                "residuals" => 4.0 * bound, // weights in their unit are below 2
                "deviations" => 4.0 * bound * bound,
                _ => sum.value(),
            };
            match (parts(found), parts(expected)) {
                (Some(a), Some(b)) if name != "unit" => {
                    let difference = (a - b).value().abs();
                    assert!(
                        difference <= 1e-25 * magnitude(b),
                        "{name}: {found} {expected}"
                    );
                }
                _ => assert_eq!(found, expected, "{name}"),
            }
        }
    }
}

/// Calls a function with an empty accumulator of each kind.
macro_rules! each_kind {
    ($classes:expr, |$empty:ident| $call:expr) => {{
        let m = $classes;
        each_kind!(
            $empty $call;
            ScoreAccumulator::new(LogScore, m),
            BinAccumulator::new(Event::Class(1), 4, m).unwrap(),
            ClassBinAccumulator::new(3, m).unwrap(),
            BlockSkceAccumulator::linear(fixed(Kernel::gaussian()), m).unwrap(),
            evaluation(m, 2)
        );
    }};
    ($empty:ident $call:expr; $($kind:expr),+) => {
        $({
            let $empty = $kind;
            $call;
        })+
    };
}
use each_kind;
