use crate::distribution::Batch as _;
use std::borrow::Borrow;

use burn::{module::Module, tensor::Tensor};

use super::{Criterion, Input, WeightSchedule};
use crate::{distribution::Predictive, error::check_samples};

/// `base + λ · penalty`, with a constant or scheduled weight `λ`, of predictions of any kind.
///
/// The base can be Burn's cross-entropy, any loss here or a function, and so can the penalty: each
/// [`Criterion`]. For predictions that are [`Given`](crate::distribution::Given) a variable, the base loss
/// takes the predictions alone, and the penalty compares the variable:
///
/// ```
/// use burn::nn::loss::CrossEntropyLossConfig;
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::{Categorical, Given}, estimator::Skce, kernel::Kernel,
///     loss::{PenalisedLoss, SkceLoss, WeightSchedule},
/// };
///
/// let device = Device::default().autodiff();
/// let logits = Tensor::<2>::zeros([4, 2], &device).require_grad();
/// let features = Tensor::<2>::from_floats([[0.0], [0.1], [5.0], [5.1]], &device);
/// let labels = Tensor::<1, Int>::from_ints([0, 0, 1, 1], &device);
/// let cross_entropy = CrossEntropyLossConfig::new().init(&device);
/// let schedule = WeightSchedule::WarmUp { weight: 100.0, steps: 100 };
///
/// let penalty = SkceLoss::new(Skce::unbiased(Kernel::gaussian()));
/// let loss = PenalisedLoss::new(cross_entropy.clone(), penalty, schedule);
/// let gradients = loss.forward(&Given::logits(logits.clone(), features), &labels, 50).backward();
/// assert!(logits.grad(&gradients).is_some());
///
/// // a penalty of your own: the negative entropy
/// let penalty = |predictions: &Categorical, _: &Tensor<1, Int>| -> Tensor<1> {
///     (predictions.probabilities() * predictions.log_probabilities()).sum_dim(1).mean()
/// };
/// let loss = PenalisedLoss::new(cross_entropy, penalty, schedule);
/// let gradients = loss.forward(logits.clone(), labels, 50).backward();
/// assert!(logits.grad(&gradients).is_some());
/// ```
///
/// It is a [`Module`](trait@Module), for a field of a model, where base and penalty are.
#[derive(Module, Debug)]
#[must_use]
pub struct PenalisedLoss<B, P> {
    /// The base loss.
    pub base: B,
    /// The penalty.
    pub penalty: P,
    /// The weight of the penalty.
    #[module(skip)]
    pub weight: WeightSchedule,
}

/// The terms of a penalised loss, each of shape `[1]`, for logging.
#[derive(Debug, Clone)]
#[must_use]
pub struct PenalisedTerms {
    /// The base loss.
    pub base: Tensor<1>,
    /// The penalty, without its weight.
    pub penalty: Tensor<1>,
    /// The weight `λ`.
    pub weight: f64,
}

impl PenalisedTerms {
    /// `base + λ · penalty`: `[1]`.
    pub fn total(self) -> Tensor<1> {
        self.base + self.penalty * self.weight
    }
}

impl<B, P> PenalisedLoss<B, P> {
    /// Creates the loss from a base loss, a penalty and the weight of the penalty.
    ///
    /// # Panics
    ///
    /// If a weight is negative, NaN or infinite.
    pub fn new(base: B, penalty: P, weight: WeightSchedule) -> Self {
        assert!(
            weight.is_valid(),
            "{weight:?}: expected finite weights of at least 0"
        );
        Self {
            base,
            penalty,
            weight,
        }
    }

    /// Returns the loss at a 0-based training step, `[1]`: for logits and labels, or of predictions and
    /// their targets, see [`Input`].
    ///
    /// # Panics
    ///
    /// As [`terms`](Self::terms).
    pub fn forward<I: Input>(&self, input: I, targets: I::Targets, step: usize) -> Tensor<1>
    where
        B: Criterion<<I::Predictions as Predictive>::Unconditional>,
        P: Criterion<I::Predictions>,
    {
        self.terms(input, targets, step).total()
    }

    /// Returns the terms of the loss at a 0-based training step.
    ///
    /// # Panics
    ///
    /// If there are no predictions, if the number of targets differs, if a label on the host is not a class, if base
    /// loss and penalty have different `pad_tokens`, and in the cases in which one of the two panics.
    pub fn terms<I: Input>(&self, input: I, targets: I::Targets, step: usize) -> PenalisedTerms
    where
        B: Criterion<<I::Predictions as Predictive>::Unconditional>,
        P: Criterion<I::Predictions>,
    {
        let predictions = input.into_predictions();
        let samples = (&predictions, targets.borrow());
        self.terms_of((samples.0.unconditional(), samples.1), samples, step)
    }

    /// Returns the loss at a 0-based training step, `[1]`, with the base loss of some samples and the
    /// penalty of others, so that the penalty does not look at what the base loss fits (interleaved
    /// training, Yoon et al. 2023): each of logits and labels, or of predictions and their targets, see
    /// [`Input`].
    ///
    /// # Panics
    ///
    /// As [`terms`](Self::terms).
    pub fn forward_held_out<I: Input, J: Input>(
        &self,
        (input, targets): (I, I::Targets),
        (held_out, held_out_targets): (J, J::Targets),
        step: usize,
    ) -> Tensor<1>
    where
        B: Criterion<<I::Predictions as Predictive>::Unconditional>,
        P: Criterion<J::Predictions>,
    {
        let (predictions, held_out) = (input.into_predictions(), held_out.into_predictions());
        let base = (predictions.unconditional(), targets.borrow());
        let penalty = (&held_out, held_out_targets.borrow());
        self.terms_of(base, penalty, step).total()
    }

    /// The terms, with the base loss of some samples and the penalty of the same or others.
    fn terms_of<Q: Predictive, R: Predictive>(
        &self,
        (predictions, targets): (&Q, &Q::Targets),
        (compared, compared_targets): (&R, &R::Targets),
        step: usize,
    ) -> PenalisedTerms
    where
        B: Criterion<Q>,
        P: Criterion<R>,
    {
        assert_same_padding(self.base.pad_tokens(), self.penalty.pad_tokens());
        if let Err(error) = check_samples("the base loss", 1, predictions.len()) {
            panic!("{error}");
        }
        predictions.batch_parts().0.assert_targets(targets);
        PenalisedTerms {
            base: self.base.value(predictions, targets),
            penalty: self.penalty.value(compared, compared_targets),
            weight: self.weight.at(step),
        }
    }
}

/// Asserts that base loss and penalty leave out the same samples: those that only one of them leaves out would
/// be trained by the other, unnoticed.
fn assert_same_padding(base: Option<&[usize]>, penalty: Option<&[usize]>) {
    let (Some(base), Some(penalty)) = (base, penalty) else {
        return;
    };
    let has_all =
        |some: &[usize], others: &[usize]| others.iter().all(|label| some.contains(label));
    assert!(
        has_all(base, penalty) && has_all(penalty, base),
        "the base loss leaves out samples of the labels {base:?} as padding, the penalty those of {penalty:?}: \
         expected the same pad_tokens in both, or batches without padding"
    );
}
