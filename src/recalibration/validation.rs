//! The weight of a regularisation, by cross-validation.

use super::{
    data::FitData,
    descent::{Limits, minimise},
    family::{ParametricMaps, Prepared, Regularised, log_losses},
    fit::{Progress, observer},
    regularisation::{Split, WEIGHTS, in_order, left_out},
};
use crate::{
    estimator::{MeanEstimate, differences},
    parallel,
};

/// What the fits of a cross-validation lower the log loss by, at least, in ten iterations: what is left is far
/// less than the log loss differs from fold to fold.
pub(super) const PROGRESS: f64 = 1e-5;

/// The fits to all but what is left out, which go on from weight to weight.
struct Fold<'a, F: ParametricMaps> {
    rest: Prepared<'a, F>,
    left_out: Prepared<'a, F>,
    theta: Vec<f64>,
}

/// The weight whose log loss on the samples left out is least, the larger one of equals, and the
/// logits of these samples. Weights fall until one is worse than the best by more than one standard error of the paired
/// difference: each is a longer fit than the one before. Each fit of a weight has a thread of its own.
pub(super) fn cross_validated<F: ParametricMaps>(
    family: impl Fn(&FitData) -> F,
    data: &FitData,
    splits: &[Split],
    limits: Limits,
    observe: Progress<'_>,
) -> (f64, Vec<f64>) {
    let limits = Limits {
        progress: PROGRESS,
        ..limits
    };
    let of_split = |split: &Split| {
        let rest = data.select(&split.rest);
        (family(&rest), rest, data.select(&split.left_out))
    };
    let parts: Vec<_> = splits.iter().map(of_split).collect();
    let parallel = rayon::current_num_threads() > splits.len();
    let prepared = |(family, rest, left_out)| Fold {
        rest: Prepared::new(family, rest, parallel),
        left_out: Prepared::new(family, left_out, parallel),
        theta: F::start(family),
    };
    let mut fits: Vec<Fold<F>> = parts.iter().map(|(f, r, l)| prepared((f, r, l))).collect();
    let FitData {
        labels, weights, ..
    } = data.select(&left_out(splits));
    let mut best: Option<(f64, Vec<f64>, Vec<f64>)> = None;
    for (round, next) in WEIGHTS.into_iter().enumerate() {
        let fitted = parallel::map_mut(&mut fits, &|fit| fit.logits(next, limits));
        let (logits, objectives): (Vec<_>, Vec<_>) = fitted.into_iter().unzip();
        for (fit, objectives) in (round * splits.len() + 1..).zip(objectives) {
            let mut observe = observer(observe, fit, 0); // how many there are the receiver knows
            (1..)
                .zip(objectives)
                .for_each(|(k, value)| observe(k, value));
        }
        let logits = in_order(splits, logits);
        let of_next = log_losses(logits.clone(), &labels);
        if let Some((_, least, _)) = &best {
            let change = MeanEstimate::weighted(&differences(least, &of_next, 0.0), &weights);
            if change.estimate > change.standard_error {
                break;
            }
            if change.estimate.is_nan() || change.estimate >= 0.0 {
                continue;
            }
        }
        best = Some((next, of_next, logits));
    }
    let (weight, _, logits) = best.expect("a weight was tried");
    (weight, logits)
}

impl<F: ParametricMaps> Fold<'_, F> {
    /// The logits of what is left out of the fit with a weight, and the objective at each evaluation.
    fn logits(&mut self, weight: f64, limits: Limits) -> (Vec<f64>, Vec<f64>) {
        let (prepared, mut objectives) = (&self.rest, Vec::new());
        let regularised = Regularised { prepared, weight };
        let mut observe = |_, objective| objectives.push(objective);
        (self.theta, _) = minimise(regularised, &self.theta, limits, &mut observe);
        (self.left_out.logits(&self.theta), objectives)
    }
}
