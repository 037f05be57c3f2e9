use burn::tensor::{Int, Tensor};

use crate::{error::Result, loss::Criterion};

/// Where a fit is; what a callback gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitProgress {
    /// The fit that this is of, from 1: those of a cross-validation, which run at the same time, then
    /// the last one on all data.
    pub fit: usize,
    /// How many there are.
    pub fits: usize,
    /// Evaluations of the criterion in this fit.
    pub evaluations: usize,
    /// The value of the criterion, with its regularisation, at the last one.
    pub objective: f64,
}

/// An unfitted map: fits itself to logits and labels that were held out from training.
///
/// The same configuration, data and seed give the same map.
pub trait Fit {
    /// The fitted map.
    type Map;

    /// Fits the map to the mean log loss.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`, held out from training; the computation is in f64 where the device
    ///   computes in it
    /// - labels: `[n]`
    ///
    /// # Errors
    ///
    /// No rows, fewer than two columns, a logit that is NaN or infinite, a label that is not a
    /// class, another number of labels than of rows, or a configuration outside its domain.
    fn fit(&self, logits: Tensor<2>, labels: Tensor<1, Int>) -> Result<Self::Map> {
        self.fit_observed(None, logits, labels, &mut |_| {})
    }

    /// Fits the map to any criterion, such as a loss of this library, by descent from its fit to the
    /// log loss.
    ///
    /// Downhill from there, because a calibration error alone does not reward sharpness: the SKCE and
    /// the MMCE of nearly uniform predictions can be lower still, in a map that nobody wants. A
    /// kernel with a fixed bandwidth is the same criterion at every step; the median of the
    /// predictions moves with the map, without a gradient, and the descent can stall.
    ///
    /// Shapes and errors as for [`fit`](Self::fit).
    fn fit_by(
        &self,
        criterion: &dyn Criterion,
        logits: Tensor<2>,
        labels: Tensor<1, Int>,
    ) -> Result<Self::Map> {
        self.fit_observed(Some(criterion), logits, labels, &mut |_| {})
    }

    /// Fits the map to a criterion, the log loss if it is none, and calls back after each evaluation
    /// of it.
    ///
    /// Shapes and errors as for [`fit`](Self::fit).
    fn fit_observed(
        &self,
        criterion: Option<&dyn Criterion>,
        logits: Tensor<2>,
        labels: Tensor<1, Int>,
        progress: &mut dyn FnMut(FitProgress),
    ) -> Result<Self::Map>;
}
