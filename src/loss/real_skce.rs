use burn::{config::Config, module::Module, tensor::Tensor};

use crate::{
    distribution::Predictive,
    estimator::{Skce, SkceForm},
    kernel::{Kernel, RealKernel, TargetKernel, TensorKernel},
};

/// Configuration of [`RealSkceLoss`].
#[derive(Config, Debug)]
pub struct RealSkceLossConfig {
    /// The kernel on targets.
    pub targets: RealKernel,
    /// The kernel on predictions. Default: exponential over the 2-Wasserstein distance, median
    /// bandwidth.
    #[config(default = "Kernel::wasserstein()")]
    pub predictions: Kernel,
    /// The estimator. Default: unbiased.
    #[config(default = "SkceForm::Unbiased")]
    pub form: SkceForm,
}

impl RealSkceLossConfig {
    /// The loss.
    ///
    /// # Panics
    ///
    /// If a length scale or a fixed bandwidth is not a positive finite number, or blocks hold fewer
    /// than two samples.
    pub fn init(&self) -> RealSkceLoss {
        let valid = self.predictions.validate().and(self.targets.validate());
        if let Err(error) = valid {
            panic!("{error}");
        }
        if let SkceForm::Block(size) = self.form {
            assert!(size >= 2, "blocks of {size} samples, expected at least 2");
        }
        let kernel = TensorKernel::new(self.predictions, self.targets);
        RealSkceLoss {
            skce: Skce::new(kernel, self.form),
        }
    }
}

/// The squared kernel calibration error of a batch of distributions over `ℝ^d` as a penalty: add it
/// to a loss. For classes see [`SkceLoss`](super::SkceLoss), which has more to say about penalties.
///
/// See [`Skce::value_of`] for cost and what tiny batches give. Create it with
/// [`RealSkceLossConfig`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{distribution::Normal, kernel::RealKernel, loss::RealSkceLossConfig};
///
/// let device = Device::default().autodiff();
/// let output = Tensor::<2>::zeros([8, 2], &device).require_grad(); // of a network
/// let targets = Tensor::<2>::ones([8, 1], &device);
///
/// let penalty = RealSkceLossConfig::new(RealKernel::gaussian(1.0)).init();
/// let loss = penalty.forward(&Normal::from_raw(output.clone(), 1e-3), &targets);
/// assert!(output.grad(&loss.backward()).is_some());
/// ```
#[derive(Module, Debug)]
pub struct RealSkceLoss {
    /// The estimator.
    #[module(skip)]
    pub skce: Skce<TensorKernel<RealKernel>>,
}

impl RealSkceLoss {
    /// The penalty, `[1]`, in the dtype of the predictions.
    ///
    /// # Shapes
    ///
    /// - predictions: `n`
    /// - targets: `[n, d]`
    ///
    /// # Panics
    ///
    /// If the numbers of predictions and targets differ.
    pub fn forward<P>(&self, predictions: &P, targets: &Tensor<2>) -> Tensor<1>
    where
        P: Predictive<Targets = Tensor<2>>,
        RealKernel: TargetKernel<P>,
    {
        self.skce.value_of(predictions, targets)
    }
}
