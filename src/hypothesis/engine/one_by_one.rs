use super::Evaluator;
use crate::{
    distribution::{Predictive, Redrawn, RedrawnBy},
    error::Result,
};

/// An estimate of each set, one after another.
pub struct OneByOne<'a, P, F> {
    predictions: &'a P,
    estimate: F,
}

impl<'a, P: Predictive, F: Fn(&P, &P::Targets) -> Result<f64>> OneByOne<'a, P, F> {
    pub fn new(predictions: &'a P, estimate: F) -> Self {
        Self {
            predictions,
            estimate,
        }
    }
}

impl<P: Predictive, F: Fn(&P, &P::Targets) -> Result<f64>> Evaluator<P> for OneByOne<'_, P, F> {
    fn values(&self, sets: &RedrawnBy<P>) -> Result<Vec<f64>> {
        let estimate = |set| {
            let targets = self.predictions.observed(&sets.set(set));
            (self.estimate)(self.predictions, &targets)
        };
        (0..sets.len()).map(estimate).collect()
    }
}
