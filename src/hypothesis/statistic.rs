use burn::tensor::{Int, Tensor};

use super::skce_replicates;
use crate::{
    distribution::{Categorical, DrawnBy, Predictive},
    error::Result,
    estimator::{
        Cwce, Ece, JointKernel, KdeTce, KolmogorovSmirnov, Mce, Mmce, Skce, SkceForm, SmoothEce,
        Tce,
    },
    kernel::{TargetKernel, TensorKernel},
};

/// A data set of which a statistic is wanted, in terms of another: the prediction of sample `i` is
/// row `rows[i]` of the other's, its target the `i`-th.
#[derive(Debug, Clone)]
pub struct Resample<P: Predictive = Categorical> {
    /// The row of each sample; `None` for all rows in their order.
    pub rows: Option<Vec<usize>>,
    /// The targets, on the host.
    pub targets: DrawnBy<P>,
}

impl<P: Predictive> Resample<P> {
    /// The data set: predictions and targets.
    pub fn of(&self, predictions: &P) -> (P, P::Targets) {
        let targets = predictions.observed(&self.targets);
        match &self.rows {
            Some(rows) => (predictions.select_rows(rows), targets),
            None => (predictions.clone(), targets),
        }
    }
}

/// A number computed from predictions and targets that is large where the model is not calibrated:
/// what [`ExactTest`](super::ExactTest) and [`ConsistencyTest`](super::ConsistencyTest) turn into
/// a test.
///
/// Implemented by the estimators, and by any function of predictions and targets:
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
pub trait Statistic<P: Predictive = Categorical> {
    /// The statistic of data.
    ///
    /// # Errors
    ///
    /// What the data violates.
    fn estimate(&self, predictions: &P, targets: &P::Targets) -> Result<f64>;

    /// The statistic of `count` data sets that `draw` gives one after another, all in terms of the
    /// same predictions. By default an [`estimate`](Self::estimate) of each.
    ///
    /// # Errors
    ///
    /// As [`estimate`](Self::estimate).
    fn replicates(
        &self,
        predictions: &P,
        count: usize,
        draw: &mut dyn FnMut() -> Resample<P>,
    ) -> Result<Vec<f64>> {
        (0..count)
            .map(|_| {
                let (predictions, targets) = draw().of(predictions);
                self.estimate(&predictions, &targets)
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

impl<P: Predictive, T: TargetKernel<P>> Statistic<P> for Skce<TensorKernel<T>> {
    fn estimate(&self, predictions: &P, targets: &P::Targets) -> Result<f64> {
        Skce::estimate(self, predictions, targets)
    }

    /// One by one. A median bandwidth is that of the given predictions for every replicate.
    fn replicates(
        &self,
        predictions: &P,
        count: usize,
        draw: &mut dyn FnMut() -> Resample<P>,
    ) -> Result<Vec<f64>> {
        predictions.check()?;
        let fixed = Skce {
            kernel: JointKernel::fixed(&self.kernel, predictions)?,
            ..self.clone()
        };
        (0..count)
            .map(|_| {
                let (predictions, targets) = draw().of(predictions);
                fixed.estimate(&predictions, &targets)
            })
            .collect()
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

impl<P: Predictive, F> Statistic<P> for F
where
    F: Fn(&P, &P::Targets) -> Result<f64>,
{
    fn estimate(&self, predictions: &P, targets: &P::Targets) -> Result<f64> {
        self(predictions, targets)
    }
}
