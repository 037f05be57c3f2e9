use std::borrow::Borrow;

use burn::{
    config::Config,
    module::Module,
    tensor::{
        Int, Tensor,
        activation::{log_softmax, sigmoid},
    },
};

use super::{Criterion, Input, top_label::TopLabel};
use crate::distribution::{Categorical, Predictive};

/// Configuration of [`SoftAvUcLoss`].
#[derive(Config, Debug)]
pub struct SoftAvUcLossConfig {
    /// The relative entropy `κ` in `(0, 1)` at which a prediction is as certain as uncertain. Default: 0.5.
    #[config(default = 0.5)]
    pub threshold: f64,
    /// The temperature `T` of the threshold, which is a hard one for `T → 0`. Default: 1.
    #[config(default = 1.0)]
    pub temperature: f64,
    /// Classes that stand for padding: their samples do not count, as in Burn's cross-entropy.
    pub pad_tokens: Option<Vec<usize>>,
}

impl SoftAvUcLossConfig {
    /// Creates the loss.
    ///
    /// # Panics
    ///
    /// If the threshold is not between 0 and 1, or the temperature not a positive finite number.
    pub fn init(&self) -> SoftAvUcLoss {
        let (threshold, temperature) = (self.threshold, self.temperature);
        assert!(
            threshold > 0.0 && threshold < 1.0,
            "the threshold is {threshold}, expected a number between 0 and 1, both excluded"
        );
        assert!(
            temperature.is_finite() && temperature > 0.0,
            "the temperature of the threshold is {temperature}, expected a positive finite number"
        );
        SoftAvUcLoss {
            threshold,
            temperature,
            pad_tokens: self.pad_tokens.clone().unwrap_or_default(),
        }
    }
}

/// The soft accuracy-versus-uncertainty loss of a batch as a penalty (Karandikar et al. 2021).
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
/// Karandikar et al. 2021, equation 15, after Krishnan and Tickoo 2020; the hyperbolic tangent is that of
/// the entropy in nats, as in the authors' code (`h_i` is in the threshold alone). They search for `κ`, `T`
/// and the weight.
///
/// Create it with [`SoftAvUcLossConfig`].
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::loss::SoftAvUcLossConfig;
///
/// let device = Device::default();
/// let logits = Tensor::<2>::from_floats([[3.0, 0.0], [1.0, 2.0]], &device);
/// let labels = Tensor::<1, Int>::from_ints([0, 0], &device);
/// let penalty = SoftAvUcLossConfig::new().with_temperature(0.1).init().forward(logits, labels);
/// ```
#[derive(Module, Debug)]
pub struct SoftAvUcLoss {
    /// The threshold of the relative entropy.
    #[module(skip)]
    pub threshold: f64,
    /// The temperature of the threshold.
    #[module(skip)]
    pub temperature: f64,
    /// Labels whose samples do not count.
    #[module(skip)]
    pub pad_tokens: Vec<usize>,
}

impl SoftAvUcLoss {
    /// Returns the penalty, `[1]`, in the dtype of the input: of logits and labels, or of predictions and
    /// their labels, see [`Input`].
    ///
    /// # Panics
    ///
    /// If the numbers of predictions and labels differ, or on labels that are no classes where they are on
    /// the host.
    pub fn forward<I: Input<Predictions = Categorical>>(
        &self,
        input: I,
        labels: I::Targets,
    ) -> Tensor<1> {
        self.value(&input.into_predictions(), labels.borrow())
    }
}

impl Criterion for SoftAvUcLoss {
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        if predictions.is_empty() {
            return predictions.zero();
        }
        let top = TopLabel::of(predictions, labels, &self.pad_tokens);
        let float = predictions.dtype().finfo().expect("a float tensor");
        let least = float.epsilon.max(1e-5);
        let p = predictions.probabilities();
        let log_p = match predictions.logits() {
            Some(logits) => log_softmax(logits, 1),
            None => predictions.finite_logits(),
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
        let accurate = top.correct; // 0 for padding
        let inaccurate = top.weight - accurate.clone();
        let sum = |a: Tensor<2>, b: Tensor<2>| {
            (accurate.clone() * a + inaccurate.clone() * b).sum() // [1]
        };
        let against = sum(uncertain.clone(), certain.clone()); // n_AU + n_IC
        let with = sum(certain, uncertain); // n_AC + n_IU
        (against / with.clamp_min(least)).log1p()
    }
}
