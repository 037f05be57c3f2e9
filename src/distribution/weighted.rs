use burn::tensor::Tensor;

use super::{Predictive, Targets as _, Weights, weights};
use crate::error::{Error, Result};

/// Predictions that may carry weights of their samples.
///
/// The default carries none: `impl Weighted for Mine {}` is all that a kind of your own needs.
pub trait Weighted: Clone {
    /// The weights of the samples, `[n, 1]`. None where each sample counts once.
    fn sample_weights(&self) -> Option<Tensor<2>> {
        None
    }

    /// The same predictions with these weights of the samples, `[n, 1]`, or without weights. None where such
    /// predictions cannot carry weights.
    fn with_sample_weights(&self, weights: Option<Tensor<2>>) -> Option<Self> {
        weights.is_none().then(|| self.clone())
    }

    /// The samples with a positive weight, which carry their weights: predictions, and their targets. Messages count
    /// the rows of these.
    ///
    /// Means over samples become weighted means, `Σ w_i x_i/Σ w_i`, and means over pairs have the weights
    /// `w_i w_j`. Only ratios of weights matter. Functions that take no weights return an error. Equal
    /// weights give the numbers without weights. Integer weights give the means of repeated rows, but other
    /// intervals and p-values, because repeated rows count as independent samples.
    /// [`guide::weights`](crate::guide::weights) says what takes weights.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{
    ///     distribution::{Categorical, Predictive, Weighted}, estimator::{Accuracy, Estimator},
    /// };
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let rows = Tensor::from_floats([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], &device);
    /// let labels = Tensor::<1, Int>::from_ints([0, 0, 1], &device);
    /// let weights = Tensor::<1>::from_floats([3.0, 1.0, 0.0], &device);
    /// let (weighted, labels) = Categorical::from_probabilities(rows)?.weighted(&weights, &labels)?;
    /// assert_eq!(weighted.len(), 2);
    /// assert_eq!(Accuracy.estimate(&weighted, &labels)?, 0.75);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Another number of weights than predictions, a weight that is negative or not finite, with its row; no positive
    /// weight; another number of targets than predictions; predictions that cannot carry weights.
    fn weighted(
        &self,
        weights: &Tensor<1>,
        targets: &Self::Targets,
    ) -> Result<(Self, Self::Targets)>
    where
        Self: Predictive,
    {
        let n = self.len();
        targets.check_shape(n, self.dimensions(), self.dtype())?;
        let (rows, column) = weights::checked(weights, n)?;
        let (kept, targets) = if rows.len() == n {
            (self.clone(), targets.clone())
        } else {
            (self.select_rows(&rows), targets.select_rows(&rows))
        };
        let column = column.map(|column| column.to_device(&self.device()));
        let weighted = kept.with_sample_weights(column).ok_or_else(no_weights)?;
        Ok((weighted, targets))
    }

    /// Splits predictions into predictions without weights, and the weights. Functions that take weights
    /// begin with this. Other functions [check](Predictive::check) the predictions, and refuse weights.
    fn parted(&self) -> (Self, Weights) {
        let weights = self.sample_weights();
        if weights.is_none() {
            return (self.clone(), Weights::default());
        }
        let plain = self.with_sample_weights(None);
        (
            plain.expect("predictions with weights"),
            Weights::of(weights),
        )
    }
}

/// The error of predictions that cannot carry weights.
pub(super) fn no_weights() -> Error {
    Error::Unsupported {
        what: "such predictions cannot carry sample weights".into(),
        expected: "a kind of prediction of this library",
    }
}
