use burn::tensor::{Int, Tensor};

use super::{
    Recalibration,
    task::{FitTask, fit_task},
};
use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
    loss::Criterion,
};

/// The state of a fit, as a callback gets it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
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

/// The options of a single fit, beside its data and its configuration.
pub struct FitOptions<'a, P: Predictive> {
    /// The criterion; none for the log loss.
    pub criterion: Option<&'a dyn Criterion<P>>,
    /// The progress callback, called after each evaluation of the criterion.
    pub progress: Progress<'a>,
    /// Whether rows that would rule the fit are left out, see [`Robust`](super::Robust).
    pub is_robust: bool,
}

impl<'a, P: Predictive> FitOptions<'a, P> {
    /// The options of a fit to all rows.
    pub fn new(criterion: Option<&'a dyn Criterion<P>>, progress: Progress<'a>) -> Self {
        Self {
            criterion,
            progress,
            is_robust: false,
        }
    }
}

/// The configuration of a map, which fits the map to held-out data: logits and labels, or predictive
/// distributions and targets.
///
/// The same configuration, data and seed give the same map. Your own configuration of a map of logits implements
/// [`LogitFit`] and is a `Fit` by it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not fitted to predictions `{P}` and targets `{T}`",
    label = "not fitted to these",
    note = "a map of classes is fitted to logits `Tensor<2>`, or `Categorical` predictions, and labels \
            `Tensor<1, Int>`"
)]
pub trait Fit<P = Tensor<2>, T = Tensor<1, Int>> {
    /// The fitted map.
    type Map;

    /// The argument of a criterion: [`Categorical`] predictions for logits, otherwise the predictions.
    type Scored: Predictive;

    /// Fits the map with options, such as a callback for the progress.
    ///
    /// Shapes and errors as for [`fit_by`](Self::fit_by).
    fn fit_with(
        &self,
        predictions: P,
        targets: T,
        options: FitOptions<'_, Self::Scored>,
    ) -> Result<Self::Map>;

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
        self.fit_with(predictions, targets, FitOptions::new(None, &mut |_| {}))
    }

    /// Fits the map to any criterion, such as a loss of this library or a function, by descent from its fit to the
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
        criterion: &dyn Criterion<Self::Scored>,
        predictions: P,
        targets: T,
    ) -> Result<Self::Map> {
        let mut silent = |_| {};
        let options = FitOptions::new(Some(criterion), &mut silent);
        self.fit_with(predictions, targets, options)
    }
}

/// A configuration that fits a map of logits to checked samples on the host; it is a [`Fit`] to logits and to
/// [`Categorical`] predictions, with their weights.
///
/// Implement it for the configuration of a map of your own, see the [guide](crate::guide::own_map). What is common to
/// all maps is done around [`find`](Self::find): samples are checked before; after it the map is checked and compared
/// with the predictions as they are, and the report gets the warnings of the data.
pub trait LogitFit: Sized {
    /// The fitted map.
    type Map: Recalibration;

    /// Finds the map, whose record has a report of the fit.
    ///
    /// # Errors
    ///
    /// A configuration outside its domain, or a criterion that cannot be descended in.
    fn find(&self, task: &mut FitTask) -> Result<Self::Map>;
}

impl<C: LogitFit> Fit for C {
    type Map = C::Map;
    type Scored = Categorical;

    fn fit_with(
        &self,
        logits: Tensor<2>,
        labels: Tensor<1, Int>,
        options: FitOptions<'_, Categorical>,
    ) -> Result<C::Map> {
        fit_task(self, &mut FitTask::from_logits(&logits, &labels, options)?)
    }
}

impl<C: LogitFit> Fit<Categorical, Tensor<1, Int>> for C {
    type Map = C::Map;
    type Scored = Categorical;

    fn fit_with(
        &self,
        predictions: Categorical,
        labels: Tensor<1, Int>,
        options: FitOptions<'_, Categorical>,
    ) -> Result<C::Map> {
        fit_task(
            self,
            &mut FitTask::from_predictions(&predictions, &labels, options)?,
        )
    }
}
