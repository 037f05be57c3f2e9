use rand::{Rng, RngExt};

use super::{
    CalibrationTest, Statistic, TestOutcome, check_unweighted,
    p_value::{check_replicates, check_statistics, discrete_p_value},
};
use crate::{distribution::Predictive, error::Result};

/// Consistency resampling of any [`Statistic`]: resamples the predictions with replacement, and
/// draws the label of each from it.
///
/// Each replicate is a data set of the size of the given one, from its predictions, under the hypothesis.
/// The p-value `(1 + #{T* ≥ T})/(1 + R)` is asymptotically valid for a statistic that converges; an ECE of
/// the full vector in many bins does not, and calibrated models are rejected far too often
/// (docs/papers.md): use the exact test for it. Unlike [`ExactTest`](super::ExactTest) it also
/// accounts for the variation of the predictions, which matters for the statistic on other data. To test
/// the hypothesis, prefer the exact test. Source: Bröcker and Smith 2007.
///
/// A resample repeats predictions. A statistic that depends on how often they coincide (a median
/// bandwidth, bins of equal mass) differs for that reason as well; the quadratic SKCE keeps the
/// bandwidth of the data.
///
/// Cost: an estimate of each replicate.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct ConsistencyTest<S> {
    /// The statistic.
    pub statistic: S,
    /// The number `R` of replicates, 1000 by default.
    pub replicates: usize,
}

impl<S> ConsistencyTest<S> {
    /// Creates the test with 1000 replicates.
    pub fn new(statistic: S) -> Self {
        Self {
            statistic,
            replicates: 1000,
        }
    }

    /// Returns a copy with another number of replicates.
    pub fn with_replicates(self, replicates: usize) -> Self {
        Self { replicates, ..self }
    }
}

impl<P: Predictive, S: Statistic<P>> CalibrationTest<P> for ConsistencyTest<S> {
    /// The outcome; the statistic is the estimate. No replicates and a statistic that is NaN are errors.
    fn outcome(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        check_replicates(self.replicates)?;
        check_unweighted(predictions, NAME)?;
        predictions.check()?;
        predictions.check_targets(targets)?;
        let statistic = self.statistic.frozen(predictions)?;
        let observed = statistic(predictions, targets)?;
        let (n, sampler) = (predictions.len(), predictions.sampler());
        let replicate = |_| {
            let rows: Vec<usize> = (0..n).map(|_| rng.random_range(0..n)).collect();
            let targets = predictions.observed(&sampler(&rows, rng));
            statistic(&predictions.select_rows(&rows), &targets)
        };
        let drawn: Vec<f64> = (0..self.replicates).map(replicate).collect::<Result<_>>()?;
        check_statistics(&[observed])?;
        check_statistics(&drawn)?;
        let p_value = discrete_p_value(observed, &drawn, predictions.dtype());
        let outcome = TestOutcome::resampled(NAME, n, observed, observed, p_value, &drawn);
        Ok(outcome.with_expected_errors(predictions.expected_errors()))
    }
}

const NAME: &str = "consistency resampling";
