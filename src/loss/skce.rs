use burn::{
    config::Config,
    module::Module,
    tensor::{Int, Tensor},
};

use super::criterion::impl_criterion;
use crate::{
    estimator::{Skce, SkceForm},
    kernel::Kernel,
    ops::{Computation, softmax},
};

/// Configuration of [`SkceLoss`].
#[derive(Config, Debug)]
pub struct SkceLossConfig {
    /// The kernel on predictions. Default: exponential over total variation, median bandwidth.
    #[config(default = "Kernel::exponential()")]
    pub kernel: Kernel,
    /// The estimator. Default: unbiased.
    #[config(default = "SkceForm::Unbiased")]
    pub form: SkceForm,
    /// Fused or composed. Default: fused where possible.
    #[config(default = "Computation::Auto")]
    pub computation: Computation,
}

impl SkceLossConfig {
    /// The loss.
    ///
    /// # Panics
    ///
    /// If a fixed bandwidth is not a positive finite number, or blocks hold fewer than two samples.
    pub fn init(&self) -> SkceLoss {
        if let Err(error) = self.kernel.validate() {
            panic!("{error}");
        }
        if let SkceForm::Block(size) = self.form {
            assert!(size >= 2, "blocks of {size} samples, expected at least 2");
        }
        SkceLoss {
            skce: Skce::new(self.kernel, self.form).with_computation(self.computation),
        }
    }
}

/// The squared kernel calibration error of a batch as a penalty: add it to a loss.
///
/// In the unbiased forms its mean over random batches is the SKCE of the model, so it can be
/// negative on a batch; gradients are unbiased for a fixed bandwidth. A large constant weight can
/// collapse a training to the uniform prediction, whose SKCE is low as well: warm it up, see
/// [`WeightSchedule`](super::WeightSchedule). See [`Skce::value`] for
/// formula, cost and what tiny batches give. Create it with [`SkceLossConfig`].
#[derive(Module, Debug)]
pub struct SkceLoss {
    /// The estimator.
    #[module(skip)]
    pub skce: Skce,
}

impl SkceLoss {
    /// The penalty from logits.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    /// - labels: `[n]`, classes in `0..m`
    /// - output: `[1]`, in the dtype of the logits
    pub fn forward(&self, logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        self.forward_from_probabilities(softmax(logits), labels)
    }

    /// The penalty from probabilities, with the shapes of [`forward`](Self::forward).
    pub fn forward_from_probabilities(
        &self,
        probabilities: Tensor<2>,
        labels: Tensor<1, Int>,
    ) -> Tensor<1> {
        self.skce.value(probabilities, labels)
    }
}

impl_criterion!(SkceLoss);
