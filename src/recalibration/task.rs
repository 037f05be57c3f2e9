//! The data and options of a fit, and the steps from a configuration to a fitted map.

use burn::tensor::{Int, Tensor};

use super::{
    FitOptions, FitReport, FitWarning, LogitFit, Progress, Recalibration,
    data::FitData,
    descent::{Evaluated, tensor_criterion},
    family::log_losses,
    fitted::{checked, with_warnings},
    influence::{allowance, robust},
    regularisation::Split,
};
use crate::{
    distribution::{Categorical, Predictive, Weighted as _, Weights, weights_refused},
    error::{Error, Result},
    loss::Criterion,
};

/// A criterion as a function of the parameters that logits of the data are made of, `[p] → [n, m]`.
pub(super) fn logit_criterion(
    criterion: &dyn Criterion,
    data: &FitData,
    logits: impl Fn(&Tensor<1>) -> Tensor<2>,
) -> impl Fn(&[f64]) -> Evaluated {
    let labels = data.labels_tensor();
    tensor_criterion(
        move |theta| criterion.value(&Categorical::from_logits_unchecked(logits(theta)), &labels),
        &data.device,
    )
}

/// The purpose of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A map that is asked for.
    Map,
    /// A candidate of a choice among maps.
    Candidate,
    /// A candidate without the samples of a fold, for which a point near the minimum will do.
    Fold,
}

/// The data of a fit of a map of logits, its criterion and its progress.
pub struct FitTask<'a> {
    /// The samples, which were checked. A fit may change them.
    pub data: FitData,
    /// The criterion; none for the log loss.
    pub criterion: Option<&'a dyn Criterion>,
    /// The progress callback, called after each evaluation of the criterion.
    pub progress: Progress<'a>,
    pub(super) is_robust: bool,
    pub(super) purpose: Purpose,
    /// The weight of the regularisation, if it is known before.
    pub(super) weight: Option<f64>,
    /// The splits of a cross-validation, if they are given.
    pub(super) splits: Option<&'a [Split]>,
    /// The logits of what the splits leave out, in the order of the rows, if a cross-validation found the weight.
    pub(super) left_out: Option<Vec<f64>>,
}

impl<'a> FitTask<'a> {
    /// The fit of a map to the log loss.
    pub(super) fn new(data: FitData, progress: Progress<'a>) -> Self {
        Self {
            data,
            criterion: None,
            progress,
            is_robust: false,
            purpose: Purpose::Map,
            weight: None,
            splits: None,
            left_out: None,
        }
    }

    /// The fit to logits and labels, once these are checked.
    pub(super) fn from_logits(
        logits: &Tensor<2>,
        labels: &Tensor<1, Int>,
        options: FitOptions<'a, Categorical>,
    ) -> Result<Self> {
        Ok(Self {
            criterion: options.criterion,
            is_robust: options.is_robust,
            ..Self::new(FitData::new(logits, labels)?, options.progress)
        })
    }

    /// The fit to predictions with their weights, by the log loss; those of probabilities are fitted to their
    /// logarithms, which are kept finite.
    pub(super) fn from_predictions(
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        options: FitOptions<'a, Categorical>,
    ) -> Result<Self> {
        let refusal = NoDescent {
            map: "a map of class predictions",
            reason: "the fit to logits takes one",
        };
        refusal.check(options.criterion)?;
        let (plain, weights) = predictions.parted();
        plain.check()?;
        let data = FitData::new(&plain.finite_logits(), labels)?;
        Ok(Self {
            is_robust: options.is_robust,
            ..Self::new(data.weighted(weights), options.progress)
        })
    }
}

/// Predictions with their weights and targets that were checked, and the options of the fit.
pub(super) struct DistributionTask<'a, P: Predictive> {
    pub predictions: P,
    /// The weights of the predictions, on the host.
    pub weights: Weights,
    pub targets: Tensor<2>,
    pub options: FitOptions<'a, P>,
}

impl<'a, P: Predictive<Targets = Tensor<2>>> DistributionTask<'a, P> {
    pub fn new(predictions: P, targets: Tensor<2>, options: FitOptions<'a, P>) -> Result<Self> {
        let (plain, weights) = predictions.parted();
        plain.check()?;
        plain.check_targets(&targets)?;
        let takes_weights = (options.criterion).is_none_or(|criterion| criterion.takes_weights());
        if weights.are_given() && !takes_weights {
            return Err(weights_refused(
                "criterion of the fit",
                "one whose `Criterion::takes_weights` is true, such as a loss of this library, or predictions without \
                 weights",
            ));
        }
        let predictions = if weights.are_given() {
            predictions
        } else {
            plain
        };
        Ok(Self {
            predictions,
            weights,
            targets,
            options,
        })
    }

    /// As [`new`](Self::new), for a map that no criterion can be descended in.
    pub fn without_criterion(
        predictions: P,
        targets: Tensor<2>,
        options: FitOptions<'a, P>,
        refusal: NoDescent,
    ) -> Result<Self> {
        let task = Self::new(predictions, targets, options)?;
        refusal.check(task.options.criterion)?;
        Ok(task)
    }
}

/// A map that is fitted without a descent, with the mean log loss of the data of its fit.
pub(super) fn closed_form<M: Recalibration>(mut map: M, task: &mut FitTask) -> M {
    let data = &task.data;
    let losses = log_losses(data.mapped(|logits| map.forward(logits)), &data.labels);
    let objective = data.weights.mean(&losses);
    map.fit_record_mut().report = Some(FitReport::found(objective, &mut *task.progress));
    map
}

/// A map that no criterion can be descended in.
pub(super) struct NoDescent<'a> {
    pub map: &'a str,
    /// The reason; empty if there is none to tell.
    pub reason: &'a str,
}

impl NoDescent<'_> {
    /// Refuses a criterion.
    pub fn check<C: ?Sized>(&self, criterion: Option<&C>) -> Result<()> {
        if criterion.is_none() {
            return Ok(());
        }
        let colon = if self.reason.is_empty() { "" } else { ": " };
        let Self { map, reason } = self;
        Err(Error::Unsupported {
            what: format!("{map} cannot be fitted by a criterion{colon}{reason}"),
            expected: "a fit without one",
        })
    }
}

/// Fits a map: one that is asked for says what there is to know about the data, and is compared with the predictions
/// as they are where it is fitted to the log loss; by a robust fit to all rows but those that would rule it. The task
/// keeps the logits of what a cross-validation left out.
pub(super) fn fit_task<C: LogitFit>(config: &C, task: &mut FitTask) -> Result<C::Map> {
    let is_asked_for = task.purpose == Purpose::Map;
    if is_asked_for && task.criterion.is_none() {
        return fit_asked_for(config, task);
    }
    let about_data = is_asked_for.then(|| FitWarning::of_data(&task.data));
    let map = checked(config.find(task)?)?;
    Ok(with_warnings(map, about_data.unwrap_or_default()))
}

fn fit_asked_for<C: LogitFit>(config: &C, task: &mut FitTask) -> Result<C::Map> {
    let data = &task.data;
    let mut warnings = FitWarning::of_data(data);
    let n = data.samples();
    let before = log_losses(data.logits.clone(), &data.labels);
    let mut fit = |rows: &[usize]| {
        let part = if rows.len() == n {
            data.clone()
        } else {
            data.select(rows)
        };
        let mut own = FitTask::new(part.clone(), &mut *task.progress);
        let map = checked(config.find(&mut own)?)?;
        let after = log_losses(part.mapped(|logits| map.forward(logits)), &part.labels);
        let change = |(&row, after): (&usize, f64)| after - before[row];
        let changes: Vec<f64> = rows.iter().zip(after).map(change).collect();
        let mean = part.weights.mean(&changes);
        Ok(((map, mean), changes))
    };
    let allowance = allowance(&data.weights, task.is_robust);
    let found = robust(n, |n| 0.5 * allowance(n), &mut fit)?;
    let rows = found.set_aside;
    let (map, change) = match found.map {
        Some(found) => {
            if !rows.is_empty() {
                warnings.push(FitWarning::SetAside { rows });
            }
            found
        }
        None => {
            warnings.push(FitWarning::Ruled { rows });
            let all: Vec<usize> = (0..n).collect();
            (fit(&all)?.0.0, 0.0)
        }
    };
    if change > WORSE {
        warnings.push(FitWarning::Worse { change });
    }
    Ok(with_warnings(map, warnings))
}

/// Smallest rise of the mean log loss that becomes a warning.
const WORSE: f64 = 1e-3;
