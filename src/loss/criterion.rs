use burn::{
    nn::loss::CrossEntropyLoss,
    tensor::{Int, Tensor},
};

use crate::distribution::{Batch as _, Categorical, Predictive};

/// A differentiable criterion of predictions: what a [`PenalisedLoss`](super::PenalisedLoss) is made of,
/// and what recalibration maps are fitted by. Smaller is better.
///
/// The losses here are criteria, and so are Burn's cross-entropy and any function of predictions and
/// targets:
///
/// ```
/// use burn::tensor::{Int, Tensor};
/// use burn_calibration::{distribution::Categorical, loss::Criterion};
///
/// let brier = |predictions: &Categorical, labels: &Tensor<1, Int>| -> Tensor<1> {
///     let residuals = burn_calibration::distribution::residuals(predictions.probabilities(), labels.clone());
///     residuals.square().sum_dim(1).mean()
/// };
/// # let _: &dyn Criterion = &brier;
/// ```
///
/// Predictions of a batch with weights of samples carry them: a function that does not read
/// [`sample_weights`](crate::distribution::Weighted::sample_weights) counts each sample once. A fit of a map of distributions
/// gives them to a criterion that [takes weights](Self::takes_weights), and refuses any other; maps of logits are fitted
/// to weights by the log loss only.
///
/// As a field of a model a criterion has to be a [`Module`](trait@burn::module::Module) as well, which a function is not.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a criterion of these predictions",
    label = "not taken by `{Self}`",
    note = "for a configuration call `.init()`, as in `SkceLossConfig::new().init()`",
    note = "a closure is a criterion: `|predictions: &Categorical, labels: &Tensor<1, Int>| -> Tensor<1> \
        {{ … }}`"
)]
pub trait Criterion<P: Predictive = Categorical> {
    /// Returns the criterion, `[1]`, in the dtype of the predictions.
    fn value(&self, predictions: &P, targets: &P::Targets) -> Tensor<1>;

    /// The labels that stand for padding, whose samples do not count; none by default. A
    /// [`PenalisedLoss`](super::PenalisedLoss) checks that its base loss and its penalty have the same.
    fn pad_tokens(&self) -> Option<&[usize]> {
        None
    }

    /// Returns whether the criterion is a weighted one of predictions with weights of samples. The losses of this library
    /// are; a criterion of your own is not by default, and a function never is.
    fn takes_weights(&self) -> bool {
        false
    }
}

impl<P: Predictive, F: Fn(&P, &P::Targets) -> Tensor<1>> Criterion<P> for F {
    fn value(&self, predictions: &P, targets: &P::Targets) -> Tensor<1> {
        self(predictions, targets)
    }
}

/// Burn's cross-entropy, whichever input it was configured for.
impl Criterion for CrossEntropyLoss {
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        predictions.assert_unweighted(); // `ScoreLoss` of the log score takes weights
        let (logits, input) = match predictions.logits() {
            Some(logits) => (true, logits),
            None => (false, predictions.probabilities()),
        };
        let loss = Self {
            logits,
            ..self.clone()
        };
        loss.forward(input, labels.clone())
    }

    fn pad_tokens(&self) -> Option<&[usize]> {
        Some(self.pad_tokens.as_deref().unwrap_or_default())
    }
}
