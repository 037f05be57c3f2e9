use rand::Rng;

use super::{CalibrationTest, Resample, Statistic, TestOutcome, redraw};
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
/// Cost: `R` estimates; for the quadratic estimators of the SKCE one matrix product, `R·n²·m`
/// operations in tiles and memory `O(n·m)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactTest<S> {
    /// The statistic.
    pub statistic: S,
    /// The number `R` of replicates, 1000 by default.
    pub replicates: usize,
}

impl<S> ExactTest<S> {
    /// With 1000 replicates.
    pub fn new(statistic: S) -> Self {
        Self {
            statistic,
            replicates: 1000,
        }
    }

    /// With another number of replicates.
    pub fn with_replicates(self, replicates: usize) -> Self {
        Self { replicates, ..self }
    }
}

impl<P: Predictive, S: Statistic<P>> CalibrationTest<P> for ExactTest<S> {
    /// The outcome; the statistic is the estimate.
    ///
    /// # Errors
    ///
    /// As [`Statistic::estimate`]; no replicates, or a statistic that is NaN.
    fn evaluate(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        predictions.check()?;
        let rows: Vec<usize> = (0..predictions.samples()).collect();
        let sampler = predictions.sampler();
        let redraw = || Resample {
            rows: None,
            targets: sampler(&rows, rng),
        };
        redraw::evaluate(
            "exact conditional test",
            &self.statistic,
            predictions,
            targets,
            self.replicates,
            redraw,
        )
    }
}
