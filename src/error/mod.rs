//! Errors of data, parameters and files. Each variant is a violated condition with its values.
//!
//! Training losses assert shapes and panic, like Burn's own losses. Functions that take *data* (estimates,
//! tests, fits, files) return a [`Result`], whose error names the row, the class and the value. Rows and
//! classes count from 0, as everywhere in this library.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration::{distribution::Categorical, error::Error};
//!
//! let device = Device::default();
//! let rows = Tensor::<2>::from_floats([[0.5, 0.5], [0.75, 0.5]], &device);
//! let error = Categorical::from_probabilities(rows).unwrap_err();
//! assert!(matches!(error, Error::Sum { row: 1, .. }));
//! assert!(error.to_string().starts_with("row 1: the probabilities sum to 1.25"));
//! assert_eq!(format!("{error:?}"), error.to_string()); // what `main` prints that returns it
//! ```

pub mod checks;

pub(crate) use checks::*;

use std::fmt;

use burn::tensor::DType;
use serde::{Serialize, Serializer};
use thiserror::Error as ThisError;

use crate::numbers::counted;

/// The result of an operation on data.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Serializes a value, or `{"error": reason}` if there is none, for `#[serde(serialize_with = "…")]`.
///
/// # Errors
///
/// The errors of the serializer.
pub fn serialize_or_reason<T: Serialize, E: fmt::Display, S: Serializer>(
    value: &Result<T, E>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Ok(value) => value.serialize(serializer),
        Err(reason) => serializer.collect_map([("error", reason.to_string())]),
    }
}

/// Serializes a number, or `{"error": "infinite"}`, because JSON has no infinite numbers.
pub fn serialize_or_infinite<S: Serializer>(
    number: &f64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if number.is_infinite() {
        serialize_or_reason(&Err::<f64, _>("infinite"), serializer)
    } else {
        number.serialize(serializer)
    }
}

/// A condition that the data, a parameter or a file violates.
///
/// [`Debug`](fmt::Debug) prints the sentence of [`Display`](fmt::Display), so that a `main` that returns the error
/// prints it: "Error: 30 predictions but 20 labels, expected the same number of both".
#[derive(Clone, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A number in a row of predictions or targets is invalid: a logit or a parameter that is not finite, a
    /// probability or weight outside `[0, 1]`, a scale that is not positive.
    #[error("row {row}, {column} {at}: {what} is {}, expected {expected}", shown(*value))]
    Value {
        /// The 0-based row.
        row: usize,
        /// The unit within the row: "class", "coordinate" or "component".
        column: &'static str,
        /// Its 0-based number.
        at: usize,
        /// The meaning of the number: "the logit", "the scale".
        what: &'static str,
        /// The offending value.
        value: f64,
        /// The condition that was expected.
        expected: &'static str,
    },

    /// The probabilities, the weights or the coordinates of a point of the simplex must sum to 1.
    #[error("row {row}: {what} sum to {}, expected 1 within {tolerance:e}", shown(*sum))]
    Sum {
        /// 0-based row.
        row: usize,
        /// The numbers that are summed.
        what: &'static str,
        /// The sum.
        sum: f64,
        /// The distance from 1 that the sum may have.
        tolerance: f64,
    },

    /// The quantiles of a forecast must not decrease with their levels.
    #[error(
        "row {row}: the quantile at level {} is {} and that at level {} is {}, expected quantiles that do not decrease",
        levels[0], shown(values[0]), levels[1], shown(values[1])
    )]
    Crossing {
        /// 0-based row.
        row: usize,
        /// Two consecutive levels.
        levels: [f64; 2],
        /// The quantiles at these.
        values: [f64; 2],
    },

    /// Every label must be a class.
    #[error("row {row}: the label is {label}, expected a class in 0..{classes}")]
    Label {
        /// 0-based row.
        row: usize,
        /// The offending label.
        label: i64,
        /// Number of classes.
        classes: usize,
    },

    /// There must be one label or target for each prediction.
    #[error(
        "{} but {}, expected the same number of both",
        counted(*predictions, "prediction"),
        counted(*got, what)
    )]
    Length {
        /// Number of predictions.
        predictions: usize,
        /// Number of labels or targets.
        got: usize,
        /// "label" or "target".
        what: &'static str,
    },

    /// Predictions and targets, or two sets of predictions, must have the same number of classes or
    /// dimensions.
    #[error("{what} have {}, expected {expected}", counted(*got, columns))]
    Width {
        /// "the predictions" or "the targets".
        what: &'static str,
        /// "class" or "dimension".
        columns: &'static str,
        /// The number given.
        got: usize,
        /// The number expected.
        expected: usize,
    },

    /// Predictions and targets must have the same dtype.
    #[error("the dtype of the targets is {got:?}, expected {expected:?}, that of the predictions")]
    DTypeMismatch {
        /// The dtype given.
        got: DType,
        /// The dtype of the predictions.
        expected: DType,
    },

    /// The quantity needs more samples than there are.
    #[error("{what} needs at least {}, got {got}", counted(*needed, "sample"))]
    TooFewSamples {
        /// The quantity.
        what: &'static str,
        /// The smallest number of samples for which it is defined.
        needed: usize,
        /// The number of samples given.
        got: usize,
    },

    /// The quantity needs more wrong labels than there are.
    #[error("{what} needs at least {}, got {got}", counted(*needed, "wrong label"))]
    TooFewErrors {
        /// The quantity.
        what: &'static str,
        /// The smallest number of wrong labels from which on it is given.
        needed: usize,
        /// The number of labels that are not the most likely class.
        got: usize,
    },

    /// A prediction must distinguish at least two classes.
    #[error(
        "the predictions have {}, expected at least 2 classes; of two classes with log-odds z the logits are (0, z)",
        counted(*got, "column")
    )]
    TooFewClasses {
        /// Number of columns given.
        got: usize,
    },

    /// A block must fit into the data.
    #[error(
        "blocks of {} from {}, expected a size from 2 to {samples}",
        counted(*size, "sample"),
        counted(*samples, "sample")
    )]
    BlockSize {
        /// The block size asked for.
        size: usize,
        /// Number of samples.
        samples: usize,
    },

    /// A result that is proved for positive definite kernels needs one.
    #[error(
        "{what} needs a kernel that is known to be positive definite on such predictions, expected such a \
         kernel, or {expected}"
    )]
    NotPositiveDefinite {
        /// The result that needs it.
        what: &'static str,
        /// The alternative.
        expected: &'static str,
    },

    /// There is no fused computation for this kernel.
    #[error("{kernel} has no fused path")]
    NoFusedPath {
        /// The kernel.
        kernel: String,
    },

    /// The quantity does not exist for such predictions, pieces or maps.
    #[error("{what}, expected {expected}")]
    Unsupported {
        /// The reason, as a clause.
        what: String,
        /// The alternative.
        expected: &'static str,
    },

    /// The name of a distance or a profile is unknown.
    #[error("there is no {what} {name:?}, expected one of {expected}")]
    UnknownName {
        /// The kind of thing that was named.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names that there are.
        expected: String,
    },

    /// Groups must hold each class once.
    #[error("{reason}")]
    Groups {
        /// The reason.
        reason: String,
    },

    /// A kernel matrix must be square, symmetric and positive semi-definite.
    #[error("{reason}")]
    KernelMatrix {
        /// The reason, and the expected condition.
        reason: String,
    },

    /// A parameter is outside its domain.
    #[error("{name} is {}, expected {expected}", shown(*value))]
    Parameter {
        /// Its name.
        name: &'static str,
        /// The offending value.
        value: f64,
        /// The condition that was expected.
        expected: &'static str,
    },

    /// A score of a prediction must be a finite number: the log score is infinite if the observation has
    /// probability or density 0.
    #[error("row {row}: the {score} of {target} is {}, expected a finite number", word(*value))]
    Score {
        /// The score.
        score: &'static str,
        /// 0-based row.
        row: usize,
        /// The observation.
        target: String,
        /// Its value.
        value: f64,
    },

    /// The predictions before or after a recalibration violate a condition.
    #[error("{when} recalibration: {reason}")]
    Recalibration {
        /// "before" or "after".
        when: &'static str,
        /// The condition, which the message has: it is no source of its own.
        reason: Box<Error>,
    },

    /// All block estimates are equal: the statistic of the asymptotic test is undefined.
    #[error(
        "all {blocks} block estimates equal {value}, expected a positive variance, which the asymptotic \
         test needs"
    )]
    ZeroVariance {
        /// Number of blocks.
        blocks: usize,
        /// Their common value.
        value: f64,
    },

    /// The residuals at the test locations are linearly dependent: their covariance has no inverse.
    #[error(
        "the residuals at {locations} test locations have a covariance of rank {rank}, expected distinct \
         locations at which labels vary, or fewer locations"
    )]
    SingularCovariance {
        /// Number of test locations.
        locations: usize,
        /// Rank of the covariance.
        rank: usize,
    },

    /// Accumulators that are merged must be of the same classes, bins, kernel and block size.
    #[doc(hidden)]
    #[error("cannot merge: {what} is {own} in one and {other} in the other")]
    Merge {
        /// The setting that differs.
        what: &'static str,
        /// The setting of the accumulator that was to take the other.
        own: String,
        /// The setting of the other.
        other: String,
    },

    /// Scores have a mean if all are finite.
    #[doc(hidden)]
    #[error(
        "the {score} of {infinite} of {samples} samples is infinite: the observed class has \
         probability 0"
    )]
    InfiniteScores {
        /// The score.
        score: &'static str,
        /// The number of samples whose score is infinite.
        infinite: u64,
        /// The number of samples.
        samples: u64,
    },

    /// A file could not be read or written, or has the wrong content.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// The reason, and the expected condition.
        reason: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Returns the row of the error, from 0; None for a condition on all rows.
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::Value { row, .. }
            | Self::Sum { row, .. }
            | Self::Crossing { row, .. }
            | Self::Label { row, .. }
            | Self::Score { row, .. } => Some(*row),
            _ => None,
        }
    }

    /// Names the row of the data, where the samples are some of them: `rows[k]` is the row of sample `k`. Without rows it
    /// stays as it is, as do rows beyond them.
    pub fn at_rows(mut self, rows: &[usize]) -> Self {
        match &mut self {
            Self::Value { row, .. }
            | Self::Sum { row, .. }
            | Self::Crossing { row, .. }
            | Self::Label { row, .. }
            | Self::Score { row, .. } => {
                *row = rows.get(*row).copied().unwrap_or(*row);
            }
            Self::Recalibration { reason, .. } => {
                **reason = reason.as_ref().clone().at_rows(rows);
            }
            _ => (),
        }
        self
    }

    /// Says that the error is about the predictions "before" or "after" a recalibration.
    pub(crate) fn of(self, when: &'static str) -> Self {
        Self::Recalibration {
            when,
            reason: Box::new(self),
        }
    }
}

/// A number with an exponent where it has many zeros.
pub(crate) fn shown(value: f64) -> String {
    if value.is_finite() && value != 0.0 && !(1e-6..1e16).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A number that is not finite, in a sentence.
fn word(value: f64) -> String {
    if value.is_infinite() {
        "infinite".into()
    } else if value.is_nan() {
        "not a number".into()
    } else {
        value.to_string()
    }
}
