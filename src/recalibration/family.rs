//! Fitting a differentiable family of maps: regularisation, cross-validation, descent.

use std::{sync::mpsc, thread};

use burn::tensor::{Int, Tensor};

use super::{
    FitProgress, FitReport, Objective, Regularisation,
    data::FitData,
    descent::{Limits, minimise},
    fit::{Progress, Task, observer},
    regularisation::{WEIGHTS, folds},
};
use crate::{error::Result, host::to_scalar, loss::ScoreLoss, score::LogScore};

/// Maps that differ by their parameters `θ`.
pub(super) trait Family {
    /// What the maps need of logits, computed once for a fit.
    type Inputs;

    /// The parameters at which a descent starts.
    fn start(&self) -> Vec<f64>;

    fn inputs(&self, data: &FitData) -> Self::Inputs;

    /// The recalibrated logits, `[n, m]`, of `θ`, `[p]`.
    fn logits(&self, theta: &Tensor<1>, inputs: &Self::Inputs) -> Tensor<2>;

    /// What a weight of 1 adds to the criterion: `[1]`.
    fn penalty(&self, theta: &Tensor<1>) -> Tensor<1>;
}

/// How a family is fitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub regularisation: Regularisation,
    pub limits: Limits,
    pub seed: u64,
}

impl Settings {
    pub fn new(regularisation: Regularisation, limits: Limits, seed: u64) -> Self {
        Self {
            regularisation,
            limits,
            seed,
        }
    }
}

/// Data in the form a family needs.
struct Prepared<'a, F: Family> {
    family: &'a F,
    inputs: F::Inputs,
    labels: Tensor<1, Int>,
    data: &'a FitData,
}

impl<'a, F: Family> Prepared<'a, F> {
    fn new(family: &'a F, data: &'a FitData) -> Self {
        Self {
            family,
            inputs: family.inputs(data),
            labels: data.labels_tensor(),
            data,
        }
    }

    /// The criterion alone.
    fn criterion(&self, criterion: &dyn Objective, theta: &Tensor<1>) -> Tensor<1> {
        let logits = self.family.logits(theta, &self.inputs);
        criterion.objective(&logits, &self.labels)
    }

    fn fit(
        &self,
        criterion: &dyn Objective,
        weight: f64,
        start: &[f64],
        limits: Limits,
        observe: &mut dyn FnMut(usize, f64),
    ) -> (Vec<f64>, FitReport) {
        let objective = |theta: &Tensor<1>| {
            self.criterion(criterion, theta) + self.family.penalty(theta) * weight
        };
        minimise(objective, start, &self.data.device, limits, observe)
    }
}

/// The parameters of the member that fits best, and how the last fit went.
pub(super) fn fit_family<F: Family + Sync>(
    family: &F,
    settings: Settings,
    task: &mut Task,
) -> Result<(Vec<f64>, FitReport)> {
    let (data, criterion) = (&task.data, task.criterion);
    let log_loss = ScoreLoss::new(LogScore);
    let n = data.samples();
    let folds = match settings.regularisation.validate()? {
        Regularisation::CrossValidated { folds: count } if n >= 2 * count => {
            folds(n, count, settings.seed)
        }
        _ => vec![],
    };
    let validating = folds.len() * WEIGHTS.len();
    let fits = validating + 1 + usize::from(criterion.is_some());
    let mut observe = |at: FitProgress| (task.progress)(FitProgress { fits, ..at });
    let weight = match settings.regularisation {
        Regularisation::Fixed(weight) => weight,
        _ if folds.is_empty() => WEIGHTS[0],
        _ => cross_validated(family, data, &folds, settings.limits, &mut observe),
    };
    let all = Prepared::new(family, data);
    let mut start = family.start();
    let mut report = None;
    let criteria = [Some(&log_loss as &dyn Objective), criterion];
    for (last, criterion) in criteria.into_iter().flatten().enumerate() {
        let mut observe = observer(&mut observe, validating + last + 1, fits);
        let (theta, ended) = all.fit(criterion, weight, &start, settings.limits, &mut observe);
        start = theta;
        report = Some(FitReport {
            regularisation: Some(weight),
            ..ended
        });
    }
    Ok((start, report.expect("the log loss was fitted")))
}

/// The weight whose log loss on the samples left out is least, the larger one of equals. Each fold
/// has a thread of its own.
fn cross_validated<F: Family + Sync>(
    family: &F,
    data: &FitData,
    folds: &[Vec<usize>],
    limits: Limits,
    observe: Progress<'_>,
) -> f64 {
    let (sender, receiver) = mpsc::channel();
    let held_out: Vec<[f64; WEIGHTS.len()]> = thread::scope(|scope| {
        let threads: Vec<_> = (0..folds.len())
            .map(|fold| {
                let sender = sender.clone();
                scope.spawn(move || held_out(family, data, folds, fold, limits, &sender))
            })
            .collect();
        drop(sender); // the last of them ends the loop
        receiver.iter().for_each(observe);
        let sums = threads.into_iter().map(|thread| thread.join());
        sums.map(|sums| sums.expect("a fit does not panic"))
            .collect()
    });
    let total = |weight: usize| held_out.iter().map(|sums| sums[weight]).sum::<f64>();
    let totals: Vec<f64> = (0..WEIGHTS.len()).map(total).collect();
    let least = totals.iter().copied().fold(f64::INFINITY, f64::min);
    let best = totals.iter().position(|total| *total <= least);
    WEIGHTS[best.unwrap_or(0)]
}

/// The sum of the log losses on one fold of the fits to the others, for each weight.
fn held_out<F: Family>(
    family: &F,
    data: &FitData,
    folds: &[Vec<usize>],
    fold: usize,
    limits: Limits,
    progress: &mpsc::Sender<FitProgress>,
) -> [f64; WEIGHTS.len()] {
    let log_loss = ScoreLoss::new(LogScore);
    let others = (0..folds.len()).filter(|other| *other != fold);
    let rest: Vec<usize> = others.flat_map(|other| folds[other].clone()).collect();
    let (rest, left_out) = (data.select(&rest), data.select(&folds[fold]));
    let (rest, left_out) = (
        Prepared::new(family, &rest),
        Prepared::new(family, &left_out),
    );
    let (mut theta, mut fit) = (family.start(), fold * WEIGHTS.len());
    WEIGHTS.map(|weight| {
        fit += 1;
        let mut send = |at| progress.send(at).expect("somebody listens until all end");
        let mut observe = observer(&mut send, fit, 0); // how many there are the receiver knows
        (theta, _) = rest.fit(&log_loss, weight, &theta, limits, &mut observe);
        let loss = left_out.criterion(&log_loss, &data.parameters(theta.clone()));
        to_scalar(loss) * left_out.data.samples() as f64
    })
}
