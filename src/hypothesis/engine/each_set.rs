use super::Evaluator;
use crate::{
    distribution::{Flip, LabelSets, Predictive, Redrawn, RedrawnBy},
    error::Result,
};

/// A number of each set of labels by its differences from the most likely classes, on all threads.
pub struct EachSet<F>(pub F);

impl<F: Fn(&[Flip]) -> f64 + Sync> Evaluator<LabelSets> for EachSet<F> {
    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        Ok(sets.map(&self.0))
    }
}

/// An estimate of each set, one after another.
pub struct OneByOne<'a, P, F> {
    pub predictions: &'a P,
    pub estimate: F,
}

impl<P: Predictive, F> Evaluator<RedrawnBy<P>> for OneByOne<'_, P, F>
where
    F: Fn(&P, &P::Targets) -> Result<f64>,
{
    fn values(&self, sets: &RedrawnBy<P>) -> Result<Vec<f64>> {
        let estimate = |set| {
            let targets = self.predictions.observed(&sets.set(set));
            (self.estimate)(self.predictions, &targets)
        };
        (0..sets.len()).map(estimate).collect()
    }
}
