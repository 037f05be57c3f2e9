use std::{borrow::Borrow, fmt::Debug};

use burn::{config::Config, module::Module, tensor::Tensor};

use super::{Criterion, Input};
use crate::{
    distribution::{Predictive, Targets},
    estimator::{JointKernel, Skce, SkceForm},
    kernel::Kernel,
    ops::Computation,
};

/// Configuration of the [`SkceLoss`] of classes. For other predictions see [`SkceLoss::new`].
#[derive(Config, Debug)]
pub struct SkceLossConfig {
    /// The kernel on predictions. Default: exponential over total variation, median bandwidth.
    #[config(default = "Kernel::exponential()")]
    pub kernel: Kernel,
    /// The estimator. Default: unbiased.
    #[config(default = "SkceForm::Unbiased")]
    pub form: SkceForm,
    /// The computation, fused or composed. Default: fused where possible.
    #[config(default = "Computation::Auto")]
    pub computation: Computation,
    /// Classes that stand for padding: their samples do not count, as in Burn's cross-entropy.
    pub pad_tokens: Option<Vec<usize>>,
}

impl SkceLossConfig {
    /// Returns the loss.
    ///
    /// # Panics
    ///
    /// If a fixed bandwidth is not a positive finite number, or blocks hold fewer than two samples.
    pub fn init(&self) -> SkceLoss {
        if let Err(error) = self.kernel.validate() {
            panic!("{error}");
        }
        let skce = Skce::new(self.kernel, self.form).with_computation(self.computation);
        let pad_tokens = self.pad_tokens.clone().unwrap_or_default();
        SkceLoss::new(skce).with_pad_tokens(pad_tokens)
    }
}

/// The squared kernel calibration error of a batch as a penalty: add it to a loss.
///
/// In the unbiased forms its mean over random batches is the SKCE of the model, so it can be
/// negative on a batch; gradients are unbiased for a fixed bandwidth. A large constant weight can
/// collapse a training to the uniform prediction, whose SKCE is low as well: warm it up, see
/// [`WeightSchedule`](super::WeightSchedule). See [`Skce::value`] for
/// formula, cost and what tiny batches give.
///
/// Create it with [`SkceLossConfig`] for classes, else from an [`Skce`] of a
/// [`TensorKernel`](crate::kernel::TensorKernel):
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{
///     distribution::Normal, estimator::Skce, kernel::{RealKernel, TensorKernel}, loss::SkceLoss,
/// };
///
/// let device = Device::default().autodiff();
/// let output = Tensor::<2>::zeros([8, 2], &device).require_grad(); // of a network
/// let targets = Tensor::<2>::ones([8, 1], &device);
///
/// let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0));
/// let penalty = SkceLoss::new(Skce::unbiased(kernel));
/// let loss = penalty.forward(&Normal::from_raw(output.clone(), 1e-3), &targets);
/// assert!(output.grad(&loss.backward()).is_some());
/// ```
#[derive(Module, Debug)]
pub struct SkceLoss<K: Clone + Debug + Send = Kernel> {
    /// The estimator.
    #[module(skip)]
    pub skce: Skce<K>,
    /// Labels whose samples do not count.
    #[module(skip)]
    pub pad_tokens: Vec<usize>,
}

impl<K: Clone + Debug + Send> SkceLoss<K> {
    /// Creates the loss of an estimator.
    ///
    /// # Panics
    ///
    /// If blocks hold fewer than two samples.
    pub fn new(skce: Skce<K>) -> Self {
        skce.form.block_size(2); // blocks hold at least two
        Self {
            skce,
            pad_tokens: Vec::new(),
        }
    }

    /// Returns the same loss without the samples whose labels stand for padding. A median bandwidth is that
    /// of all samples: with much padding take a fixed one. There is no fused pass then: memory `O(n²)`.
    pub fn with_pad_tokens(self, pad_tokens: Vec<usize>) -> Self {
        Self { pad_tokens, ..self }
    }

    /// Returns the penalty, `[1]`, in the dtype of the input: of logits and labels, or of predictions and
    /// their targets, see [`Input`].
    ///
    /// # Panics
    ///
    /// As [`Skce::value`].
    pub fn forward<I: Input>(&self, input: I, targets: I::Targets) -> Tensor<1>
    where
        K: JointKernel<I::Predictions>,
    {
        self.value(&input.into_predictions(), targets.borrow())
    }
}

impl<P: Predictive, K: JointKernel<P> + Send> Criterion<P> for SkceLoss<K> {
    fn value(&self, predictions: &P, targets: &P::Targets) -> Tensor<1> {
        match targets.kept(&self.pad_tokens) {
            None => self.skce.value(predictions, targets),
            Some(kept) => self.skce.value_of_kept(predictions, targets, kept),
        }
    }
}
