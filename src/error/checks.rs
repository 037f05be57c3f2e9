//! Checks of parameters, sample sizes and numbers in rows, with the errors of this library.
//!
//! ```
//! use burn_calibration::error::checks::check_labels;
//!
//! let error = check_labels(&[0, 3], 2, 3).unwrap_err();
//! assert_eq!(error.to_string(), "row 1: the label is 3, expected a class in 0..3");
//! ```

use std::ops::RangeInclusive;

use burn::tensor::DType;

use super::{Error, Result};

/// Checks a parameter, given its name and the expected condition.
pub fn check_parameter(
    is_valid: bool,
    name: &'static str,
    value: f64,
    expected: &'static str,
) -> Result<()> {
    if is_valid {
        Ok(())
    } else {
        Err(Error::Parameter {
            name,
            value,
            expected,
        })
    }
}

/// Checks that a count is at least 1.
pub fn check_count(name: &'static str, count: usize) -> Result<()> {
    check_parameter(count > 0, name, count as f64, "at least 1")
}

/// Checks that a parameter is between 0 and 1.
pub fn check_inside(name: &'static str, value: f64) -> Result<()> {
    let is_valid = value > 0.0 && value < 1.0;
    let expected = "a number between 0 and 1, both excluded";
    check_parameter(is_valid, name, value, expected)
}

/// Checks that a parameter is positive and finite.
pub fn check_positive(name: &'static str, value: f64) -> Result<()> {
    let is_valid = value.is_finite() && value > 0.0;
    check_parameter(is_valid, name, value, "a positive finite number")
}

/// The range of scales of kernels and logits: the square of a scale, and its inverse times a number of
/// moderate size, are finite in f64.
pub(crate) const SCALES: RangeInclusive<f64> = 1e-100..=1e100;

/// Checks that a bandwidth or a length scale is a number whose square is one.
pub(crate) fn check_scale(name: &'static str, value: f64) -> Result<()> {
    check_positive(name, value)?;
    let expected = "a number from 1e-100 to 1e100";
    check_parameter(SCALES.contains(&value), name, value, expected)
}

/// The scales whose square, and its inverse, are normal numbers of the dtype with room for a factor.
pub(crate) fn scales_of(dtype: DType) -> (RangeInclusive<f64>, &'static str) {
    match dtype {
        DType::F64 => (SCALES, "a number from 1e-100 to 1e100"),
        DType::F16 => (
            0.015625..=64.0,
            "a number from 1/64 to 64, because predictions are in f16",
        ),
        _ => (
            1e-18..=1e18,
            "a number from 1e-18 to 1e18, because predictions are not in f64",
        ),
    }
}

/// Checks that a bandwidth or a length scale is one for numbers of a dtype.
pub(crate) fn check_scale_of(name: &'static str, value: f64, dtype: DType) -> Result<()> {
    check_scale(name, value)?;
    let (scales, expected) = scales_of(dtype);
    check_parameter(scales.contains(&value), name, value, expected)
}

/// Panics where [`check_scale_of`] fails: in training.
pub(crate) fn assert_scale_of(name: &'static str, value: f64, dtype: DType) {
    if let Err(error) = check_scale_of(name, value, dtype) {
        panic!("{error}");
    }
}

/// Checks that there are enough samples for a quantity.
pub fn check_samples(what: &'static str, needed: usize, got: usize) -> Result<()> {
    if got >= needed {
        Ok(())
    } else {
        Err(Error::TooFewSamples { what, needed, got })
    }
}

/// Checks that there are as many labels or targets as predictions.
pub fn check_length(predictions: usize, got: usize, what: &'static str) -> Result<()> {
    if got == predictions {
        Ok(())
    } else {
        Err(Error::Length {
            predictions,
            got,
            what,
        })
    }
}

/// Checks numbers in rows, which are called "class" or "coordinate" within a row.
pub fn check_values(
    values: &[f64],
    (columns, column): (usize, &'static str),
    what: &'static str,
    (is_valid, expected): (impl Fn(f64) -> bool, &'static str),
) -> Result<()> {
    match values.iter().position(|&value| !is_valid(value)) {
        Some(at) => Err(Error::Value {
            row: at / columns,
            column,
            at: at % columns,
            what,
            value: values[at],
            expected,
        }),
        None => Ok(()),
    }
}

/// Checks labels on the host, and returns them as classes.
pub fn check_labels(labels: &[i64], predictions: usize, classes: usize) -> Result<Vec<usize>> {
    check_length(predictions, labels.len(), "label")?;
    let check = |(row, &label): (usize, &i64)| match usize::try_from(label) {
        Ok(class) if class < classes => Ok(class),
        _ => Err(Error::Label {
            row,
            label,
            classes,
        }),
    };
    labels.iter().enumerate().map(check).collect()
}

/// Checks that there are at least two classes.
pub fn check_classes(classes: usize) -> Result<()> {
    if classes < 2 {
        Err(Error::TooFewClasses { got: classes })
    } else {
        Ok(())
    }
}

/// Checks that the numbers in rows of `classes` are finite.
pub fn check_finite(values: &[f64], classes: usize, what: &'static str) -> Result<()> {
    let finite = (f64::is_finite, "a finite number");
    check_values(values, (classes, "class"), what, finite)
}

/// Checks that finite numbers in rows of `classes` are probabilities, each row of sum 1.
pub fn check_probabilities(values: &[f64], classes: usize, dtype: DType) -> Result<()> {
    let what = ["the probability", "the probabilities"];
    let tolerance = row_sum_tolerance(classes, dtype);
    check_simplex(values, (classes, "class"), what, tolerance)
}

/// Checks that numbers in rows are in `[0, 1]`, each row of sum 1.
///
/// - what: a number, and all of a row
pub(crate) fn check_simplex(
    values: &[f64],
    (columns, column): (usize, &'static str),
    what: [&'static str; 2],
    tolerance: f64,
) -> Result<()> {
    for (row, values) in values.chunks(columns).enumerate() {
        if let Some(at) = values.iter().position(|value| !(0.0..=1.0).contains(value)) {
            return Err(Error::Value {
                row,
                column,
                at,
                what: what[0],
                value: values[at],
                expected: "a number in [0, 1]",
            });
        }
        let sum: f64 = values.iter().sum();
        if (sum - 1.0).abs() > tolerance {
            return Err(Error::Sum {
                row,
                what: what[1],
                sum,
                tolerance,
            });
        }
    }
    Ok(())
}

/// The distance from 1 that the sum of a row of `m` probabilities may have: `10⁻⁵`, or what rounding
/// takes from a softmax in this dtype if that is more, `ε (8 + 2√m)`.
fn row_sum_tolerance(classes: usize, dtype: DType) -> f64 {
    let epsilon = dtype.finfo().map_or(0.0, |float| float.epsilon);
    (epsilon * (8.0 + 2.0 * (classes as f64).sqrt())).max(1e-5)
}
