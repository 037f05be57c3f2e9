use burn::tensor::{Int, Tensor};

use super::skce_replicates;
use crate::{
    distribution::Categorical,
    error::Result,
    estimator::{Cwce, Ece, KdeTce, KolmogorovSmirnov, Mce, Mmce, Skce, SkceForm, SmoothEce, Tce},
    host::int_tensor,
};

/// A data set of which a statistic is wanted, in terms of another: the prediction of sample `i` is
/// row `rows[i]` of the other's, its label `labels[i]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resample {
    /// The row of each sample; `None` for all rows in their order.
    pub rows: Option<Vec<usize>>,
    /// The label of each sample.
    pub labels: Vec<usize>,
}

impl Resample {
    /// The data set: predictions and labels.
    pub fn of(&self, predictions: &Categorical) -> (Categorical, Tensor<1, Int>) {
        let device = predictions.probabilities().device();
        let labels = int_tensor(self.labels.iter().copied(), &device);
        match &self.rows {
            Some(rows) => (predictions.select(rows), labels),
            None => (predictions.clone(), labels),
        }
    }
}

/// A number computed from predictions and labels that is large where the model is not calibrated:
/// what [`ExactTest`](super::ExactTest) and [`ConsistencyTest`](super::ConsistencyTest) turn into
/// a test.
///
/// Implemented by the estimators, and by any function of predictions and labels:
///
/// ```
/// use burn::tensor::{Int, Tensor};
/// use burn_calibration::{distribution::Categorical, error::Result, hypothesis::ExactTest};
///
/// // how far the mean confidence is from the accuracy
/// let gap = |predictions: &Categorical, labels: &Tensor<1, Int>| -> Result<f64> {
///     let (binary, correct) = predictions.top_label(labels)?;
///     let n = predictions.samples();
///     let confidence = binary.probabilities().slice([0..n, 1..2]).mean().into_scalar::<f64>();
///     Ok((confidence - correct.float().mean().into_scalar::<f64>()).abs())
/// };
/// let test = ExactTest::new(gap);
/// # let _: &dyn burn_calibration::hypothesis::CalibrationTest = &test;
/// ```
pub trait Statistic {
    /// The statistic of data.
    ///
    /// # Errors
    ///
    /// What the data violates.
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64>;

    /// The statistic of `count` data sets that `draw` gives one after another, all in terms of the
    /// same predictions. By default an [`estimate`](Self::estimate) of each.
    ///
    /// # Errors
    ///
    /// As [`estimate`](Self::estimate).
    fn replicates(
        &self,
        predictions: &Categorical,
        count: usize,
        draw: &mut dyn FnMut() -> Resample,
    ) -> Result<Vec<f64>> {
        (0..count)
            .map(|_| {
                let (predictions, labels) = draw().of(predictions);
                self.estimate(&predictions, &labels)
            })
            .collect()
    }
}

impl Statistic for Skce {
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        Skce::estimate(self, predictions, labels)
    }

    /// Many replicates share one matrix product with the Gram matrix of the predictions, streamed
    /// over tiles: `n²·m` operations a replicate, memory `O(n·m)`. A median bandwidth is that of
    /// the given predictions for every replicate. The block estimator goes one by one, `n·B·m`
    /// operations each.
    fn replicates(
        &self,
        predictions: &Categorical,
        count: usize,
        draw: &mut dyn FnMut() -> Resample,
    ) -> Result<Vec<f64>> {
        let points = predictions.probabilities().detach();
        let fixed = Self {
            kernel: self.kernel.with_bandwidth_of(&points)?,
            ..*self
        };
        match self.form {
            SkceForm::Block(_) => (0..count)
                .map(|_| {
                    let (predictions, labels) = draw().of(predictions);
                    fixed.estimate(&predictions, &labels)
                })
                .collect(),
            _ => skce_replicates::replicates(&fixed, &points, count, draw),
        }
    }
}

/// Estimators without a faster way to many replicates.
macro_rules! statistics {
    ($($estimator:ty),+) => {$(
        impl Statistic for $estimator {
            fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
                <$estimator>::estimate(self, predictions, labels)
            }
        }
    )+};
}
statistics!(
    Mmce,
    Ece,
    Mce,
    Tce,
    Cwce,
    KdeTce,
    KolmogorovSmirnov,
    SmoothEce
);

impl<F> Statistic for F
where
    F: Fn(&Categorical, &Tensor<1, Int>) -> Result<f64>,
{
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        self(predictions, labels)
    }
}
