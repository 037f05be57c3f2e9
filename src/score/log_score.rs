use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::Score;
use crate::distribution::Density;

/// The log score: `−ln f(y)` of predictions with a density, `−ln p_y` of classes, in nats; strictly
/// proper.
///
/// For classes it lies in `[0, ∞]`, and its mean is an upper bound of a calibration error. For a density it
/// is negative where the density is above 1, and depends on the units of the targets: with `y` times `c`,
/// in `d` dimensions, by `d ln c`, so that only differences mean something. The infimum of its entropy is
/// −∞ there: there is no upper bound of a calibration error (Gruber and Buettner 2022).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogScore;

impl<P: Density> Score<P> for LogScore {
    fn name(&self) -> &'static str {
        "log score"
    }

    fn values(&self, predictions: &P, targets: &P::Targets) -> Tensor<1> {
        predictions.log_density(targets).neg()
    }

    fn values_of_data(&self, predictions: &P, targets: &P::Targets) -> Tensor<1> {
        predictions.log_density_of_data(targets).neg()
    }

    fn is_bounded(&self) -> bool {
        P::has_bounded_entropy()
    }
}
