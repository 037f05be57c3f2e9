use serde::Serialize;

use crate::error::serialize_or_infinite;

/// A two-sided confidence interval, with its estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
#[must_use]
pub struct Interval {
    /// The estimate.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub estimate: f64,
    /// The lower end.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub lower: f64,
    /// The upper end.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub upper: f64,
    /// The probability that the interval covers the quantity, at least or about.
    pub level: f64,
}

impl Interval {
    /// The interval of a level, from its lower and its upper end.
    pub(crate) fn new(estimate: f64, (lower, upper): (f64, f64), level: f64) -> Self {
        Self {
            estimate,
            lower,
            upper,
            level,
        }
    }

    /// The lower and the upper end.
    pub fn ends(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }
}
