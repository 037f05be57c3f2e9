use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::checks::row_means;
use crate::{
    distribution::{Batch as _, Marginals},
    error::Result,
    estimator::{Estimator, MeanEstimate},
    host::to_vec,
};

/// The spread of predictions, which does not depend on the targets. Of two calibrated models the sharper
/// one is more informative (Gneiting, Balabdaoui, Raftery 2007). The widths of intervals are in
/// [`IntervalCoverage`](super::IntervalCoverage).
///
/// The [`estimate`](Estimator::estimate) is the mean predicted standard deviation. The targets are only
/// checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub struct Sharpness;

impl Sharpness {
    /// The mean predicted standard deviation, over samples and coordinates, in units of the targets.
    pub fn standard_deviation<P: Marginals>(&self, predictions: &P) -> Result<MeanEstimate> {
        mean(predictions, f64::sqrt)
    }

    /// The mean predicted variance.
    pub fn variance<P: Marginals>(&self, predictions: &P) -> Result<MeanEstimate> {
        mean(predictions, |variance| variance)
    }
}

impl<P: Marginals> Estimator<P> for Sharpness {
    fn estimate(&self, predictions: &P, targets: &Tensor<2>) -> Result<f64> {
        predictions.check_targets(targets)?;
        Ok(self.standard_deviation(predictions)?.estimate)
    }
}

/// The mean of a function of the predicted variances.
fn mean<P: Marginals>(predictions: &P, of: fn(f64) -> f64) -> Result<MeanEstimate> {
    let (predictions, weights) = predictions.parted();
    predictions.check()?;
    let variances = predictions.detach().variances(); // [n, d]
    let d = variances.dims()[1];
    let values: Vec<f64> = to_vec(variances).into_iter().map(of).collect();
    Ok(MeanEstimate::weighted(&row_means(&values, d), &weights))
}
