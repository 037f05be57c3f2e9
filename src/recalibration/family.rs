//! Fitting a differentiable family of maps: regularisation and descent.

use std::ops::Range;

use burn::tensor::Tensor;
use pulp::Arch;

use super::{
    FitProgress, FitReport, Regularisation,
    data::FitData,
    descent::{Descent, Evaluated, Limits, Metric, minimise},
    fit::observer,
    regularisation::{PROGRESS, Split, WEIGHTS, cross_validated, folds, splits},
    task::{FitTask, Purpose, logit_criterion},
};
use crate::{error::Result, ops::exp, parallel};

/// Maps that differ by their parameters `θ`, on the host in f64.
pub(super) trait ParametricMaps: Sync + Sized {
    /// The quantities of the logits that the maps need, computed once for a fit.
    type Inputs: Send + Sync;

    /// The parameters at which a descent starts.
    fn start(&self) -> Vec<f64> {
        self.ridge().centre.clone()
    }

    /// The penalty that a weight of 1 adds to the criterion.
    fn ridge(&self) -> &Ridge;

    fn inputs(&self, data: &FitData) -> Self::Inputs;

    /// The numbers that the recalibration of a row depends on: `θ` itself, or fewer.
    fn coefficients(&self, theta: &[f64]) -> Vec<f64> {
        theta.to_vec()
    }

    /// The gradient with respect to `θ` of that with respect to the coefficients.
    fn chain(&self, _theta: &[f64], gradient: Vec<f64>) -> Vec<f64> {
        gradient
    }

    /// Recalibrates rows, `[r, m]`, has their logits replaced by the derivatives of a criterion with
    /// respect to them, and adds the derivatives with respect to the coefficients to the gradient.
    fn pull(
        &self,
        coefficients: &[f64],
        inputs: &Self::Inputs,
        rows: Range<usize>,
        slopes: &mut dyn FnMut(&mut [f64]),
        gradient: &mut [f64],
    );

    /// An approximation of the Hessian of the regularised mean log loss.
    fn metric(&self, _theta: &[f64], _inputs: &Self::Inputs, _weight: f64) -> Metric {
        Metric::Identity
    }
}

/// The weighted squares of parameters, less the centre that they are regularised towards.
#[derive(Debug, Default)]
pub(super) struct Ridge {
    pub weights: Vec<f64>,
    pub centre: Vec<f64>,
}

impl Ridge {
    /// The value times a weight, whose derivatives are added to the gradient.
    fn add(&self, theta: &[f64], weight: f64, gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for (k, slope) in gradient.iter_mut().enumerate() {
            let distance = theta[k] - self.centre[k];
            value += weight * self.weights[k] * distance * distance;
            *slope += 2.0 * weight * self.weights[k] * distance;
        }
        value
    }
}

/// The settings of a fit of a family.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub regularisation: Regularisation,
    pub limits: Limits,
    pub seed: u64,
}

/// The sum of the log losses of logits, `[r, m]`, which become its derivatives times a factor.
pub(super) fn log_loss(logits: &mut [f64], labels: &[usize], factor: f64) -> f64 {
    smoothed_log_loss(logits, labels, factor, Smoothing::default())
}

/// A share of a sample of some classes in each row, beside its label.
#[derive(Clone, Copy, Default)]
struct Smoothing<'a> {
    classes: &'a [usize],
    share: f64,
}

/// As [`log_loss`], of smoothed labels.
fn smoothed_log_loss(
    logits: &mut [f64],
    labels: &[usize],
    factor: f64,
    Smoothing { classes, share }: Smoothing,
) -> f64 {
    let m = logits.len() / labels.len();
    let samples = 1.0 + share * classes.len() as f64; // of a row
    let value = Arch::new().dispatch(|| {
        let mut value = 0.0;
        for (row, &y) in logits.chunks_exact_mut(m).zip(labels) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|z| *z -= largest);
            value -= row[y];
            classes.iter().for_each(|&c| value -= share * row[c]);
        }
        value
    });
    if !value.is_finite() {
        return f64::NAN;
    }
    exp(logits);
    let (mut logarithms, mut product) = (0.0, 1.0f64); // of sums in [1, m]: one logarithm for many
    Arch::new().dispatch(|| {
        for (row, &y) in logits.chunks_exact_mut(m).zip(labels) {
            let sum: f64 = row.iter().sum();
            let scale = factor * samples / sum;
            row.iter_mut().for_each(|p| *p *= scale);
            row[y] -= factor;
            classes.iter().for_each(|&c| row[c] -= factor * share);
            product *= sum;
            if product > 1e200 {
                logarithms += product.ln();
                product = 1.0;
            }
        }
    });
    value + samples * (logarithms + product.ln())
}

/// The log loss of each row of logits, `[n, m]`.
pub(super) fn log_losses(mut logits: Vec<f64>, labels: &[usize]) -> Vec<f64> {
    let m = logits.len() / labels.len().max(1);
    let rows = logits.chunks_mut(m.max(1)).zip(labels);
    rows.map(|(row, &y)| log_loss(row, &[y], 1.0)).collect()
}

/// Data in the form a family needs.
pub(super) struct Prepared<'a, F: ParametricMaps> {
    family: &'a F,
    inputs: F::Inputs,
    pub data: &'a FitData,
    /// Whether blocks of rows may be computed at the same time.
    parallel: bool,
}

/// Logits of a block of rows, at least.
const BLOCK: usize = 4096;
/// Blocks, at most: each has a gradient of its own.
const BLOCKS: usize = 64;

impl<'a, F: ParametricMaps> Prepared<'a, F> {
    pub fn new(family: &'a F, data: &'a FitData, parallel: bool) -> Self {
        Self {
            family,
            inputs: family.inputs(data),
            data,
            parallel,
        }
    }

    /// Pulls derivatives of blocks of rows back to `θ`: their values and the gradient, summed in the order
    /// of the blocks, the same on any number of threads.
    fn pull(
        &self,
        theta: &[f64],
        slopes: impl Fn(Range<usize>, &mut [f64]) -> f64 + Sync,
    ) -> Evaluated {
        let (n, m) = (self.data.samples(), self.data.classes);
        // a block has as many logits as there are parameters, lest adding gradients take the time
        let coefficients = self.family.coefficients(theta);
        let rows = BLOCK
            .max(coefficients.len())
            .div_ceil(m)
            .max(n.div_ceil(BLOCKS));
        let of_block = |block: usize| {
            let range = block * rows..n.min((block + 1) * rows);
            let (mut value, mut gradient) = (0.0, vec![0.0; coefficients.len()]);
            let mut replace = |logits: &mut [f64]| value = slopes(range.clone(), logits);
            let family = self.family;
            family.pull(
                &coefficients,
                &self.inputs,
                range.clone(),
                &mut replace,
                &mut gradient,
            );
            (value, gradient)
        };
        let add = |mut sum: Evaluated, next: Evaluated| {
            sum.0 += next.0;
            sum.1.iter_mut().zip(next.1).for_each(|(a, b)| *a += b);
            sum
        };
        let blocks = 0..n.div_ceil(rows);
        let sum = if self.parallel && blocks.len() > 1 {
            let sums = parallel::map(blocks.len(), &of_block);
            sums.into_iter().reduce(add)
        } else {
            blocks.map(of_block).reduce(add)
        };
        let (value, gradient) = sum.expect("data have rows");
        (value, self.family.chain(theta, gradient))
    }

    /// The mean log loss, regularised, with its gradient.
    pub fn log_loss(&self, theta: &[f64], weight: f64) -> Evaluated {
        let FitData {
            labels,
            smoothed,
            weights,
            classes,
            ..
        } = self.data;
        let n = self.data.samples() as f64;
        let smoothing = Smoothing {
            classes: smoothed,
            share: self.data.mass().recip(),
        };
        let (sum, mut gradient) = self.pull(theta, |rows, logits| {
            if !weights.are_given() {
                return smoothed_log_loss(logits, &labels[rows], n.recip(), smoothing);
            }
            let of_row = |(row, logits): (usize, &mut [f64])| {
                let w = weights.at(row);
                w * smoothed_log_loss(logits, &labels[row..=row], w / n, smoothing)
            };
            rows.zip(logits.chunks_mut(*classes)).map(of_row).sum()
        });
        let penalty = self.family.ridge().add(theta, weight, &mut gradient);
        (sum / n + penalty, gradient)
    }

    /// The recalibrated logits, `[n, m]`.
    pub fn logits(&self, theta: &[f64]) -> Vec<f64> {
        let mut logits = vec![0.0; self.data.logits.len()];
        let mut keep = |rows: &mut [f64]| {
            logits.copy_from_slice(rows);
            rows.fill(0.0);
        };
        let coefficients = self.family.coefficients(theta);
        let mut nothing = vec![0.0; coefficients.len()];
        let rows = 0..self.data.samples();
        (self.family).pull(&coefficients, &self.inputs, rows, &mut keep, &mut nothing);
        logits
    }

    /// Any criterion, regularised, with its gradient: autodiff as far as the logits.
    fn criterion(
        &self,
        criterion: &dyn Fn(&[f64]) -> Evaluated,
        theta: &[f64],
        weight: f64,
    ) -> Evaluated {
        let m = self.data.classes;
        let (value, slopes) = criterion(&self.logits(theta));
        let (_, mut gradient) = self.pull(theta, |rows, logits| {
            logits.copy_from_slice(&slopes[rows.start * m..rows.end * m]);
            0.0
        });
        let penalty = self.family.ridge().add(theta, weight, &mut gradient);
        (value + penalty, gradient)
    }
}

/// The regularised log loss as a function of `θ`.
pub(super) struct Regularised<'a, F: ParametricMaps> {
    pub prepared: &'a Prepared<'a, F>,
    pub weight: f64,
}

impl<F: ParametricMaps> Descent for Regularised<'_, F> {
    fn at(&mut self, theta: &[f64]) -> Evaluated {
        self.prepared.log_loss(theta, self.weight)
    }

    fn metric(&mut self, theta: &[f64]) -> Metric {
        let Prepared { family, inputs, .. } = self.prepared;
        family.metric(theta, inputs, self.weight)
    }
}

/// The family of the data, the parameters of the member that fits best, and how the last fit went. The task keeps the
/// logits of what a cross-validation left out.
///
/// - `family`: makes the family of data, from which it takes what it needs, such as a temperature
pub(super) fn fit_family<F: ParametricMaps>(
    family: impl Fn(&FitData) -> F,
    settings: Settings,
    task: &mut FitTask,
) -> Result<(F, Vec<f64>, FitReport)> {
    let (data, limits) = (&task.data, settings.limits);
    let n = data.samples();
    let known = task.weight.map(Regularisation::Fixed);
    let regularisation = known.unwrap_or(settings.regularisation);
    let splits = match regularisation.validate()? {
        Regularisation::CrossValidated { folds: count } if n >= 2 * count => {
            let given = task.splits.map(<[Split]>::to_vec);
            given.unwrap_or_else(|| splits(&folds(n, count, settings.seed)))
        }
        _ => vec![],
    };
    let validating = splits.len() * WEIGHTS.len();
    let fits = validating + 1 + usize::from(task.criterion.is_some());
    let mut observe = |at: FitProgress| (task.progress)(FitProgress { fits, ..at });
    let weight = match regularisation {
        Regularisation::Fixed(weight) => weight,
        _ if splits.is_empty() => WEIGHTS[0],
        _ => {
            let (weight, logits) = cross_validated(&family, data, &splits, limits, &mut observe);
            task.left_out = Some(logits);
            weight
        }
    };
    let family = family(data);
    let prepared = &Prepared::new(&family, data, true);
    let mut of_fit = observer(&mut observe, validating + 1, fits);
    let regularised = Regularised { prepared, weight };
    let progress = if task.purpose == Purpose::Fold {
        PROGRESS
    } else {
        limits.progress
    };
    let of_last = Limits { progress, ..limits };
    let mut found = minimise(regularised, &family.start(), of_last, &mut of_fit);
    drop(of_fit);
    if let Some(criterion) = task.criterion {
        let rows = |logits: &Tensor<1>| logits.clone().reshape([n, data.classes]);
        let at = logit_criterion(criterion, data, rows);
        let regularised = |theta: &[f64]| prepared.criterion(&at, theta, weight);
        let mut of_fit = observer(&mut observe, fits, fits);
        found = minimise(regularised, &found.0, limits, &mut of_fit);
    }
    let (theta, mut report) = found;
    report.regularisation = Some(weight);
    Ok((family, theta, report))
}
