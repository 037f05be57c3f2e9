use rand::Rng;

use super::{CalibrationTest, Redraws, Statistic, TestOutcome, engine::Engine, p_value::Ties};
use crate::{distribution::Predictive, error::Result};

/// The exact conditional test of any [`Statistic`]: keeps the predictions and redraws the labels
/// from them.
///
/// A calibrated model's labels are independent draws from its predictions. Given the predictions,
/// the statistic of redrawn labels therefore has exactly the distribution that the statistic of the
/// data has under the hypothesis, and `(1 + #{T* ≥ T})/(1 + R)` is a valid p-value at every sample
/// size and for every number `R` of replicates: `P(p ≤ α) ≤ α`, with equality at multiples of
/// `1/(1 + R)` but for ties. Nothing is approximated, and the variance of the labels is that of the
/// hypothesis, which makes it more powerful than nulls that take it from the data.
///
/// A median bandwidth depends on the predictions alone, as it must; so must every other choice.
///
/// Of predictions by draws, [`Samples`](crate::distribution::Samples), the hypothesis is that the target is
/// one more draw from the same distribution, which is not known. Then among the draws and the target any is
/// as likely to be the target: it is redrawn from all of them ([`Predictive::pooled`]), and the p-value is
/// valid for any number of draws, of real numbers or of counts.
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
/// let outcome = ExactTest::new(Ece::default()).evaluate(
///     &Categorical::from_probabilities(rows)?,
///     &labels,
///     &mut StdRng::seed_from_u64(0),
/// )?;
/// assert!(outcome.p_value() < 0.01);
/// # Ok(())
/// # }
/// ```
///
/// Cost: for classes `O(n)` operations a redraw for the statistics of the top label (ECE, MCE, TCE, KS,
/// MMCE), and for the biased and unbiased SKCE `f²·m/2` where few labels, `f` of `n`, are not the most
/// likely class, `n²/2` where many are, besides one pass of `n²·m`; memory `O(n·m)`. For any other
/// statistic an estimate of each redraw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactTest<S> {
    /// The statistic.
    pub statistic: S,
    /// The number of sets of targets that are drawn, 999 by default.
    pub redraws: Redraws,
}

impl<S> ExactTest<S> {
    /// Creates the test with 999 redraws.
    pub fn new(statistic: S) -> Self {
        Self {
            statistic,
            redraws: Redraws::default(),
        }
    }

    /// Returns the same with another number of redraws.
    pub fn with_replicates(self, redraws: usize) -> Self {
        self.with_redraws(Redraws::Fixed(redraws))
    }

    /// Returns the same with redraws that stop by themselves.
    pub fn with_redraws(self, redraws: Redraws) -> Self {
        Self { redraws, ..self }
    }
}

impl<P: Predictive, S: Statistic<P>> CalibrationTest<P> for ExactTest<S> {
    /// The outcome; the estimate is that which the statistic [reports](Statistic::reported). The statistic is the
    /// estimate, but of predictions by draws that of the predictions with the targets among the draws. No redraws and a statistic that is NaN are errors.
    fn evaluate(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        self.redraws.validate()?;
        predictions.check()?;
        let observed = predictions.checked_targets(targets)?;
        let estimate = self.statistic.reported(predictions, targets)?;
        let pooled = predictions.pooled(targets);
        let all = pooled.as_ref().map_or(predictions, |(pooled, _)| pooled);
        let evaluators = [self.statistic.evaluator(all)?];
        let mut engine = Engine::new(all, &observed, &evaluators)?;
        let mut ties = None;
        let found = self.redraws.run(rng, |count, rng| {
            engine.extend(count, rng)?;
            let (data, drawn) = (engine.data[0], &engine.drawn[0]);
            let ties = ties.get_or_insert_with(|| Ties::of(data, drawn, predictions.dtype()));
            Ok(drawn.iter().map(|&drawn| ties.reaches(drawn)).collect())
        })?;
        let drawn = &engine.drawn[0][..found.redraws];
        let name = "exact conditional test";
        let samples = predictions.len();
        let statistic = pooled.as_ref().map_or(estimate, |_| engine.data[0]);
        let outcome =
            TestOutcome::resampled(name, samples, estimate, statistic, found.p_value, drawn);
        Ok(outcome.with_expected_errors(predictions.expected_errors()))
    }
}
