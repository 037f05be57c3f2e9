use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
};

/// An estimator of an error of predictions of the kind `P`, from data.
///
/// [`ExactTest`](crate::hypothesis::ExactTest) turns every estimator into a test. Any function of
/// predictions and targets is an estimator:
///
/// ```
/// use burn::tensor::{Int, Tensor};
/// use burn_calibration::{distribution::Categorical, error::Result, hypothesis::ExactTest};
///
/// // how far the mean confidence is from the accuracy
/// let gap = |predictions: &Categorical, labels: &Tensor<1, Int>| -> Result<f64> {
///     let (binary, correct) = predictions.top_label(labels)?;
///     let n = correct.dims()[0];
///     let confidence = binary.probabilities().slice([0..n, 1..2]).mean().into_scalar::<f64>();
///     Ok((confidence - correct.float().mean().into_scalar::<f64>()).abs())
/// };
/// let test = ExactTest::new(gap);
/// # let _: &dyn burn_calibration::hypothesis::CalibrationTest = &test;
/// ```
pub trait Estimator<P: Predictive = Categorical> {
    /// Returns the estimate from data.
    ///
    /// # Shapes
    ///
    /// - predictions: `n`, over `m` classes or over `ℝ^d`
    /// - targets: labels `[n]`, or vectors `[n, d]`
    ///
    /// # Errors
    ///
    /// Invalid predictions or targets, such as a label that is not a class; different numbers or dimensions
    /// of predictions and targets; too few samples; or a parameter of the estimator outside its domain.
    fn estimate(&self, predictions: &P, targets: &P::Targets) -> Result<f64>;
}

impl<P: Predictive, F: Fn(&P, &P::Targets) -> Result<f64>> Estimator<P> for F {
    fn estimate(&self, predictions: &P, targets: &P::Targets) -> Result<f64> {
        self(predictions, targets)
    }
}
