//! Estimates: the numbers of an answer beside its test and the sizes of the errors.

use burn_calibration::{
    error::Result, estimator::MeanEstimate, hypothesis::TestOutcome, names::Name,
    numbers::significant,
};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{
    size::Unit,
    value::{Computed, Named},
};

/// A number that describes predictions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
#[non_exhaustive]
pub struct Estimate {
    /// The subject in words: "of the top label".
    #[serde(skip)]
    pub of: String,
    /// The meaning of the number and its limits, in words; empty where a page does not show it.
    #[serde(skip)]
    pub meaning: &'static str,
    /// The unit in which a page shows it.
    #[serde(skip)]
    pub unit: Unit,
    /// The mean of the estimate for labels drawn from the predictions, where a calibrated model has more than 0 too.
    #[serde(skip)]
    pub if_calibrated: Option<f64>,
    /// The value, or why there is none.
    pub value: Computed<Value>,
}

/// The value of an [`Estimate`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A number without a standard error.
    Number(f64),
    /// A mean over samples, of which JSON has the number.
    Score(MeanEstimate),
    /// A mean over samples, of which JSON has the standard error too.
    Mean(MeanEstimate),
}

impl Estimate {
    /// A value with what it is of; pages do not show it.
    pub fn new(of: &str, value: Result<impl Into<Value>>) -> Self {
        Self {
            of: of.to_owned(),
            meaning: "",
            unit: Unit::Decimals,
            if_calibrated: None,
            value: Computed::of(value.map(Into::into)),
        }
    }

    /// An estimate that was not tried, and the reason.
    pub fn skipped(of: &str, reason: &str) -> Self {
        Self {
            value: Computed::or_skipped(None, reason),
            ..Self::new(of, Ok(0.0))
        }
    }

    /// A mean of which JSON has the number.
    pub(super) fn score(of: &str, mean: Result<MeanEstimate>) -> Self {
        Self::new(of, mean.map(Value::Score))
    }

    /// Shows the estimate on pages.
    pub(super) fn on_page(self, unit: Unit, meaning: &'static str) -> Self {
        Self {
            unit,
            meaning,
            ..self
        }
    }
}

impl Value {
    /// The number.
    pub fn number(&self) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Score(mean) | Self::Mean(mean) => mean.estimate,
        }
    }

    /// The standard error, of a mean.
    pub fn standard_error(&self) -> Option<f64> {
        match self {
            Self::Number(_) => None,
            Self::Score(mean) | Self::Mean(mean) => Some(mean.standard_error),
        }
    }

    /// The number, and the standard error where JSON has it too, as cells of a table.
    pub fn cells(&self) -> Vec<String> {
        let mut cells = vec![significant(self.number(), 4)];
        if let Self::Mean(mean) = self {
            cells.push(significant(mean.standard_error, 2));
        }
        cells
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(_) | Self::Score(_) => serializer.serialize_f64(self.number()),
            Self::Mean(mean) => mean.serialize(serializer),
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<MeanEstimate> for Value {
    fn from(mean: MeanEstimate) -> Self {
        Self::Mean(mean)
    }
}

/// The estimates of an answer: the members `estimates` and `estimates_if_calibrated` of JSON, which are left out where
/// they are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimates(pub Named<Estimate>);

impl Estimates {
    /// The means for a calibrated model, of the estimates that are above 0 for it.
    fn if_calibrated(&self) -> Named<f64> {
        let estimates = self.0.0.iter();
        let means = estimates.filter_map(|(name, e)| Some((name.clone(), e.if_calibrated?)));
        Named(means.collect())
    }
}

impl Serialize for Estimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.0.is_empty() {
            map.serialize_entry("estimates", &self.0)?;
        }
        let if_calibrated = self.if_calibrated();
        if !if_calibrated.is_empty() {
            map.serialize_entry("estimates_if_calibrated", &if_calibrated)?;
        }
        map.end()
    }
}

/// The outcome of a test of calibration that was asked for by its name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Tested {
    /// The subject of the test in words: "of the top label".
    #[serde(skip)]
    pub of: String,
    /// The outcome, or why there is none.
    pub value: Computed<TestOutcome>,
}

/// Estimates with their names.
pub type NamedEstimates = Vec<(Name, Estimate)>;
