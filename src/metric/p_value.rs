use std::fmt::Debug;

use burn::tensor::{Int, Tensor};
use rand::{SeedableRng, rngs::StdRng};

use super::Quantity;
use crate::{
    distribution::Categorical,
    error::Result,
    hypothesis::{CalibrationTest, Summarised},
};

/// The p-value of a calibration test, by default the
/// [`OmnibusTest`](crate::hypothesis::OmnibusTest): the probability of a statistic at
/// least as large, were the model calibrated.
///
/// Larger is better, as less evidence against calibration. But it is no measure of calibration: of
/// a calibrated model it is uniform between 0 and 1, so that 0.9 is no better than 0.2, and of any
/// other it tends to 0 as the validation data grow. To choose a model, watch a score or an error; the
/// p-value says whether that error can be chance.
///
/// Every epoch draws from the same seed. Cost: that of the test. The omnibus test redraws the labels at
/// least 999 times; for large validation data take fewer redraws
/// ([`with_redraws`](crate::hypothesis::OmnibusTest::with_redraws)).
///
/// ```
/// use burn_calibration::{hypothesis::{OmnibusTest, Summarised}, metric::{EpochMetric, PValue}};
///
/// let p_value = EpochMetric::from_logits(PValue::omnibus(0));
/// let test = Summarised(OmnibusTest::new().with_redraws(199));
/// let cheaper = EpochMetric::from_logits(PValue::new("p-value of 199 redraws", test, 0));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct PValue<T = Summarised> {
    /// The name of the metric, which must differ from those of other metrics.
    pub name: String,
    /// The test.
    pub test: T,
    /// The seed of a test that resamples.
    pub seed: u64,
}

impl<T> PValue<T> {
    /// Creates the p-value of this test, with random numbers from this seed, as a metric of this name.
    pub fn new(name: impl Into<String>, test: T, seed: u64) -> Self {
        Self {
            name: name.into(),
            test,
            seed,
        }
    }
}

impl PValue {
    /// Creates the p-value of the omnibus test, "Omnibus p-value", with random numbers from this seed.
    pub fn omnibus(seed: u64) -> Self {
        Self::new("Omnibus p-value", Summarised::default(), seed)
    }
}

/// The p-value of the omnibus test, from seed 0.
impl Default for PValue {
    fn default() -> Self {
        Self::omnibus(0)
    }
}

impl<T: CalibrationTest + Clone + Debug + Send + Sync> Quantity for PValue<T> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let mut rng = StdRng::seed_from_u64(self.seed);
        let outcome = self.test.outcome(predictions, labels, &mut rng)?;
        Ok(outcome.p_value)
    }
}
