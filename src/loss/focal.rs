use std::borrow::Borrow;

use burn::{
    config::Config,
    module::Module,
    tensor::{Int, Tensor, activation::log_softmax},
};

use super::{Criterion, Input, score::mean_of_kept};
use crate::distribution::{Batch as _, Categorical, Targets, hits, observed};

/// Configuration of [`FocalLoss`].
#[derive(Config, Debug)]
#[must_use]
pub struct FocalLossConfig {
    /// The focusing parameter `γ ≥ 0`; 0 is the log loss. Default: 2.
    #[config(default = 2.0)]
    pub gamma: f64,
    /// Classes that stand for padding: their samples do not count, as in Burn's cross-entropy.
    pub pad_tokens: Option<Vec<usize>>,
}

impl FocalLossConfig {
    /// Creates the loss.
    ///
    /// # Panics
    ///
    /// If `γ` is negative, NaN or infinite.
    pub fn init(&self) -> FocalLoss {
        assert!(
            self.gamma.is_finite() && self.gamma >= 0.0,
            "γ is {}: expected a finite number of at least 0",
            self.gamma
        );
        FocalLoss {
            gamma: self.gamma,
            pad_tokens: self.pad_tokens.clone().unwrap_or_default(),
        }
    }
}

/// The focal loss `−(1 − p_y)^γ log p_y`, averaged over the batch (Lin et al. 2017; as a means against
/// overconfidence, Mukhoti et al. 2020).
///
/// For `γ ≥ 1` it bounds the log loss minus `γ` times the entropy of the prediction from above. It is
/// **not** a proper score for `γ > 0`: its minimiser is not calibrated. That is less confident than the
/// truth for two classes, and where the likeliest class is likely enough: with `γ = 2`, a probability of
/// 0.9 becomes 0.694. It can be more confident where many classes share the rest: of 30, with the others
/// equal, 0.0486 becomes 0.0500 (Charoenphakdee et al. 2021).
///
/// `log(1 − p_y)` is computed from the logits of the other classes, so that values and gradients are
/// finite for every `γ` where `p_y` rounds to 1. Cost: `O(nm)`.
///
/// Create it with [`FocalLossConfig`].
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::loss::FocalLossConfig;
///
/// let device = Device::default();
/// let logits = Tensor::<2>::from_floats([[3.0, 0.0], [1.0, 2.0]], &device);
/// let labels = Tensor::<1, Int>::from_ints([0, 1], &device);
/// let loss = FocalLossConfig::new().with_gamma(3.0).init().forward(logits, labels);
/// ```
#[derive(Module, Debug)]
#[must_use]
pub struct FocalLoss {
    /// The focusing parameter.
    #[module(skip)]
    pub gamma: f64,
    /// Labels whose samples do not count.
    #[module(skip)]
    pub pad_tokens: Vec<usize>,
}

impl FocalLoss {
    /// Returns the mean loss, `[1]`, in the dtype of the input: for logits and labels, or of predictions
    /// and their labels, see [`Input`].
    ///
    /// From probabilities, a `p_y` or `1 − p_y` below `√min_positive` counts as that bound, with
    /// gradient 0.
    ///
    /// # Panics
    ///
    /// If the numbers of predictions and labels differ.
    pub fn forward<I: Input<Predictions = Categorical>>(
        &self,
        input: I,
        labels: I::Targets,
    ) -> Tensor<1> {
        self.value(&input.into_predictions(), labels.borrow())
    }

    /// Returns the loss of each sample, `[n]`, padding included.
    pub fn forward_no_reduction<I: Input<Predictions = Categorical>>(
        &self,
        input: I,
        labels: I::Targets,
    ) -> Tensor<1> {
        self.values(&input.into_predictions(), labels.borrow())
    }

    fn values(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        predictions.assert_targets(labels);
        let hits = hits(labels.clone(), predictions.classes());
        let of_label = |rows: Tensor<2>| observed(rows, labels.clone()).unsqueeze_dim(1);
        let (log_p, log_rest): (Tensor<2>, _) = match predictions.logits() {
            Some(logits) => {
                let log_p = log_softmax(logits, 1);
                let least = log_p.dtype().finfo().expect("a float tensor").min / 4.0;
                let others = log_p.clone().mask_fill(hits, least); // −∞ but for the gradient
                let largest = others.clone().max_dim(1).detach();
                // log(1 − p_y) = log Σ_{c ≠ y} p_c
                let log_rest = (others - largest.clone()).exp().sum_dim(1).log() + largest;
                (of_label(log_p), log_rest)
            }
            None => {
                let p = predictions.probabilities();
                let float = p.dtype().finfo().expect("a float tensor");
                let log = |p: Tensor<2>| p.clamp_min(float.min_positive.sqrt()).log();
                let rest = p.clone().mask_fill(hits, 0.0).sum_dim(1);
                (log(of_label(p)), log(rest))
            }
        }; // [n, 1] each
        ((log_rest * self.gamma).exp() * log_p).neg().squeeze_dim(1)
    }
}

impl Criterion for FocalLoss {
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        let (predictions, weights) = &predictions.batch_parts();
        let kept = labels.kept(&self.pad_tokens);
        mean_of_kept(self.values(predictions, labels), kept, weights)
    }

    fn pad_tokens(&self) -> Option<&[usize]> {
        Some(&self.pad_tokens)
    }

    fn takes_weights(&self) -> bool {
        true
    }
}
