use serde::{Deserialize, Serialize};

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
