use serde::{Deserialize, Serialize};

use super::FitReport;

/// How a map came about: each fitted map has one beside its parameters, and a saved map keeps it.
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
