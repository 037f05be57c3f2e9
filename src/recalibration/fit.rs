use burn::tensor::{Int, Tensor};

use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
    loss::Criterion,
};

/// The state of a fit, as a callback gets it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct FitProgress {
    /// The number of the fit, from 1: those of a cross-validation, which run at the same time, come
    /// first, then the last one on all data.
    pub fit: usize,
    /// The number of fits, at most: a cross-validation leaves out weights that can only be worse.
    pub fits: usize,
    /// The number of evaluations of the criterion in this fit.
    pub evaluations: usize,
    /// The value of the criterion, with its regularisation, at the last one.
    pub objective: f64,
}

/// A callback for the progress of a fit.
pub type Progress<'a> = &'a mut dyn FnMut(FitProgress);

/// Calls back for one of several fits, with the number of evaluations and the objective.
pub(super) fn observer(
    progress: Progress<'_>,
    fit: usize,
    fits: usize,
) -> impl FnMut(usize, f64) + '_ {
    move |evaluations, objective| {
        progress(FitProgress {
            fit,
            fits,
            evaluations,
            objective,
        });
    }
}

/// A criterion for a fit: a [`Criterion`] of this library, your own criterion or a function, of predictive
/// distributions or of the classes that logits predict.
pub trait Objective<P = Tensor<2>, T = Tensor<1, Int>> {
    /// Returns the criterion of predictions and their labels or targets, differentiable: `[1]`.
    fn objective(&self, predictions: &P, targets: &T) -> Tensor<1>;

    /// Returns whether the criterion is a weighted one of predictions with weights, see
    /// [`Criterion::takes_weights`].
    fn takes_weights(&self) -> bool {
        false
    }
}

impl<C: Criterion + ?Sized> Objective for C {
    fn objective(&self, logits: &Tensor<2>, labels: &Tensor<1, Int>) -> Tensor<1> {
        self.value(&Categorical::from_logits_unchecked(logits.clone()), labels)
    }

    fn takes_weights(&self) -> bool {
        Criterion::takes_weights(self)
    }
}

impl<P: Predictive, C: Criterion<P> + ?Sized> Objective<P, P::Targets> for C {
    fn objective(&self, predictions: &P, targets: &P::Targets) -> Tensor<1> {
        self.value(predictions, targets)
    }

    fn takes_weights(&self) -> bool {
        Criterion::takes_weights(self)
    }
}

/// The configuration of a map, which fits the map to held-out data: logits and labels, or predictive
/// distributions and targets.
///
/// The same configuration, data and seed give the same map.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not fitted to predictions `{P}` and targets `{T}`",
    label = "not fitted to these",
    note = "a map of classes is fitted to logits `Tensor<2>`, or `Categorical` predictions, and labels \
            `Tensor<1, Int>`"
)]
pub trait Fit<P = Tensor<2>, T = Tensor<1, Int>> {
    /// The fitted map.
    type Map;

    /// Fits the map to the mean log loss, or to what the configuration says: to the weighted mean of predictions with
    /// weights, see [`weighted`](crate::distribution::Weighted::weighted).
    ///
    /// # Shapes
    ///
    /// - predictions: logits `[n, m]`, or distributions; held out from training. Logits are read to the
    ///   host once, where the log loss is computed in f64; another criterion is computed on the device, in
    ///   f64 where it computes in it
    /// - targets: labels `[n]`, or targets of the distributions
    ///
    /// # Errors
    ///
    /// No rows, fewer than two columns of logits, a logit that is NaN or infinite, a label that is not
    /// a class, a parameter of a distribution that is invalid, a target that is NaN, infinite, or where
    /// the densities are 0 or infinite, another number of labels or targets than of rows, or a
    /// configuration outside its domain.
    fn fit(&self, predictions: P, targets: T) -> Result<Self::Map> {
        self.fit_with_progress(None, predictions, targets, &mut |_| {})
    }

    /// Fits the map to any criterion, such as a loss of this library, by descent from its fit to the
    /// log loss.
    ///
    /// It starts there because a calibration error alone does not reward sharpness: the SKCE and the MMCE
    /// of nearly uniform predictions can be lower, but such a map is useless. A kernel with a fixed
    /// bandwidth is the same criterion at every step; the median of the predictions moves with the map,
    /// without a gradient, and the descent can stall.
    ///
    /// Shapes and errors as for [`fit`](Self::fit), and
    /// [`Error::Unsupported`](crate::error::Error::Unsupported) of a map that no criterion can be descended
    /// in, and of predictions with weights if the criterion does not [take
    /// weights](Criterion::takes_weights).
    fn fit_by(
        &self,
        criterion: &dyn Objective<P, T>,
        predictions: P,
        targets: T,
    ) -> Result<Self::Map> {
        self.fit_with_progress(Some(criterion), predictions, targets, &mut |_| {})
    }

    /// Fits the map to a criterion, the log loss if it is none, and reports its progress: calls back after
    /// each evaluation of the criterion.
    ///
    /// Shapes and errors as for [`fit_by`](Self::fit_by).
    fn fit_with_progress(
        &self,
        criterion: Option<&dyn Objective<P, T>>,
        predictions: P,
        targets: T,
        progress: Progress<'_>,
    ) -> Result<Self::Map>;
}
