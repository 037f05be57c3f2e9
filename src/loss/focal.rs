use burn::{
    config::Config,
    module::Module,
    tensor::{Int, Tensor, activation::log_softmax},
};

use super::criterion::impl_criterion;
use crate::distribution::hits;

/// Configuration of [`FocalLoss`].
#[derive(Config, Debug)]
pub struct FocalLossConfig {
    /// The focusing parameter `γ ≥ 0`; 0 is the log loss. Default: 2.
    #[config(default = 2.0)]
    pub gamma: f64,
}

impl FocalLossConfig {
    /// The loss.
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
        FocalLoss { gamma: self.gamma }
    }
}

/// The focal loss `−(1 − p_y)^γ log p_y`, averaged over the batch (Lin et al.: *Focal loss for dense
/// object detection*, 2017; as a means against overconfidence: Mukhoti et al.: *Calibrating deep neural
/// networks using focal loss*, 2020).
///
/// For `γ ≥ 1` it bounds the log loss minus `γ` times the entropy of the prediction from above. It is
/// **not** a proper score for `γ > 0`: its minimiser is not calibrated. That is less confident than the
/// truth for two classes, and where the likeliest class is likely enough: with `γ = 2`, a probability of
/// 0.9 becomes 0.694. It can be more confident where many classes share the rest: of 30, with the others
/// equal, 0.0486 becomes 0.0500 (Charoenphakdee et al.: *On focal loss for class-posterior probability
/// estimation: a theoretical perspective*, 2021).
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
pub struct FocalLoss {
    /// The focusing parameter.
    #[module(skip)]
    pub gamma: f64,
}

impl FocalLoss {
    /// The mean loss, from logits.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    /// - labels: `[n]`, classes in `0..m`
    /// - output: `[1]`, in the dtype of the logits
    pub fn forward(&self, logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        self.forward_no_reduction(logits, labels).mean()
    }

    /// The loss of each sample, from logits: `[n, m]` and `[n]` to `[n]`.
    pub fn forward_no_reduction(&self, logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        let [n, m] = logits.dims();
        let log_p = log_softmax(logits, 1);
        let hits = hits(labels.clone(), m);
        let least = log_p.dtype().finfo().expect("a float tensor").min / 4.0;
        let others = log_p.clone().mask_fill(hits, least); // −∞ but for the gradient
        let largest = others.clone().max_dim(1).detach();
        // log(1 − p_y) = log Σ_{c ≠ y} p_c
        let log_rest = (others - largest.clone()).exp().sum_dim(1).log() + largest;
        let log_p = log_p.gather(1, labels.reshape([n, 1]));
        self.of(log_p, log_rest)
    }

    /// The mean loss, from probabilities, with the shapes of [`forward`](Self::forward).
    ///
    /// A probability below `√min_positive`, and so `1 − p_y`, counts as that bound, with gradient 0.
    pub fn forward_from_probabilities(
        &self,
        probabilities: Tensor<2>,
        labels: Tensor<1, Int>,
    ) -> Tensor<1> {
        let [n, m] = probabilities.dims();
        let float = probabilities.dtype().finfo().expect("a float tensor");
        let log = |p: Tensor<2>| p.clamp_min(float.min_positive.sqrt()).log();
        let hits = hits(labels.clone(), m);
        let rest = probabilities.clone().mask_fill(hits, 0.0).sum_dim(1);
        let observed = probabilities.gather(1, labels.reshape([n, 1]));
        self.of(log(observed), log(rest)).mean()
    }

    /// The loss of each sample from `log p_y` and `log(1 − p_y)`, both `[n, 1]`: `[n]`.
    fn of(&self, log_p: Tensor<2>, log_rest: Tensor<2>) -> Tensor<1> {
        ((log_rest * self.gamma).exp() * log_p).neg().squeeze_dim(1)
    }
}

impl_criterion!(FocalLoss);
