use std::fmt::Debug;

use burn::tensor::{Int, Tensor};
use rand::{SeedableRng, rngs::StdRng};

use super::{Quantity, name::with_parameters};
use crate::{
    distribution::Categorical,
    error::Result,
    hypothesis::{CalibrationTest, OmnibusTest},
};

/// The p-value of a calibration test, by default the [`OmnibusTest`]: the probability of a statistic at
/// least as large, were the model calibrated.
///
/// Larger is better, as less evidence against calibration. But it is no measure of calibration: of
/// a calibrated model it is uniform between 0 and 1, so that 0.9 is no better than 0.2, and of any
/// other it tends to 0 as the validation data grow. To choose a model, watch a score or an error; the
/// p-value says whether that error can be chance.
///
/// Every epoch draws from the same seed. Cost: that of the test. The omnibus test redraws the labels at
/// least 999 times; for large validation data take fewer redraws
/// ([`with_redraws`](OmnibusTest::with_redraws)), or
/// [`FeatureTest`](crate::hypothesis::FeatureTest), which costs `n·m·r²`.
///
/// ```
/// use burn_calibration::{hypothesis::OmnibusTest, metric::{EpochMetric, PValue}};
///
/// let p_value = EpochMetric::from_logits(PValue::omnibus(0));
/// let cheaper = EpochMetric::from_logits(PValue::new(OmnibusTest::new().with_redraws(199), 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PValue<T = OmnibusTest> {
    /// The test.
    pub test: T,
    /// The seed of a test that resamples.
    pub seed: u64,
}

impl<T> PValue<T> {
    /// The p-value of this test, with random numbers from this seed.
    pub fn new(test: T, seed: u64) -> Self {
        Self { test, seed }
    }
}

impl PValue {
    /// The p-value of the omnibus test, with random numbers from this seed.
    pub fn omnibus(seed: u64) -> Self {
        Self::new(OmnibusTest::new(), seed)
    }
}

/// That of the omnibus test, from seed 0.
impl Default for PValue {
    fn default() -> Self {
        Self::omnibus(0)
    }
}

/// "Omnibus p-value" of the default; of any other "p-value", the test and its parameters.
impl<T: CalibrationTest + Clone + Debug + Send + Sync> Quantity for PValue<T> {
    fn name(&self) -> String {
        let text = format!("{self:?}");
        match text == format!("{:?}", PValue::<OmnibusTest>::default()) {
            true => "Omnibus p-value".into(),
            false => with_parameters("p-value", &text),
        }
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let mut rng = StdRng::seed_from_u64(self.seed);
        let outcome = self.test.evaluate(predictions, labels, &mut rng)?;
        Ok(outcome.p_value())
    }
}
