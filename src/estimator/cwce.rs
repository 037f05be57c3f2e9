use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{Binning, Event, TceForm, check_order, event::Outcomes, tce::binned_power};
use crate::{
    distribution::{Categorical, Weighted as _},
    error::Result,
    estimator::Estimator,
};

/// The weight of each class in a class-wise calibration error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ClassWeight {
    /// `1/m`, the mean over classes (Kull et al. 2019; the marginal calibration error of Kumar et al.
    /// 2019 with equal weights): in `[0, 1]`, and the smaller the more classes are rarely predicted.
    Mean,
    /// 1, the sum over classes (Gruber and Buettner 2022, Definition 2.5): at most the calibration error of
    /// the whole prediction. Contrary to their Theorem 3.1 it can be less than the error of the top label:
    /// it can be 0 although the top label is not calibrated, because the class of the top label has
    /// additional information.
    Sum,
}

impl ClassWeight {
    /// The weighted sum over this number of classes, from the plain sum.
    pub fn total(self, sum: f64, classes: usize) -> f64 {
        match self {
            Self::Mean => sum / classes as f64,
            Self::Sum => sum,
        }
    }
}

/// The class-wise calibration error `CWCE_p = (Σ_k w E|p_k − P(y = k | p_k)|^p)^{1/p}`: each class
/// against the rest, by bins of its probability.
///
/// The default is the mean over classes of order 1 with 15 bins of equal width, the "static" or
/// class-wise ECE (Kull et al. 2019; Nixon et al. 2019).
/// Bias as for [`TceForm`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct Cwce {
    /// The bins of each class.
    pub binning: Binning,
    /// The estimator, and with it the order `p`, which is finite.
    pub form: TceForm,
    /// The weight `w` of each class.
    pub weight: ClassWeight,
}

impl Default for Cwce {
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl Cwce {
    /// The mean over classes of order `p`, with 15 bins of equal width.
    pub fn new(order: f64) -> Self {
        Self {
            binning: Binning::Uniform { bins: 15 },
            form: TceForm::PlugIn { order },
            weight: ClassWeight::Mean,
        }
    }

    /// Sets the bins.
    pub fn with_binning(self, binning: Binning) -> Self {
        Self { binning, ..self }
    }

    /// Sets the estimator.
    pub fn with_form(self, form: TceForm) -> Self {
        Self { form, ..self }
    }

    /// Sets the weight of each class.
    pub fn with_weight(self, weight: ClassWeight) -> Self {
        Self { weight, ..self }
    }

    /// The estimate of `CWCE_p^p`, which can be negative unless plugged in; shapes, cost and errors as for
    /// [`estimate`](Self::estimate).
    pub fn power(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        check_order(self.form.order())?;
        let (predictions, weights) = predictions.parted();
        let labels = predictions.check_labels(labels)?;
        let (rows, classes) = (predictions.rows(), predictions.classes());
        let mut sum = 0.0;
        for class in 0..classes {
            let outcomes = Outcomes {
                probability: Event::Class(class).probabilities(&predictions, &rows),
                occurred: labels.iter().map(|&y| i64::from(y == class)).collect(),
                weights: weights.clone(),
            };
            sum += binned_power(&outcomes, self.binning, self.form)?;
        }
        Ok(self.weight.total(sum, classes))
    }
}

impl Estimator for Cwce {
    /// The estimate of `CWCE_p` from data: the root of [`power`](Self::power), 0 where that is
    /// negative. Cost: `m` times that of [`Binning::partition`] of a single coordinate.
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        Ok(self.form.root(self.power(predictions, labels)?))
    }
}
