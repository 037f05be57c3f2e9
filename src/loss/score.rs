use std::{borrow::Borrow, fmt::Debug};

use burn::{
    module::Module,
    tensor::{Bool, Tensor},
};

use super::{Criterion, Input};
use crate::{
    distribution::{Batch as _, Predictive, Targets},
    estimator::weights_of_kept,
    score::Score,
};

/// A proper score averaged over the batch: the Brier loss, the log loss, the CRPS loss and the others.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Normal, loss::ScoreLoss, score::{Brier, Crps}};
///
/// let device = Device::default().autodiff();
/// let output = Tensor::<2>::from_floats([[1.5, 0.0], [0.0, -1.0]], &device).require_grad(); // of a network
/// // as logits of two classes
/// let labels = Tensor::<1, Int>::from_ints([0, 1], &device);
/// let gradients = ScoreLoss::new(Brier).forward(output.clone(), labels).backward();
/// assert!(output.grad(&gradients).is_some());
/// // as means and raw standard deviations
/// let targets = Tensor::<2>::from_floats([[1.0], [0.5]], &device);
/// let predictions = Normal::from_raw(output.clone(), 1e-3);
/// let gradients = ScoreLoss::new(Crps).forward(&predictions, &targets).backward();
/// assert!(output.grad(&gradients).is_some());
/// ```
#[derive(Module, Debug)]
#[must_use]
pub struct ScoreLoss<S: Clone + Debug + Send> {
    /// The score.
    #[module(skip)]
    pub score: S,
    /// Labels whose samples do not count.
    #[module(skip)]
    pub pad_tokens: Vec<usize>,
}

impl<S: Clone + Debug + Send> ScoreLoss<S> {
    /// Creates the loss of a score.
    pub fn new(score: S) -> Self {
        Self {
            score,
            pad_tokens: Vec::new(),
        }
    }

    /// Returns the same loss without the samples whose labels stand for padding.
    pub fn with_pad_tokens(self, pad_tokens: Vec<usize>) -> Self {
        Self { pad_tokens, ..self }
    }

    /// Returns the mean score, by the weights of [`weighted_batch`](crate::distribution::Batch::weighted_batch) if there
    /// are any, `[1]`, in the dtype of the input: for logits and labels, or of predictions and their
    /// targets, see [`Input`].
    ///
    /// # Panics
    ///
    /// As [`Score::values`].
    pub fn forward<I: Input>(&self, input: I, targets: I::Targets) -> Tensor<1>
    where
        S: Score<I::Predictions>,
    {
        self.value(&input.into_predictions(), targets.borrow())
    }

    /// Returns the score of each sample, `[n]`, padding included and whatever the weights.
    ///
    /// # Panics
    ///
    /// As [`Score::values`].
    pub fn forward_no_reduction<I: Input>(&self, input: I, targets: I::Targets) -> Tensor<1>
    where
        S: Score<I::Predictions>,
    {
        let (predictions, targets) = (input.into_predictions().batch_parts().0, targets.borrow());
        predictions.assert_targets(targets);
        self.score.values(&predictions, targets)
    }
}

impl<P: Predictive, S: Score<P> + Clone + Send> Criterion<P> for ScoreLoss<S> {
    fn value(&self, predictions: &P, targets: &P::Targets) -> Tensor<1> {
        let (predictions, weights) = &predictions.batch_parts();
        predictions.assert_targets(targets);
        let values = self.score.values(predictions, targets);
        mean_of_kept(values, targets.kept(&self.pad_tokens), weights)
    }

    fn pad_tokens(&self) -> Option<&[usize]> {
        Some(&self.pad_tokens)
    }

    fn takes_weights(&self) -> bool {
        true
    }
}

/// The mean of the values of samples that count, `[n]` to `[1]`, by their weights if there are any, `[n, 1]`; 0 if
/// there are none.
pub(super) fn mean_of_kept(
    values: Tensor<1>,
    kept: Option<Tensor<1, Bool>>,
    weights: &Option<Tensor<2>>,
) -> Tensor<1> {
    let like = values.clone().unsqueeze_dim::<2>(1);
    let Some(counts) = weights_of_kept(weights.clone(), kept, &like) else {
        return values.mean();
    };
    let counts: Tensor<1> = counts.squeeze_dim(1);
    let dropped = counts.clone().equal_elem(0.0);
    let share = counts.clone().mean();
    let none = share.clone().equal_elem(0.0);
    (values.mask_fill(dropped, 0.0) * counts).mean() / share.mask_fill(none, 1.0)
}
