use burn::{
    config::Config,
    module::Module,
    tensor::{Int, Tensor},
};

use super::criterion::impl_criterion;
use crate::{
    estimator::{Mmce, MmceForm},
    ops::{Computation, softmax},
};

/// Configuration of [`MmceLoss`].
#[derive(Config, Debug)]
pub struct MmceLossConfig {
    /// The estimator of the squared MMCE. Default: unweighted.
    #[config(default = "MmceForm::Unweighted")]
    pub form: MmceForm,
    /// The bandwidth of the Laplacian kernel on confidences. Default: 0.4.
    #[config(default = 0.4)]
    pub bandwidth: f64,
    /// The squared MMCE rather than its root. Default: false.
    #[config(default = false)]
    pub squared: bool,
    /// Fused or composed. Default: fused on the host.
    #[config(default = "Computation::Auto")]
    pub computation: Computation,
}

impl MmceLossConfig {
    /// The loss.
    ///
    /// # Panics
    ///
    /// If the bandwidth is not a positive finite number, or a root is asked of the unbiased form,
    /// which can be negative.
    pub fn init(&self) -> MmceLoss {
        let bandwidth = self.bandwidth;
        assert!(
            bandwidth.is_finite() && bandwidth > 0.0,
            "the kernel bandwidth is {bandwidth}, expected a positive finite number"
        );
        assert!(
            self.squared || self.form != MmceForm::Unbiased,
            "the unbiased MMCE can be negative and has no root: configure with_squared(true)"
        );
        MmceLoss {
            mmce: Mmce {
                form: self.form,
                bandwidth,
                computation: self.computation,
            },
            squared: self.squared,
        }
    }
}

/// The maximum mean calibration error of a batch as a penalty (Kumar et al. 2018), or its square.
///
/// The root has gradient 0 where the error is 0. See [`Mmce::value`] for formula and cost. Create
/// it with [`MmceLossConfig`].
#[derive(Module, Debug)]
pub struct MmceLoss {
    /// The estimator.
    #[module(skip)]
    pub mmce: Mmce,
    /// The squared MMCE rather than its root.
    pub squared: bool,
}

impl MmceLoss {
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
        let square = self.mmce.value(probabilities, labels);
        if self.squared { square } else { root(square) }
    }
}

/// `√x` where `x > 0`, and 0 with gradient 0 elsewhere (rounding can take a square below 0).
fn root(x: Tensor<1>) -> Tensor<1> {
    let zero = x.clone().lower_equal_scalar(0.0);
    x.mask_fill(zero.clone(), 1.0).sqrt().mask_fill(zero, 0.0)
}

impl_criterion!(MmceLoss);
