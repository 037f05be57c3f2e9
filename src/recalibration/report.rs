use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    FitWarning,
    fit::{Progress, observer},
};
use crate::numbers;

/// The way a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum FitStatus {
    /// The fit is at a minimum, to the tolerance.
    Converged,
    /// The fit is at the lower bound of the parameter, where the criterion still falls. For a temperature,
    /// the data are separable, or nearly so: every row is right, and sharper is better.
    LowerBound,
    /// The fit is at the upper bound of the parameter, where the criterion still falls. For a temperature,
    /// the logits are uninformative or misleading, and the uniform prediction is best.
    UpperBound,
    /// The criterion does not depend on the parameter, which stays at its neutral value. For a
    /// temperature, the logits of each row are all equal.
    Indifferent,
    /// The iterations ran out before the tolerance was met.
    IterationLimit,
    /// No lower value was found along the direction of descent before the tolerance was met: the
    /// gradient is that of rounding, or does not belong to the value, as where a median bandwidth
    /// moves with the map.
    Stalled,
}

/// A report of how a fit went.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct FitReport {
    /// The way the fit ended.
    pub status: FitStatus,
    /// The value of the criterion, with its regularisation, at the fitted parameters.
    pub objective: f64,
    /// The largest derivative of the criterion with respect to a parameter in absolute value, where
    /// the solver knows it; of a temperature, the derivative with respect to its logarithm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient: Option<f64>,
    /// The number of evaluations of the criterion (or its derivative) in the last fit.
    pub evaluations: usize,
    /// The weight of the regularisation, for maps that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regularisation: Option<f64>,
    /// Warnings, to be read before the map is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<FitWarning>,
}

impl FitReport {
    /// Reports a fit without regularisation and without warnings.
    pub fn new(
        status: FitStatus,
        objective: f64,
        gradient: Option<f64>,
        evaluations: usize,
    ) -> Self {
        Self {
            status,
            objective,
            gradient,
            evaluations,
            regularisation: None,
            warnings: vec![],
        }
    }

    /// Reports a fit that needs no iterations, also to the progress callback.
    pub(super) fn found(objective: f64, progress: Progress<'_>) -> Self {
        observer(progress, 1, 1)(1, objective);
        Self::new(FitStatus::Converged, objective, None, 1)
    }
}

impl fmt::Display for FitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = match self.status {
            FitStatus::Converged => "converged",
            FitStatus::LowerBound => "stopped at the lower bound of the parameter",
            FitStatus::UpperBound => "stopped at the upper bound of the parameter",
            FitStatus::Indifferent => "the criterion does not depend on the parameter",
            FitStatus::IterationLimit => "ran out of iterations",
            FitStatus::Stalled => "found no further descent",
        };
        let evaluations = numbers::counted(self.evaluations, "evaluation");
        write!(
            f,
            "{status} after {evaluations} at {}",
            numbers::fixed(self.objective, 6)
        )?;
        if let Some(gradient) = self.gradient {
            write!(f, ", gradient {gradient:.1e}")?;
        }
        if let Some(weight) = self.regularisation {
            write!(f, ", regularisation {weight:.0e}")?;
        }
        Ok(())
    }
}

/// The origin of a map. Each fitted map has one beside its parameters, and a saved map keeps it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct FitRecord {
    /// The report of the fit; none of a map that was built from its parameters, or restored from the record of a model.
    pub report: Option<FitReport>,
    /// The kind of data that the map was fitted to.
    pub fitted_to: FittedTo,
}

impl From<FitReport> for FitRecord {
    fn from(report: FitReport) -> Self {
        Self {
            report: Some(report),
            ..Self::default()
        }
    }
}

/// The kind of data that a map was fitted to, if it was set.
///
/// A saved map keeps it. The command `calibration` sets it, matches columns by these names, and refuses a
/// map for predictions of another family.
///
/// ```
/// use burn::tensor::Device;
/// use burn_calibration::recalibration::{FittedMap, FittedTo, TemperatureScaling};
///
/// let columns = ["cat", "dog"].map(String::from).to_vec();
/// let mut map = TemperatureScaling::template(2, &Device::default());
/// map.set_fitted_to(FittedTo { columns, ..FittedTo::default() });
/// assert_eq!(map.fitted_to().columns[1], "dog");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FittedTo {
    /// The family of the predictions, as at the command line: "categorical", "normal" or "laplace"; of confidences
    /// with correctness "correctness".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Whether logits were given, or else probabilities, whose logarithms are the logits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logits: Option<bool>,
    /// The names of the columns: classes, or parameters of distributions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The probability to which smaller ones were raised before the fit, after which rows were divided by their sums;
    /// none if they were taken as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
}
