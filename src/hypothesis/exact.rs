use crate::distribution::Batch as _;
use rand::Rng;

use super::{
    CalibrationTest, Statistic, TestOutcome,
    engine::Engine,
    p_value::{check_replicates, discrete_p_value},
};
use crate::{distribution::Predictive, error::Result};

/// The exact conditional test of any [`Statistic`]: keeps the predictions and redraws the labels
/// from them.
///
/// A calibrated model's labels are independent draws from its predictions. Given the predictions, the
/// statistic of redrawn labels therefore has exactly the distribution that the statistic of the data has
/// under the hypothesis, and `(1 + #{T* ≥ T})/(1 + R)` is a valid p-value at every sample size and for
/// every number `R` of replicates: `P(p ≤ α) ≤ α`, with equality at multiples of `1/(1 + R)` except for
/// ties. Nothing is approximated, and the variance of the labels is that of the hypothesis, which makes it
/// more powerful than nulls that take it from the data.
///
/// A median bandwidth depends on the predictions alone, as it must; so must every other choice.
///
/// For predictions by draws, [`Samples`](crate::distribution::Samples), the hypothesis is that the target
/// is one more draw from the same distribution, which is not known. Then each of the draws and the target
/// is equally likely to be the target: it is redrawn from all of them ([`Redraws::pooled`](crate::distribution::Redraws::pooled)), and the
/// p-value is valid for any number of draws, of real numbers or of counts.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::Categorical, estimator::Ece, hypothesis::{CalibrationTest, ExactTest},
/// };
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// // three times 99 %, and wrong: under the hypothesis one chance in a million
/// let rows = Tensor::from_floats([[0.99, 0.01]; 3], &device);
/// let labels = Tensor::<1, Int>::from_ints([1, 1, 1], &device);
/// let outcome = ExactTest::new(Ece::default()).outcome(
///     &Categorical::from_probabilities(rows)?,
///     &labels,
///     &mut StdRng::seed_from_u64(0),
/// )?;
/// assert!(outcome.p_value < 0.01);
/// # Ok(())
/// # }
/// ```
///
/// Cost: for classes `O(n)` operations a redraw for the statistics of the top label (ECE, MCE, TCE, KS,
/// MMCE), and for the biased and unbiased SKCE `f²·m/2` where few labels, `f` of `n`, are not the most
/// likely class, `n²/2` where many are, besides one pass of `n²·m`; memory `O(n·m)`. For any other
/// statistic an estimate of each redraw.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct ExactTest<S> {
    /// The statistic.
    pub statistic: S,
    /// The number `R` of sets of targets that are drawn, 999 by default.
    pub replicates: usize,
}

impl<S> ExactTest<S> {
    /// Creates the test with 999 redraws.
    pub fn new(statistic: S) -> Self {
        Self {
            statistic,
            replicates: 999,
        }
    }

    /// Returns a copy with another number of redraws.
    pub fn with_replicates(self, replicates: usize) -> Self {
        Self { replicates, ..self }
    }
}

impl<P: Predictive, S: Statistic<P>> CalibrationTest<P> for ExactTest<S> {
    /// The outcome; the estimate is that which the statistic [reports](Statistic::reported). The statistic is the
    /// estimate, but of predictions by draws that of the predictions with the targets among the draws. No redraws
    /// and a statistic that is NaN are errors.
    fn outcome(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        check_replicates(self.replicates)?;
        let (plain, _) = predictions.parted();
        plain.check()?;
        let observed = plain.checked_targets(targets)?;
        let estimate = self.statistic.reported(predictions, targets)?;
        let pooled = predictions.pooled(targets);
        let all = pooled.as_ref().map_or(predictions, |(pooled, _)| pooled);
        let evaluators = [self.statistic.evaluator(all)?];
        let data = all.as_redrawn(&observed);
        let mut engine = Engine::new(all.redrawer(), data, &evaluators)?;
        engine.extend(self.replicates, rng)?;
        let (data, drawn) = (engine.data[0], &engine.drawn[0]);
        let statistic = pooled.as_ref().map_or(estimate, |_| data);
        let p_value = discrete_p_value(data, drawn, predictions.dtype());
        let (name, n) = ("exact conditional test", predictions.len());
        let outcome = TestOutcome::resampled(name, n, estimate, statistic, p_value, drawn);
        Ok(outcome.with_expected_errors(predictions.expected_errors()))
    }
}
