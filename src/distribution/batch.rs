use std::{cell::RefCell, ops::Range};

use burn::tensor::Tensor;

use super::{
    DrawnBy, Predictive, Targets as _,
    weights::{self, no_weights},
};
use crate::error::Result;

/// Operations on predictions as a whole, which follow from [`Predictive`]: rows, gradients, and the
/// assertions of training losses. Every kind of prediction has them.
pub trait Batch: Predictive {
    /// Detaches the predictions from gradients.
    fn detach(&self) -> Self {
        self.map(&Tensor::detach)
    }

    /// Takes the predictions, without gradients, to the device and the dtype of others.
    fn like(&self, other: &Self) -> Self {
        let (device, dtype) = (other.device(), other.dtype());
        self.map(&|parameter| parameter.detach().to_device(&device).cast(dtype))
    }

    /// The predictions of consecutive samples.
    fn slice_rows(&self, rows: Range<usize>) -> Self {
        self.map(&|parameter| parameter.slice(rows.clone()))
    }

    /// Returns 0 with gradient 0 for each parameter, `[1]`: the value of a batch that is too small.
    fn zero(&self) -> Tensor<1> {
        let sum = RefCell::new(Tensor::zeros([1], (&self.device(), self.dtype())));
        self.map(&|parameter| {
            sum.replace_with(|sum| sum.clone() + parameter.clone().sum() * 0.0);
            parameter
        });
        sum.into_inner()
    }

    /// The targets on the host, once [checked](Predictive::check_targets).
    /// The errors are those of [`check_targets`](Predictive::check_targets).
    fn checked_targets(&self, targets: &Self::Targets) -> Result<DrawnBy<Self>> {
        self.check_targets(targets)?;
        Ok(targets.drawn())
    }

    /// Asserts that the targets of a training loss fit the predictions: shapes and dtypes, and labels if
    /// they are on the host. It reads nothing back from a device. A loss that takes weights asserts this
    /// for the predictions [without weights](Self::batch_parts).
    ///
    /// # Panics
    ///
    /// In the words of [`check_targets`](Predictive::check_targets), and if there are weights.
    fn assert_targets(&self, targets: &Self::Targets) {
        self.assert_unweighted();
        let shape = (self.len(), self.dimensions(), self.dtype());
        if let Err(error) = targets.check_shape(shape.0, shape.1, shape.2) {
            panic!("{error}");
        }
    }

    /// Asserts that a loss gets no weights.
    ///
    /// # Panics
    ///
    /// If there are weights.
    fn assert_unweighted(&self) {
        if let Err(error) = weights::refuse(&self.sample_weights()) {
            panic!("{error}");
        }
    }

    /// The predictions of a training batch without weights, and the weights in their dtype. It reads
    /// nothing back from the device.
    fn batch_parts(&self) -> (Self, Option<Tensor<2>>) {
        let Some(weights) = self.sample_weights() else {
            return (self.clone(), None);
        };
        let plain = self.with_sample_weights(None);
        let weights = weights.cast(self.dtype());
        (plain.expect("predictions with weights"), Some(weights))
    }

    /// The predictions of a training batch with weights, for a weighted mean of a loss. Nothing is read
    /// back: samples of weight 0 stay, and do not count.
    ///
    /// # Shapes
    ///
    /// - weights: `[n]`, finite and at least 0
    ///
    /// # Panics
    ///
    /// If there is another number of weights than predictions, or such predictions cannot carry weights.
    fn weighted_batch(&self, weights: Tensor<1>) -> Self {
        let n = self.len();
        assert_eq!(weights.dims()[0], n, "numbers of weights and predictions");
        let column = weights.detach().reshape([n, 1]);
        let weighted = self.with_sample_weights(Some(column));
        weighted.unwrap_or_else(|| panic!("{}", no_weights()))
    }
}

impl<P: Predictive> Batch for P {}
