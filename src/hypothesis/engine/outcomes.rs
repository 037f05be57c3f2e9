use std::sync::Arc;

use burn::tensor::{Int, Tensor};

use super::Evaluator;
use crate::{
    distribution::{Categorical, ClassRows, LabelSets, Predictive},
    error::Result,
    estimator::Event,
};

/// A statistic of whether an event occurred, for probabilities that it was prepared for.
pub type OfOutcomes = Box<dyn Fn(&[bool]) -> f64 + Send + Sync>;

/// A statistic of the probabilities of an event and its outcomes.
pub trait OfEvent {
    /// The event.
    fn event(&self) -> Event;

    /// Prepares what depends on the probabilities alone. The value is large where they do not agree with
    /// the outcomes.
    fn prepare(&self, probability: &[f64]) -> Result<OfOutcomes>;

    /// The probabilities and outcomes of checked data.
    fn data(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<(Vec<f64>, Vec<bool>)> {
        let outcomes = self.event().outcomes(predictions, labels)?;
        let occurred = outcomes.occurred.iter().map(|&c| c == 1).collect();
        Ok((outcomes.probability, occurred))
    }

    /// The statistic of data.
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let (probability, occurred) = self.data(predictions, labels)?;
        Ok(self.prepare(&probability)?(&occurred))
    }

    /// The statistic of many sets of labels.
    fn of_sets(&self, predictions: &Categorical) -> Result<Box<dyn Evaluator<Categorical>>> {
        predictions.check()?;
        let (rows, event) = (predictions.rows(), self.event());
        event.check(predictions.classes())?;
        let probability = event.probabilities(&rows);
        Ok(Box::new(EventOutcomes {
            event,
            statistic: self.prepare(&probability)?,
            rows,
        }))
    }
}

/// Each set on its own: its outcomes from the most likely classes and the labels that differ.
struct EventOutcomes {
    rows: Arc<ClassRows>,
    event: Event,
    statistic: OfOutcomes,
}

impl Evaluator<Categorical> for EventOutcomes {
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        let (event, top) = (self.event, &self.rows.top);
        let likely: Vec<bool> = (top.iter())
            .map(|&class| event.occurs(class, class))
            .collect();
        Ok(sets.map(|flips| {
            let mut occurred = likely.clone();
            for flip in flips {
                let sample = flip.sample as usize;
                occurred[sample] = event.occurs(flip.class, top[sample]);
            }
            (self.statistic)(&occurred)
        }))
    }
}

/// Makes an [`OfEvent`] an estimator and a statistic.
macro_rules! statistic_of_event {
    ($statistic:ty) => {
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
                Box<dyn $crate::hypothesis::Evaluator<$crate::distribution::Categorical> + 'a>,
            > {
                self.of_sets(predictions)
            }
        }
    };
}
pub(in crate::hypothesis) use statistic_of_event;

/// The expected number of outcomes that are the less likely one, `Σ_i min(r_i, 1 − r_i)`.
pub fn expected_errors(probability: &[f64]) -> f64 {
    probability.iter().map(|r| r.min(1.0 - r)).sum()
}
