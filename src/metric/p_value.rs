use std::fmt::Debug;

use burn::tensor::{Int, Tensor};
use rand::{SeedableRng, rngs::StdRng};

use super::{Quantity, name::with_parameters};
use crate::{distribution::Categorical, error::Result, hypothesis::CalibrationTest};

/// The p-value of a calibration test: the probability of a statistic at least as large, were the
/// model calibrated.
///
/// Larger is better, as less evidence against calibration. But it is no measure of calibration: of
/// a calibrated model it is uniform between 0 and 1, so that 0.9 is no better than 0.2, and of any
/// other it tends to 0 as the validation data grow. To choose a model, watch a score or an error; the
/// p-value says whether that error can be chance.
///
/// Every epoch draws from the same seed. Cost: that of the test, `n²·m` for the quadratic one and
/// `n·m·r²` for [`FeatureTest`](crate::hypothesis::FeatureTest), which is the one for large
/// validation data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PValue<T> {
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

/// "p-value", the test and its parameters.
impl<T: CalibrationTest + Clone + Debug + Send + Sync> Quantity for PValue<T> {
    fn name(&self) -> String {
        with_parameters("p-value", &format!("{self:?}"))
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
