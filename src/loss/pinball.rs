use burn::{config::Config, module::Module, tensor::Tensor};

use crate::estimator::regression::pinball;

/// Configuration of [`PinballLoss`].
#[derive(Config, Debug)]
#[must_use]
pub struct PinballLossConfig {
    /// The levels of the predicted quantiles.
    pub levels: Vec<f64>,
}

impl PinballLossConfig {
    /// Creates the loss.
    ///
    /// # Panics
    ///
    /// If there are no levels, or one is not between 0 and 1.
    pub fn init(&self) -> PinballLoss {
        assert!(!self.levels.is_empty(), "a pinball loss of no levels");
        for &level in &self.levels {
            assert!(
                level > 0.0 && level < 1.0,
                "a level of {level}, expected a number between 0 and 1, both excluded"
            );
        }
        PinballLoss {
            levels: self.levels.clone(),
        }
    }
}

/// The pinball loss of a network that predicts quantiles, averaged over levels and batch.
///
/// Create it with [`PinballLossConfig`]; see [`pinball`] for the score itself.
#[derive(Module, Debug)]
#[must_use]
pub struct PinballLoss {
    /// The levels of the predicted quantiles.
    #[module(skip)]
    pub levels: Vec<f64>,
}

impl PinballLoss {
    /// The mean score.
    ///
    /// # Shapes
    ///
    /// - quantiles: `[n, L]`, at each of the levels
    /// - targets: `[n]`
    /// - output: `[1]`, in the dtype of the quantiles
    ///
    /// # Panics
    ///
    /// If there are not as many quantiles as levels, or targets as rows.
    pub fn forward(&self, quantiles: Tensor<2>, targets: Tensor<1>) -> Tensor<1> {
        self.forward_no_reduction(quantiles, targets).mean()
    }

    /// The score of each sample: `[n, L]` and `[n]` to `[n]`.
    pub fn forward_no_reduction(&self, quantiles: Tensor<2>, targets: Tensor<1>) -> Tensor<1> {
        pinball(quantiles, targets, &self.levels)
    }
}
