use rand::Rng;

use super::{CalibrationTest, TestOutcome};
use crate::{distribution::Predictive, error::Result, score::Quantify};

/// The test whether a calibration error is larger than a tolerance `ε`. The hypothesis is that it is at
/// most `ε`.
///
/// A model that is nearly calibrated is rejected by every test of calibration once there are enough
/// samples. This one is rejected only for an error above the tolerance, in the units of the error: points
/// of probability of [`Overconfidence`](crate::score::Overconfidence) and of the debiased
/// [`Tce`](crate::estimator::Tce), squared ones of the [`Skce`](crate::estimator::Skce).
///
/// The p-value is [`ErrorSize::p_value_above`](crate::score::ErrorSize::p_value_above). The overconfidence
/// has two sides, and both count: the p-value is twice the smaller of the two, so that it is at most `α`
/// where the two-sided interval of level `1 − α` is beyond `ε`. It is conservative: at an error of exactly `ε` it is at
/// most `α` in about `α/2` of data sets, or fewer. That of intervals is valid at every sample size. For an
/// error that is never negative it is that of one side, by an approximation that needs many samples. Levels
/// and powers are in `docs/levels.md`.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::Categorical, hypothesis::{CalibrationTest, ToleranceTest}, score::Overconfidence,
/// };
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.9, 0.1]; 400], &device))?;
/// let labels = Tensor::<1, Int>::arange(0..400, &device).remainder_scalar(5).equal_elem(0).int();
/// // 10 points too sure
/// let p_value = |tolerance| {
///     let test = ToleranceTest::new(Overconfidence::default(), tolerance);
///     let outcome = test.outcome(&predictions, &labels, &mut StdRng::seed_from_u64(0))?;
///     burn_calibration::error::Result::Ok(outcome.p_value)
/// };
/// assert!(p_value(0.02)? < 0.01 && p_value(0.1)? > 0.5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct ToleranceTest<Q> {
    /// The error.
    pub error: Q,
    /// The tolerance `ε ≥ 0`.
    pub tolerance: f64,
}

impl<Q> ToleranceTest<Q> {
    /// Tests whether an error is above a tolerance.
    pub fn new(error: Q, tolerance: f64) -> Self {
        Self { error, tolerance }
    }
}

impl<P: Predictive, Q: Quantify<P>> CalibrationTest<P> for ToleranceTest<Q> {
    /// The outcome; nothing is drawn from the generator.
    /// The errors are those of [`Quantify::size`]; a tolerance that is negative or not finite.
    fn outcome(
        &self,
        predictions: &P,
        targets: &P::Targets,
        _rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        let size = self.error.size(predictions, targets)?;
        let (name, n) = ("tolerance test", predictions.len());
        let (estimate, p_value) = (size.estimate, size.p_value_above(self.tolerance)?);
        Ok(if size.is_exact() {
            TestOutcome::bounded(name, n, estimate, p_value)
        } else {
            let above = estimate - self.tolerance;
            let mut outcome = TestOutcome::asymptotic(name, n, estimate, above, p_value);
            outcome.is_bound |= size.is_bound(p_value);
            outcome
        })
    }
}
