use std::borrow::Borrow;

use burn::{
    config::Config,
    module::Module,
    tensor::{Int, Tensor},
};

use super::{Criterion, Input, skce::root};
use crate::{
    distribution::{Categorical, Targets},
    estimator::{Mmce, MmceForm},
    ops::Computation,
};

/// Configuration of [`MmceLoss`].
#[derive(Config, Debug)]
#[must_use]
pub struct MmceLossConfig {
    /// The estimator of the squared MMCE. Default: unweighted, which takes weights of 3 to 30; Kumar et
    /// al. train with the weighted form, at weights of 0.1 to 1. Neither is better everywhere
    /// (`docs/penalties.md`): the weighted one can end underconfident.
    #[config(default = "MmceForm::Unweighted")]
    pub form: MmceForm,
    /// The bandwidth of the Laplacian kernel on confidences. Default: 0.4.
    #[config(default = 0.4)]
    pub bandwidth: f64,
    /// The squared MMCE rather than its root. Default: false.
    #[config(default = false)]
    pub squared: bool,
    /// The computation, fused or composed. Default: fused on the host.
    #[config(default = "Computation::Auto")]
    pub computation: Computation,
    /// Classes that stand for padding: their samples do not count, as in Burn's cross-entropy.
    pub pad_tokens: Option<Vec<usize>>,
}

impl MmceLossConfig {
    /// Creates the loss.
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
            pad_tokens: self.pad_tokens.clone().unwrap_or_default(),
        }
    }
}

/// The maximum mean calibration error of a batch as a penalty (Kumar et al. 2018), or its square.
///
/// The root has gradient 0 where the error is 0. See [`Mmce::value`] for formula and cost. Create
/// it with [`MmceLossConfig`].
#[derive(Module, Debug)]
#[must_use]
pub struct MmceLoss {
    /// The estimator.
    #[module(skip)]
    pub mmce: Mmce,
    /// The squared MMCE rather than its root.
    pub squared: bool,
    /// Labels whose samples do not count.
    #[module(skip)]
    pub pad_tokens: Vec<usize>,
}

impl MmceLoss {
    /// Returns the penalty, `[1]`, in the dtype of the input: for logits and labels, or of predictions and
    /// their labels, see [`Input`].
    ///
    /// # Panics
    ///
    /// As [`Mmce::value`].
    pub fn forward<I: Input<Predictions = Categorical>>(
        &self,
        input: I,
        labels: I::Targets,
    ) -> Tensor<1> {
        self.value(&input.into_predictions(), labels.borrow())
    }
}

impl Criterion for MmceLoss {
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        let kept = labels.kept(&self.pad_tokens);
        let square = self.mmce.value_of_kept(predictions, labels, kept);
        if self.squared { square } else { root(square) }
    }

    fn pad_tokens(&self) -> Option<&[usize]> {
        Some(&self.pad_tokens)
    }

    fn takes_weights(&self) -> bool {
        true
    }
}
