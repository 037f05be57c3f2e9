use burn::{
    module::Module,
    tensor::{Int, Tensor},
};

use super::{Criterion, WeightSchedule};

/// `base + λ · penalty`, with a constant or scheduled weight `λ`.
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

impl<B: Module + Criterion, P: Module + Criterion> PenalisedLoss<B, P> {
    /// From a base loss, a penalty and the weight of the penalty.
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

    /// The loss at a 0-based training step, from logits.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    /// - labels: `[n]`, classes in `0..m`
    /// - output: `[1]`
    pub fn forward(&self, logits: Tensor<2>, labels: Tensor<1, Int>, step: usize) -> Tensor<1> {
        self.terms(logits, labels, step).total()
    }

    /// The loss at a 0-based training step, from probabilities.
    pub fn forward_from_probabilities(
        &self,
        probabilities: Tensor<2>,
        labels: Tensor<1, Int>,
        step: usize,
    ) -> Tensor<1> {
        PenalisedTerms {
            base: self
                .base
                .forward_from_probabilities(probabilities.clone(), labels.clone()),
            penalty: self
                .penalty
                .forward_from_probabilities(probabilities, labels),
            weight: self.weight.at(step),
        }
        .total()
    }

    /// The terms of the loss at a 0-based training step, from logits.
    pub fn terms(&self, logits: Tensor<2>, labels: Tensor<1, Int>, step: usize) -> PenalisedTerms {
        PenalisedTerms {
            base: self.base.forward(logits.clone(), labels.clone()),
            penalty: self.penalty.forward(logits, labels),
            weight: self.weight.at(step),
        }
    }
}
