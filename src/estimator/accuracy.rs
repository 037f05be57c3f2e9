use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{Estimator, Event};
use crate::{distribution::Categorical, error::Result};

/// The accuracy: the share of samples whose most likely class is the right one, the first of several.
///
/// It is not a calibration error, but report it together with one: a map that lowers the error can change
/// the accuracy.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, estimator::{Accuracy, Estimator}};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let logits = Tensor::<2>::from_floats([[2.0, 0.0], [0.0, 1.0], [3.0, 1.0]], &device);
/// let labels = Tensor::<1, Int>::from_ints([0, 0, 0], &device);
/// let accuracy = Accuracy.estimate(&Categorical::from_logits(logits)?, &labels)?;
/// assert!((accuracy - 2.0 / 3.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub struct Accuracy;

impl Estimator for Accuracy {
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let outcomes = Event::TopLabel.weighted_outcomes(predictions, labels)?;
        Ok(outcomes.mean(|sample| sample.occurred))
    }
}
