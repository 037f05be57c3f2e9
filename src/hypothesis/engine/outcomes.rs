use burn::tensor::{Int, Tensor};

use super::{EachSet, Evaluator};
use crate::{
    distribution::{Categorical, Flip, LabelSets, Predictive, Weighted as _, Weights},
    error::Result,
    estimator::Event,
    hypothesis::TestOutcome,
};

/// A statistic of whether an event occurred, for probabilities that it was prepared for.
pub trait EventStatistic: Send + Sync {
    /// The value, large where the probabilities do not agree with the outcomes.
    fn value(&self, occurred: &[bool]) -> f64;

    /// The outcome of the asymptotic test, or that it takes no weights.
    fn asymptotic(&self, occurred: &[bool]) -> Result<TestOutcome>;
}

/// A statistic of the probabilities of an event and its outcomes.
pub trait OfEvent {
    /// The event.
    fn event(&self) -> Event;

    /// Prepares what depends on the probabilities and the weights of the samples alone.
    fn prepare(&self, probability: &[f64], weights: &Weights) -> Result<Box<dyn EventStatistic>>;

    /// The probabilities, weights and outcomes of checked data.
    fn data(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<(Vec<f64>, Weights, Vec<bool>)> {
        predictions.parted().0.check()?;
        let outcomes = self.event().weighted_outcomes(predictions, labels)?;
        let occurred = outcomes.occurred.iter().map(|&c| c == 1).collect();
        Ok((outcomes.probability, outcomes.weights, occurred))
    }

    /// The statistic of data.
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let (probability, weights, occurred) = self.data(predictions, labels)?;
        Ok(self.prepare(&probability, &weights)?.value(&occurred))
    }

    /// The outcome of the asymptotic test of data, with the expected number of outcomes that are the less
    /// likely one: the effective number of them, `(Σ w e)²/Σ w² e`.
    fn asymptotic(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<TestOutcome> {
        let (probability, weights, occurred) = self.data(predictions, labels)?;
        let outcome = self
            .prepare(&probability, &weights)?
            .asymptotic(&occurred)?;
        let (mut sum, mut squares) = (0.0, f64::MIN_POSITIVE);
        for (r, w) in probability.iter().zip(weights.all(probability.len())) {
            let error = r.min(1.0 - r);
            sum += w * error;
            squares += w * w * error;
        }
        Ok(outcome.with_expected_errors(Some(sum * sum / squares)))
    }

    /// The statistic of many sets of labels.
    fn label_evaluator(&self, predictions: &Categorical) -> Result<Box<dyn Evaluator<LabelSets>>> {
        let (plain, weights) = predictions.parted();
        plain.check()?;
        let (rows, event) = (predictions.rows(), self.event());
        event.check(predictions.classes())?;
        let statistic = self.prepare(&event.probabilities(predictions, &rows), &weights)?;
        let likely: Vec<bool> = (rows.top.iter())
            .map(|&class| event.occurs(class, class))
            .collect();
        Ok(Box::new(EachSet(move |flips: &[Flip]| {
            let mut occurred = likely.clone();
            for flip in flips {
                let sample = flip.sample as usize;
                occurred[sample] = event.occurs(flip.class, rows.top[sample]);
            }
            statistic.value(&occurred)
        })))
    }
}

/// Makes an [`OfEvent`] an estimator, a statistic, and an asymptotic test, whose outcome the comment is about.
macro_rules! test_of_event {
    ($(#[$doc:meta])* $statistic:ty) => {
        impl $crate::hypothesis::CalibrationTest for $statistic {
            $(#[$doc])*
            fn outcome(
                &self,
                predictions: &$crate::distribution::Categorical,
                labels: &burn::tensor::Tensor<1, burn::tensor::Int>,
                _rng: &mut dyn rand::Rng,
            ) -> $crate::error::Result<$crate::hypothesis::TestOutcome> {
                self.asymptotic(predictions, labels)
            }
        }

        impl $crate::estimator::Estimator for $statistic {
            fn estimate(
                &self,
                predictions: &$crate::distribution::Categorical,
                labels: &burn::tensor::Tensor<1, burn::tensor::Int>,
            ) -> $crate::error::Result<f64> {
                self.value(predictions, labels)
            }
        }

        /// Costs a statistic of numbers on the host for each set: what depends on the predictions alone is
        /// computed once.
        impl $crate::hypothesis::Statistic for $statistic {
            fn evaluator<'a>(
                &'a self,
                predictions: &'a $crate::distribution::Categorical,
            ) -> $crate::error::Result<
                Box<dyn $crate::hypothesis::Evaluator<$crate::distribution::LabelSets> + 'a>,
            > {
                self.label_evaluator(predictions)
            }
        }
    };
}
pub(in crate::hypothesis) use test_of_event;
