//! Fitting a differentiable family of maps: regularisation, cross-validation, descent.

use burn::tensor::{Int, Tensor};

use super::{
    FitProgress, FitReport, Regularisation,
    data::FitData,
    descent::{Limits, minimise},
    regularisation::{WEIGHTS, folds},
};
use crate::{
    error::Result,
    host::to_scalar,
    loss::{Criterion, LogLossConfig},
};

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
    fn criterion(&self, criterion: &dyn Criterion, theta: &Tensor<1>) -> Tensor<1> {
        let logits = self.family.logits(theta, &self.inputs);
        criterion.forward(logits, self.labels.clone())
    }

    fn fit(
        &self,
        criterion: &dyn Criterion,
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
pub(super) fn fit_family<F: Family>(
    family: &F,
    data: &FitData,
    settings: Settings,
    criterion: Option<&dyn Criterion>,
    progress: &mut dyn FnMut(FitProgress),
) -> Result<(Vec<f64>, FitReport)> {
    let log_loss = LogLossConfig::new().init();
    let n = data.samples();
    let folds = match settings.regularisation.validate()? {
        Regularisation::CrossValidated { folds: count } if n >= 2 * count => {
            folds(n, count, settings.seed)
        }
        _ => vec![],
    };
    let (mut fit, fits) = (
        0,
        folds.len() * WEIGHTS.len() + 1 + usize::from(criterion.is_some()),
    );
    let mut observe = |fit: usize, evaluations, objective| {
        progress(FitProgress {
            fit,
            fits,
            evaluations,
            objective,
        });
    };
    let weight = match settings.regularisation {
        Regularisation::Fixed(weight) => weight,
        _ if folds.is_empty() => WEIGHTS[0],
        _ => {
            let mut held_out = [0.0; WEIGHTS.len()];
            for fold in &folds {
                let rest: Vec<usize> = (folds.iter().filter(|other| *other != fold))
                    .flatten()
                    .copied()
                    .collect();
                let (rest, fold) = (data.select(&rest), data.select(fold));
                let (rest, fold) = (Prepared::new(family, &rest), Prepared::new(family, &fold));
                let mut theta = family.start();
                for (sum, weight) in held_out.iter_mut().zip(WEIGHTS) {
                    fit += 1;
                    let mut observe = |evaluations, value| observe(fit, evaluations, value);
                    (theta, _) = rest.fit(&log_loss, weight, &theta, settings.limits, &mut observe);
                    let theta = data.parameters(theta.clone());
                    *sum +=
                        to_scalar(fold.criterion(&log_loss, &theta)) * fold.data.samples() as f64;
                }
            }
            let least = held_out.iter().copied().fold(f64::INFINITY, f64::min);
            let best = held_out.iter().position(|sum| *sum <= least);
            best.map_or(WEIGHTS[0], |best| WEIGHTS[best])
        }
    };
    let all = Prepared::new(family, data);
    let mut start = family.start();
    let mut report = None;
    for criterion in [Some(&log_loss as &dyn Criterion), criterion]
        .into_iter()
        .flatten()
    {
        fit += 1;
        let mut observe = |evaluations, value| observe(fit, evaluations, value);
        let (theta, ended) = all.fit(criterion, weight, &start, settings.limits, &mut observe);
        start = theta;
        report = Some(FitReport {
            regularisation: Some(weight),
            ..ended
        });
    }
    Ok((start, report.expect("the log loss was fitted")))
}
