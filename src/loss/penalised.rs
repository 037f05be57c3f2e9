use std::borrow::Borrow;

use burn::{module::Module, tensor::Tensor};

use super::{Criterion, Input, WeightSchedule};

/// `base + λ · penalty`, with a constant or scheduled weight `λ`, of predictions of any kind.
///
/// The base can be Burn's cross-entropy or any loss here, and so can the penalty.
#[derive(Module, Debug)]
pub struct PenalisedLoss<B: Module, P: Module> {
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

impl<B: Module, P: Module> PenalisedLoss<B, P> {
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

    /// Returns the loss at a 0-based training step, `[1]`: of logits and labels, or of predictions and
    /// their targets, see [`Input`].
    pub fn forward<I: Input>(&self, input: I, targets: I::Targets, step: usize) -> Tensor<1>
    where
        B: Criterion<I::Predictions>,
        P: Criterion<I::Predictions>,
    {
        self.terms(input, targets, step).total()
    }

    /// Returns the terms of the loss at a 0-based training step.
    pub fn terms<I: Input>(&self, input: I, targets: I::Targets, step: usize) -> PenalisedTerms
    where
        B: Criterion<I::Predictions>,
        P: Criterion<I::Predictions>,
    {
        let (predictions, targets) = (input.into_predictions(), targets.borrow());
        PenalisedTerms {
            base: self.base.value(&predictions, targets),
            penalty: self.penalty.value(&predictions, targets),
            weight: self.weight.at(step),
        }
    }
}
