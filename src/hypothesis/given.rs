use rand::Rng;

use super::{CalibrationTest, Omnibus, OmnibusOutcome, OmnibusTest, Summarised, TestOutcome};
use crate::{
    distribution::{Given, Predictive, Redraws},
    error::Result,
    kernel::Kernel,
};

/// The test of the hypothesis that predictions are calibrated [given](Given) a variable: a feature, an
/// embedding, or several features together.
///
/// The statistic is the unbiased SKCE whose kernel compares the variable, at ¼, 1 and 4 times the bandwidth
/// of the kernel, combined over the same redraws of the targets from the predictions as in [`OmnibusTest`].
/// So it is valid at every sample size and for any variable. Up to 10,000 samples the SKCE of classes is
/// over all pairs, above and of vectors by 16 landmarks, at linear cost.
///
/// A rejection does not say that the variable matters: a model that is not calibrated is not calibrated given
/// any variable. An overconfident one is rejected more often than the level given a variable of no
/// effect, since its labels vary more than it says.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::{Categorical, Given}, hypothesis::{GivenTest, OmnibusTest},
/// };
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let (device, mut rng) = (Device::default(), StdRng::seed_from_u64(0));
/// // even odds, and half of the labels: but those of the younger half
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.5, 0.5]; 200], &device))?;
/// let number = Tensor::<1, Int>::arange(0..200, &device);
/// let labels = number.clone().lower_elem(100).int();
/// assert!(OmnibusTest::new().outcome(&predictions, &labels, &mut rng)?.p_value > 0.05);
///
/// let age = number.float().reshape([200, 1]);
/// let given = Given::new(predictions, age);
/// assert_eq!(GivenTest::new().outcome(&given, &labels, &mut rng)?.p_value, 0.001);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[must_use]
pub struct GivenTest {
    omnibus: OmnibusTest,
}

impl GivenTest {
    /// Creates the test with the exponential kernel over the Euclidean distance, its median as the
    /// bandwidth, and 999 redraws; up to 9,999 near the level of 5 %.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a copy with another kernel on the variable.
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        let omnibus = self.omnibus.with_kernel(kernel);
        Self { omnibus }
    }

    /// Returns the same test with exactly this number of redraws.
    pub fn with_redraws(self, redraws: usize) -> Self {
        let omnibus = self.omnibus.with_redraws(redraws);
        Self { omnibus }
    }

    /// Returns the same as one of several tests; see [`OmnibusTest::as_one_of`].
    pub fn as_one_of(self, tests: usize) -> Self {
        let omnibus = self.omnibus.as_one_of(tests);
        Self { omnibus }
    }

    /// Runs the test. The generator draws the targets, and landmarks.
    ///
    /// # Errors
    ///
    /// Predictions, targets or a variable that are not valid, with the row; an invalid kernel, no redraws,
    /// or fewer than two samples.
    pub fn outcome<P: Predictive>(
        &self,
        given: &Given<P>,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusOutcome>
    where
        Given<P>: Omnibus<Targets = P::Targets>,
    {
        let samples = given.len();
        (self.omnibus).run(given, targets, rng, |plan| {
            plan.kernel_aspects_alone(samples)
        })
    }
}

impl<P: Predictive> CalibrationTest<Given<P>> for Summarised<GivenTest>
where
    Given<P>: Omnibus<Targets = P::Targets>,
{
    fn outcome(
        &self,
        given: &Given<P>,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        let outcome = self.0.outcome(given, targets, rng)?;
        let outcome = outcome.in_short("test given a variable");
        Ok(outcome.with_expected_errors(given.expected_errors()))
    }
}
