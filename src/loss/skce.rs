use std::{borrow::Borrow, fmt::Debug};

use burn::{config::Config, module::Module, tensor::Tensor};
use serde::{Deserialize, Serialize};

use super::{Criterion, Input};
use crate::{
    distribution::{Batch as _, Geometry, Targets},
    estimator::{JointKernel, Skce, SkceForm, null_deviation},
    kernel::{Bandwidth, Kernel},
    ops::Computation,
};

/// The scale on which an [`SkceLoss`] penalises the squared kernel calibration error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SkceScale {
    /// The SKCE itself. It is of the order of 10⁻³, against 1 for a cross-entropy, and its gradient
    /// vanishes with it. It needs weights of 10 to 100, depending on the data.
    Squared,
    /// `√SKCE_b`, the root of the biased form, with gradient 0 where it is 0: an error as the ECE is, whose
    /// gradient does not vanish with it.
    ///
    /// The diagonal of the biased form is `n⁻¹` times the mean Brier score, and most of it in small
    /// batches: there the root is a Brier score as well. Over the exponential kernel, which is not smooth, its
    /// gradient has no bound where predictions coincide; over a Gaussian or Matérn kernel it has.
    Root,
    /// `SKCE_u/σ`: the unbiased form over its standard deviation if the model is calibrated, given the
    /// predictions, see [`JointKernel::null_deviation`](crate::estimator::JointKernel::null_deviation).
    /// A z-score: its mean is 0 and its standard deviation 1 for a calibrated model, whatever the kernel,
    /// the bandwidth, the batch size and the number of classes. No gradient flows through `σ`.
    Standardised,
}

/// Configuration of the [`SkceLoss`] of classes. For other predictions see [`SkceLoss::new`].
#[derive(Config, Debug)]
#[must_use]
pub struct SkceLossConfig {
    /// The kernel on predictions. Default: exponential over total variation, bandwidth 1, which is the
    /// largest distance. With a fixed bandwidth the gradient is unbiased, and this one is the safest from the
    /// first step on (`docs/penalties.md`).
    #[config(default = "Kernel::exponential().with_bandwidth(Bandwidth::Fixed(1.0))")]
    pub kernel: Kernel,
    /// The estimator. Default: unbiased.
    #[config(default = "SkceForm::Unbiased")]
    pub form: SkceForm,
    /// The scale of the penalty. Default: the SKCE itself. See [`root`](Self::root) and
    /// [`standardised`](Self::standardised).
    #[config(default = "SkceScale::Squared")]
    pub scale: SkceScale,
    /// The computation, fused or composed. Default: fused where possible.
    #[config(default = "Computation::Auto")]
    pub computation: Computation,
    /// Classes that stand for padding: their samples do not count, as in Burn's cross-entropy.
    pub pad_tokens: Option<Vec<usize>>,
}

impl SkceLossConfig {
    /// Configures the root of the biased form, see [`SkceScale::Root`].
    pub fn root() -> Self {
        Self::new()
            .with_form(SkceForm::Biased)
            .with_scale(SkceScale::Root)
    }

    /// Configures the unbiased form over its standard deviation, see [`SkceScale::Standardised`].
    pub fn standardised() -> Self {
        Self::new().with_scale(SkceScale::Standardised)
    }

    /// Returns the loss.
    ///
    /// # Panics
    ///
    /// If a fixed bandwidth is not a positive finite number, blocks hold fewer than two samples, or the
    /// scale is not one of the form, see [`SkceLoss::with_scale`].
    pub fn init(&self) -> SkceLoss {
        if let Err(error) = self.kernel.validate() {
            panic!("{error}");
        }
        let skce = Skce::new(self.kernel, self.form).with_computation(self.computation);
        let pad_tokens = self.pad_tokens.clone().unwrap_or_default();
        SkceLoss::new(skce)
            .with_scale(self.scale)
            .with_pad_tokens(pad_tokens)
    }
}

/// The kernel calibration error of a batch as a penalty: add it to a loss.
///
/// It is the squared error, its root or a z-score: see [`SkceScale`]. In the unbiased forms the mean of the
/// square over random batches is the SKCE of the model, so it can be negative on a batch; gradients are
/// unbiased for a fixed bandwidth. A median bandwidth has a floor in training, see
/// [`TRAINING_FLOOR`](crate::kernel::TRAINING_FLOOR). A large constant weight can
/// collapse a training to the uniform prediction, whose SKCE is low as well: warm it up, see
/// [`WeightSchedule`](super::WeightSchedule). See [`Skce::value`] for
/// formula, cost and what tiny batches give.
///
/// **The input decides what the kernel compares.** With plain logits, and with predictions, it compares the
/// predictions. With [`&Given::logits(logits, inputs)`](crate::distribution::Given::logits) it compares the
/// inputs of the network, and finds the errors that similar inputs have in common. Both compile with the same
/// loss.
///
/// Create it with [`SkceLossConfig`] for classes, otherwise from an [`Skce`] of a
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
#[must_use]
pub struct SkceLoss<K: Clone + Debug + Send = Kernel> {
    /// The estimator.
    #[module(skip)]
    pub skce: Skce<K>,
    /// The function of the SKCE that is the penalty.
    #[module(skip)]
    pub scale: SkceScale,
    /// Labels whose samples do not count.
    #[module(skip)]
    pub pad_tokens: Vec<usize>,
}

impl<K: Clone + Debug + Send> SkceLoss<K> {
    /// Creates the loss `√SKCE_b`, see [`SkceScale::Root`].
    pub fn root(kernel: K) -> Self {
        Self::new(Skce::biased(kernel)).with_scale(SkceScale::Root)
    }

    /// Creates the loss `SKCE_u/σ`, see [`SkceScale::Standardised`].
    pub fn standardised(kernel: K) -> Self {
        Self::new(Skce::unbiased(kernel)).with_scale(SkceScale::Standardised)
    }

    /// Creates the loss of an estimator: the value itself.
    ///
    /// # Panics
    ///
    /// If blocks hold fewer than two samples.
    pub fn new(skce: Skce<K>) -> Self {
        skce.form.block_size(2); // blocks hold at least two
        Self {
            skce,
            scale: SkceScale::Squared,
            pad_tokens: Vec::new(),
        }
    }

    /// Returns the loss on another scale.
    ///
    /// # Panics
    ///
    /// If a root is asked of an unbiased form, which can be negative, or a z-score of another form
    /// than the unbiased one.
    pub fn with_scale(self, scale: SkceScale) -> Self {
        let form = self.skce.form;
        let expected = match scale {
            SkceScale::Squared => form,
            SkceScale::Root => SkceForm::Biased,
            SkceScale::Standardised => SkceForm::Unbiased,
        };
        assert!(
            form == expected,
            "the scale {scale:?} of the form {form:?}: expected the form {expected:?}"
        );
        Self { scale, ..self }
    }

    /// Returns the same loss without the samples whose labels stand for padding. A median bandwidth is that
    /// of the samples that count, and there is no fused pass with one: memory `O(n²)`.
    pub fn with_pad_tokens(self, pad_tokens: Vec<usize>) -> Self {
        Self { pad_tokens, ..self }
    }

    /// Returns the penalty, `[1]`, in the dtype of the input: for logits and labels, or of predictions and
    /// their targets, see [`Input`]. Plain logits compare the predictions; to compare the inputs of the
    /// network pass [`&Given::logits(logits, inputs)`](crate::distribution::Given::logits).
    ///
    /// # Panics
    ///
    /// As [`Skce::value`].
    pub fn forward<I: Input>(&self, input: I, targets: I::Targets) -> Tensor<1>
    where
        I::Predictions: Geometry,
        K: JointKernel<I::Predictions>,
    {
        self.value(&input.into_predictions(), targets.borrow())
    }
}

impl<P: Geometry, K: JointKernel<P> + Send> Criterion<P> for SkceLoss<K> {
    fn value(&self, predictions: &P, targets: &P::Targets) -> Tensor<1> {
        let (plain, weights) = &predictions.batch_parts();
        let kept = targets.kept(&self.pad_tokens);
        let mut kernel = self.skce.kernel.on_predictions();
        kernel = kernel.with_bandwidth(kernel.bandwidth.for_training());
        if let (SkceScale::Standardised, None, Some(points)) =
            (self.scale, &kept, plain.coordinates())
        {
            // the value and its deviation take one bandwidth
            kernel = kernel.fixed_on_host(points, || plain.spread());
        }
        let skce = Skce {
            kernel: self.skce.kernel.with_kernel_on_predictions(kernel),
            ..self.skce
        };
        let value = skce.value_of_kept(predictions, targets, kept.clone());
        match self.scale {
            SkceScale::Squared => value,
            SkceScale::Root => root(value),
            SkceScale::Standardised if predictions.len() < 2 => value,
            SkceScale::Standardised => {
                let counted = (kept, weights.clone());
                value / null_deviation(&skce.kernel, &plain.detach(), targets, counted)
            }
        }
    }

    fn pad_tokens(&self) -> Option<&[usize]> {
        Some(&self.pad_tokens)
    }

    fn takes_weights(&self) -> bool {
        true
    }
}

/// `√x` where `x > 0`, and 0 with gradient 0 elsewhere (rounding can take a square below 0).
pub(super) fn root(x: Tensor<1>) -> Tensor<1> {
    let zero = x.clone().lower_equal_scalar(0.0);
    x.mask_fill(zero.clone(), 1.0).sqrt().mask_fill(zero, 0.0)
}
