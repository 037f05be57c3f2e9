use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::Ece;
use crate::{distribution::Categorical, error::Result, estimator::Estimator};

/// The maximum calibration error: the largest discrepancy `max_b d(p̄_b, ȳ_b)` over the bins of an
/// [`Ece`], by default the top label with 15 bins of equal width.
///
/// Source: Naeini et al. 2015. Strongly biased upward: a bin with a single sample can determine it. Bins of
/// equal mass limit this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mce {
    /// The aspect, the bins and the distance.
    pub ece: Ece,
}

impl Mce {
    /// Creates the estimator with the aspect, bins and distance of an ECE.
    pub fn new(ece: Ece) -> Self {
        Self { ece }
    }
}

impl Estimator for Mce {
    /// The estimate from data, with the shapes, cost and errors of [`Ece::estimate`].
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let bins = self.ece.bins(predictions, labels)?;
        Ok(self.ece.discrepancy.greatest(&bins))
    }
}
