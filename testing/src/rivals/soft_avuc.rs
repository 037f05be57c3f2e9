//! The soft accuracy-versus-uncertainty loss of Karandikar et al. 2021.

use burn::tensor::{
    Int, Tensor,
    activation::{log_softmax, sigmoid},
};
use burn_calibration::{
    distribution::{Categorical, Predictive},
    loss::Criterion,
};

use super::TopLabel;

/// The soft accuracy-versus-uncertainty loss of a batch (Karandikar et al. 2021).
///
/// With the entropy `H_i` of a prediction over `m` classes, its share `h_i = H_i/ln m` of the largest, and
/// the soft indicator of an uncertain prediction `t_i = σ((logit h_i − logit κ)/T)`, it is
/// `ln(1 + (n_AU + n_IC)/(n_AC + n_IU))`, where accurate predictions add `t_i tanh H_i` to `n_AU` and
/// `(1 − t_i)(1 − tanh H_i)` to `n_AC`, inaccurate ones the same to `n_IU` and `n_IC`. The gradient flows
/// through the entropies, not through what is accurate.
///
/// It asks for right predictions to be certain and for wrong ones to be uncertain: no calibrated model has
/// 0 unless it is always right, and the least value is no sign of calibration. The `h_i` are kept within
/// `[10⁻⁵, 1 − 10⁻⁵]` and the denominator above `10⁻⁵`, with gradient 0 beyond. An empty batch gives
/// 0. Cost: `O(nm)`.
///
/// Equation 15, after Krishnan and Tickoo 2020; the hyperbolic tangent is that of the entropy in nats, as in
/// the authors' code (`h_i` is in the threshold alone). They search for `κ`, `T` and the weight.
#[derive(Debug)]
pub struct SoftAvUc {
    /// The relative entropy `κ` in `(0, 1)` at which a prediction is as certain as uncertain.
    pub threshold: f64,
    /// The temperature `T` of the threshold, which is a hard one for `T → 0`.
    pub temperature: f64,
}

impl Default for SoftAvUc {
    fn default() -> Self {
        Self {
            threshold: 0.5,
            temperature: 1.0,
        }
    }
}

impl Criterion for SoftAvUc {
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        if predictions.is_empty() {
            return predictions.probabilities().sum();
        }
        let top = TopLabel::of(predictions, labels);
        let float = predictions.dtype().finfo().expect("a float tensor");
        let least = float.epsilon.max(1e-5);
        let p = predictions.probabilities();
        let log_p = match predictions.logits() {
            Some(logits) => log_softmax(logits, 1),
            None => p.clone().clamp_min(float.min_positive.sqrt()).log(),
        };
        let entropy = (p * log_p).sum_dim(1).neg(); // H: [n, 1]
        let largest = (predictions.classes() as f64).ln();
        let h = (entropy.clone() * largest.recip()).clamp(least, 1.0 - least);
        let logit = h.clone().log() - (h.neg() + 1.0).log();
        let threshold = (self.threshold / (1.0 - self.threshold)).ln();
        let uncertain = sigmoid((logit - threshold) * self.temperature.recip()); // t
        let tanh = entropy.tanh();
        let certain = (uncertain.clone().neg() + 1.0) * (tanh.clone().neg() + 1.0);
        let uncertain = uncertain * tanh;
        let accurate = top.correct;
        let inaccurate = accurate.clone().neg() + 1.0;
        let sum = |a: Tensor<2>, b: Tensor<2>| {
            (accurate.clone() * a + inaccurate.clone() * b).sum() // [1]
        };
        let against = sum(uncertain.clone(), certain.clone()); // n_AU + n_IC
        let with = sum(certain, uncertain); // n_AC + n_IU
        (against / with.clamp_min(least)).log1p()
    }
}
