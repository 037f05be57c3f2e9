use burn::{
    config::Config,
    module::Module,
    tensor::{Int, Tensor},
};

use super::criterion::impl_criterion;
use crate::{
    distribution::Categorical,
    error::Result,
    score::{MeanEstimate, ProperScore},
};

/// Configuration of [`BrierLoss`].
#[derive(Config, Debug)]
pub struct BrierLossConfig {}

impl BrierLossConfig {
    /// The loss.
    pub fn init(&self) -> BrierLoss {
        BrierLoss
    }
}

/// The Brier loss `‖p − e_y‖²`, averaged over the batch.
///
/// Create it with [`BrierLossConfig`]; see [`ProperScore::Brier`] for the score itself.
#[derive(Module, Debug)]
pub struct BrierLoss;

impl BrierLoss {
    /// The mean score, from logits.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    /// - labels: `[n]`, classes in `0..m`
    /// - output: `[1]`, in the dtype of the logits
    pub fn forward(&self, logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        self.forward_no_reduction(logits, labels).mean()
    }

    /// The score of each sample, from logits: `[n, m]` and `[n]` to `[n]`.
    pub fn forward_no_reduction(&self, logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        ProperScore::Brier.values_from_logits(logits, labels)
    }

    /// The mean score, from probabilities, with the shapes of [`forward`](Self::forward).
    pub fn forward_from_probabilities(
        &self,
        probabilities: Tensor<2>,
        labels: Tensor<1, Int>,
    ) -> Tensor<1> {
        ProperScore::Brier.values(probabilities, labels).mean()
    }

    /// The upper bound of the calibration error that this score gives, with its standard error,
    /// from data; see [`ProperScore::upper_bound`].
    ///
    /// # Errors
    ///
    /// As [`ProperScore::upper_bound`].
    pub fn upper_bound(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<MeanEstimate> {
        ProperScore::Brier.upper_bound(predictions, labels)
    }
}

impl_criterion!(BrierLoss);
