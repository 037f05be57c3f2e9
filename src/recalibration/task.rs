//! What a map is fitted to, and how: the road from a configuration to a fitted map.

use burn::tensor::{Int, Tensor};

use super::{
    Fit, FitReport, FitWarning, Objective, Progress, Recalibration,
    data::FitData,
    descent::{Evaluated, of_tensor},
    family::log_losses,
    fitted::{Apply, Fitted, Form},
    influence::{allowance, robust},
    regularisation::Split,
};
use crate::{
    distribution::{Categorical, Predictive, Weighted as _, Weights, weights_refused},
    error::{Error, Result},
};

/// A criterion as a function of the parameters that logits of the data are made of, `[p] → [n, m]`.
pub fn of_logits(
    criterion: &dyn Objective,
    data: &FitData,
    logits: impl Fn(&Tensor<1>) -> Tensor<2>,
) -> impl Fn(&[f64]) -> Evaluated {
    let labels = data.labels_tensor();
    let objective = move |theta: &Tensor<1>| criterion.objective(&logits(theta), &labels);
    of_tensor(objective, &data.device)
}

/// What a fit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A map that is asked for.
    Map,
    /// A candidate of a choice among maps.
    Candidate,
    /// A candidate without the samples of a fold, for which a point near the minimum will do.
    Fold,
}

/// The data of a fit, the criterion, the log loss if it is none, and who is told of the progress.
pub struct Task<'a> {
    pub data: FitData,
    pub criterion: Option<&'a dyn Objective>,
    pub progress: Progress<'a>,
    pub purpose: Purpose,
    /// The weight of the regularisation, if it is known before.
    pub weight: Option<f64>,
    /// What a cross-validation leaves out, if it is given.
    pub splits: Option<&'a [Split]>,
}

impl<'a> Task<'a> {
    /// The fit of a map to the log loss.
    pub fn new(data: FitData, progress: Progress<'a>) -> Self {
        Self {
            data,
            criterion: None,
            progress,
            purpose: Purpose::Map,
            weight: None,
            splits: None,
        }
    }
}

/// What a fit found.
#[must_use]
pub struct FitOutcome<F> {
    pub form: F,
    pub report: FitReport,
    /// The logits of what the splits leave out, in the order of the rows, if a cross-validation found the weight.
    pub left_out: Option<Vec<f64>>,
}

impl<F> FitOutcome<F> {
    /// Makes something else of the parameters.
    pub fn map<G>(self, make: impl FnOnce(F) -> G) -> FitOutcome<G> {
        FitOutcome {
            form: make(self.form),
            report: self.report,
            left_out: self.left_out,
        }
    }
}

impl<F> From<(F, FitReport)> for FitOutcome<F> {
    fn from((form, report): (F, FitReport)) -> Self {
        let left_out = None;
        Self {
            form,
            report,
            left_out,
        }
    }
}

/// A configuration that fits a map of logits.
pub trait LogitFit: Sized {
    /// The parameters of the map.
    type Form: Form;

    /// Sets the seed, if the configuration has one.
    fn seeded(self, _seed: u64) -> Self {
        self
    }

    /// Whether rows that would rule the fit are left out, see [`Robust`](super::Robust).
    const IS_ROBUST: bool = false;

    /// Finds the parameters, and tells how that went.
    fn find(&self, task: Task) -> Result<FitOutcome<Self::Form>>;
}

/// Predictions with their weights and targets that were checked, the criterion of the fit, the log score if it is none,
/// and who is told of the progress.
pub struct DistributionTask<'a, P> {
    pub predictions: P,
    /// The weights of the predictions, on the host.
    pub weights: Weights,
    pub targets: Tensor<2>,
    pub criterion: Option<&'a dyn Objective<P, Tensor<2>>>,
    pub progress: Progress<'a>,
    /// Whether rows that would rule the fit are left out, see [`Robust`](super::Robust).
    pub is_robust: bool,
}

/// A configuration that fits a map of distributions.
pub trait DistributionFit<P> {
    /// The fitted map.
    type Map;

    /// Finds the map.
    fn find(&self, task: DistributionTask<P>) -> Result<Self::Map>;
}

impl<P: Predictive<Targets = Tensor<2>>, C: DistributionFit<P>> Fit<P, Tensor<2>> for C {
    type Map = C::Map;

    fn fit_with_progress(
        &self,
        criterion: Option<&dyn Objective<P, Tensor<2>>>,
        predictions: P,
        targets: Tensor<2>,
        progress: Progress<'_>,
    ) -> Result<Self::Map> {
        let (plain, weights) = predictions.parted();
        plain.check()?;
        plain.check_targets(&targets)?;
        let takes_weights = criterion.is_none_or(|criterion| criterion.takes_weights());
        if weights.are_given() && !takes_weights {
            return Err(weights_refused(
                "criterion of the fit",
                "one whose `Criterion::takes_weights` is true, such as a loss of this library, or predictions without \
                 weights",
            ));
        }
        self.find(DistributionTask {
            predictions: if weights.are_given() {
                predictions
            } else {
                plain
            },
            weights,
            targets,
            criterion,
            progress,
            is_robust: false,
        })
    }
}

/// A map that is fitted without a descent, with the mean log loss of the data of its fit.
pub fn closed_form<F: Apply<Tensor<2>>>(form: F, task: Task) -> FitOutcome<F> {
    let data = task.data;
    let losses = log_losses(data.mapped(|logits| form.apply(logits)), &data.labels);
    let objective = data.weights.mean(&losses);
    (form, FitReport::found(objective, task.progress)).into()
}

/// An error if a criterion is asked for that a map cannot descend, with a reason after a colon or none.
pub fn no_criterion(asked: bool, map: &str, reason: &str) -> Result<()> {
    if asked {
        return Err(Error::Unsupported {
            what: format!("{map} cannot be fitted by a criterion{reason}"),
            expected: "a fit without one",
        });
    }
    Ok(())
}

/// A map, and the logits of what a cross-validation left out.
type FittedWithLeftOut<C> = (Fitted<<C as LogitFit>::Form>, Option<Vec<f64>>);

/// Fits a map: one that is asked for says what there is to know about the data, and is compared with the predictions
/// as they are where it is fitted to the log loss; by a robust configuration to all rows but those that would rule the
/// fit. Gives the logits of what a cross-validation left out as well.
pub fn fit_task<C: LogitFit<Form: Apply<Tensor<2>>>>(
    config: &C,
    task: Task,
) -> Result<FittedWithLeftOut<C>> {
    let is_asked_for = task.purpose == Purpose::Map;
    if is_asked_for && task.criterion.is_none() {
        return Ok((fit_asked_for(config, task.data, task.progress)?, None));
    }
    let of_data = is_asked_for.then(|| FitWarning::of_data(&task.data));
    let found = config.find(task)?;
    let map = Fitted::checked(found.form, found.report)?;
    let map = map.with_warnings(of_data.unwrap_or_default());
    Ok((map, found.left_out))
}

fn fit_asked_for<C: LogitFit<Form: Apply<Tensor<2>>>>(
    config: &C,
    data: FitData,
    progress: Progress<'_>,
) -> Result<Fitted<C::Form>> {
    let mut warnings = FitWarning::of_data(&data);
    let n = data.samples();
    let before = log_losses(data.logits.clone(), &data.labels);
    let mut fit = |rows: &[usize]| {
        let part = if rows.len() == n {
            data.clone()
        } else {
            data.select(rows)
        };
        let found = config.find(Task::new(part.clone(), &mut *progress))?;
        let map = Fitted::checked(found.form, found.report)?;
        let after = log_losses(part.mapped(|logits| map.forward(logits)), &part.labels);
        let change = |(&row, after): (&usize, f64)| after - before[row];
        let changes: Vec<f64> = rows.iter().zip(after).map(change).collect();
        let mean = part.weights.mean(&changes);
        Ok(((map, mean), changes))
    };
    let allowance = allowance(&data.weights, C::IS_ROBUST);
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
    Ok(map.with_warnings(warnings))
}

/// The rise of the mean log loss that is told.
const WORSE: f64 = 1e-3;

/// What maps of logits are fitted to.
pub trait ClassPredictions: Sized {
    /// The fit to checked predictions and labels.
    fn task<'a>(
        &self,
        labels: &Tensor<1, Int>,
        criterion: Option<&'a dyn Objective<Self>>,
        progress: Progress<'a>,
    ) -> Result<Task<'a>>;
}

impl ClassPredictions for Tensor<2> {
    fn task<'a>(
        &self,
        labels: &Tensor<1, Int>,
        criterion: Option<&'a dyn Objective>,
        progress: Progress<'a>,
    ) -> Result<Task<'a>> {
        let task = Task::new(FitData::new(self, labels)?, progress);
        Ok(Task { criterion, ..task })
    }
}

/// With their weights, to the log loss; those of probabilities are fitted to their logarithms, which are kept finite.
impl ClassPredictions for Categorical {
    fn task<'a>(
        &self,
        labels: &Tensor<1, Int>,
        criterion: Option<&'a dyn Objective<Self>>,
        progress: Progress<'a>,
    ) -> Result<Task<'a>> {
        let reason = ": the fit to logits takes one";
        no_criterion(criterion.is_some(), "a map of class predictions", reason)?;
        let (plain, weights) = self.parted();
        plain.check()?;
        let data = FitData::new(&plain.finite_logits(), labels)?;
        Ok(Task::new(data.weighted(weights), progress))
    }
}

/// Of logits, or of predictions with their weights.
impl<P: ClassPredictions, C: LogitFit<Form: Apply<Tensor<2>>>> Fit<P, Tensor<1, Int>> for C {
    type Map = Fitted<C::Form>;

    fn fit_with_progress(
        &self,
        criterion: Option<&dyn Objective<P>>,
        predictions: P,
        labels: Tensor<1, Int>,
        progress: Progress<'_>,
    ) -> Result<Self::Map> {
        Ok(fit_task(self, predictions.task(&labels, criterion, progress)?)?.0)
    }
}
