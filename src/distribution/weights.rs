//! Weights of samples: predictions that carry them, and the weights on the host.

use std::{ops::Range, sync::Arc};

use burn::tensor::{Tensor, TensorData};

use super::{Predictive, Targets as _};
use crate::{
    error::{Error, Result, check_length, check_values},
    host::{finest, tensor_like, to_vec},
};

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
        let (rows, column) = checked(weights, n)?;
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

/// Implements [`Weighted`] for a kind of prediction with the field `sample_weights`.
macro_rules! carries_weights {
    ([$($generics:tt)*] $kind:ty) => {
        impl<$($generics)*> $crate::distribution::Weighted for $kind {
            fn sample_weights(&self) -> Option<Tensor<2>> {
                self.sample_weights.clone()
            }

            fn with_sample_weights(&self, sample_weights: Option<Tensor<2>>) -> Option<Self> {
                Some(Self {
                    sample_weights,
                    ..self.clone()
                })
            }
        }
    };
}
pub(super) use carries_weights;

/// Weights of samples on the host, of mean 1. Without weights each is 1.
///
/// Sums of weights of 1 are exact, so that formulas with weights give the numbers without weights.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weights(Option<Arc<[f64]>>);

impl Weights {
    /// Reads a column of weights, `[n, 1]`. Weights that are all equal are none.
    pub(crate) fn of(column: Option<Tensor<2>>) -> Self {
        column.map_or(Self(None), |column| Self::new(&to_vec(column.detach())))
    }

    /// Makes weights of numbers of at least 0 with a positive sum.
    pub(crate) fn new(values: &[f64]) -> Self {
        Self((!values.iter().all(|value| *value == values[0])).then(|| with_mean_1(values).into()))
    }

    /// The weights as a column beside a tensor, `[n, 1]`.
    pub(crate) fn column(&self, like: &Tensor<2>) -> Option<Tensor<2>> {
        let weights = self.0.as_ref()?;
        Some(tensor_like(weights.to_vec(), [weights.len(), 1], like))
    }

    /// The weights of some samples, in their order.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        if !self.are_given() {
            return Self::default();
        }
        let weights: Vec<f64> = rows.iter().map(|&row| self.at(row)).collect();
        Self::new(&weights)
    }

    /// The weighted mean of a number of each sample.
    pub(crate) fn mean(&self, values: &[f64]) -> f64 {
        let n = values.len();
        let terms = values.iter().zip(self.all(n));
        terms.map(|(x, w)| w * x).sum::<f64>() / self.total(n)
    }

    /// Returns whether there are weights: they are not all equal.
    pub fn are_given(&self) -> bool {
        self.0.is_some()
    }

    /// The weight of a sample.
    pub fn at(&self, row: usize) -> f64 {
        self.0.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The weights of all samples.
    pub fn all(&self, samples: usize) -> impl Iterator<Item = f64> + Clone {
        (0..samples).map(|row| self.at(row))
    }

    /// The sum of the weights of some samples.
    pub fn sum<'a>(&self, rows: impl IntoIterator<Item = &'a usize>) -> f64 {
        rows.into_iter().map(|&row| self.at(row)).sum()
    }

    /// The sum of all weights: `n` up to rounding.
    pub fn total(&self, samples: usize) -> f64 {
        self.all(samples).sum()
    }

    /// The sum of the squares of all weights.
    pub fn squares(&self, samples: usize) -> f64 {
        self.all(samples).map(|w| w * w).sum()
    }

    /// `Σ_{i≠j} w_i w_j`, the weight of all ordered pairs: `n(n − 1)` without weights.
    pub fn pairs(&self, samples: usize) -> f64 {
        self.pairs_within(0..samples)
    }

    /// The same of some consecutive samples: twice each weight times the sum of those before it, because the square of
    /// the sum less the squares has no digits left where one weight exceeds all others.
    pub(crate) fn pairs_within(&self, rows: Range<usize>) -> f64 {
        let mut before = 0.0;
        let mut product = |row| {
            let weight = self.at(row);
            let product = weight * before;
            before += weight;
            product
        };
        2.0 * rows.map(&mut product).sum::<f64>()
    }

    /// The effective number of samples of Kish (1965), `(Σw)²/Σw²`: a weighted mean of independent values
    /// has the variance of a mean over this number of values, if the weights do not depend on the values.
    pub fn effective(&self, samples: usize) -> f64 {
        let total = self.total(samples);
        total * total / self.squares(samples)
    }
}

/// The weights over their mean. Their sum may be beyond the largest number.
fn with_mean_1(weights: &[f64]) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let sum: f64 = weights.iter().map(|w| w / largest).sum();
    let mean = sum / weights.len() as f64;
    weights.iter().map(|w| w / largest / mean).collect()
}

/// The rows of samples with a positive weight, and their weights as a column, `[n, 1]`; no column where all weights
/// are equal.
///
/// # Errors
///
/// Another number of weights than samples, a weight that is negative or not finite, with its row, or no positive one.
fn checked(weights: &Tensor<1>, samples: usize) -> Result<(Vec<usize>, Option<Tensor<2>>)> {
    check_length(samples, weights.dims()[0], "sample weight")?;
    let values = to_vec(weights.clone().detach());
    let is_valid = |weight: f64| weight.is_finite() && weight >= 0.0;
    let expected = "a finite number of at least 0";
    let column = (1, "column");
    check_values(&values, column, "the sample weight", (is_valid, expected))?;
    let rows: Vec<usize> = (0..samples).filter(|&row| values[row] > 0.0).collect();
    let Some(&first) = rows.first() else {
        return Err(Error::Unsupported {
            what: "all sample weights are 0".into(),
            expected: "a positive weight",
        });
    };
    if rows.iter().all(|&row| values[row] == values[first]) {
        return Ok((rows, None));
    }
    let kept: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
    let device = weights.device();
    let data = TensorData::new(with_mean_1(&kept), [kept.len(), 1]);
    let column = Tensor::from_data(data, (&device, finest(&device)));
    Ok((rows, Some(column)))
}

/// The error of something that takes no weights, where something else does.
pub(crate) fn weights_refused(what: &str, expected: &'static str) -> Error {
    let what = format!("the {what} takes no sample weights");
    Error::Unsupported { what, expected }
}

/// The error of what takes no weights.
pub(crate) fn refuse(weights: &Option<Tensor<2>>) -> Result<()> {
    if weights.is_none() {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: "this quantity takes no sample weights".into(),
        expected: "one that does (see guide::weights), or predictions without weights",
    })
}
