//! The weight of a regularisation, by cross-validation.

use std::{sync::mpsc, thread};

use super::{
    FitProgress,
    data::FitData,
    descent::{Limits, minimise},
    family::{Family, Prepared, Regularised, log_losses},
    fit::{Progress, observer},
    regularisation::{Split, WEIGHTS, in_order},
};
use crate::estimator::MeanEstimate;

/// What the fits of a cross-validation lower the log loss by, at least, in ten iterations: what is left is far
/// less than the log loss differs from fold to fold.
pub(super) const PROGRESS: f64 = 1e-5;

/// The fits to all but what is left out, which go on from weight to weight.
struct Fold<'a, F: Family> {
    rest: Prepared<'a, F>,
    left_out: Prepared<'a, F>,
    theta: Vec<f64>,
}

/// The weight whose log loss on the samples left out is least, the larger one of equals, and the
/// logits of these samples. Weights fall until one is worse than the best by more than one standard error of the paired
/// difference: each is a longer fit than the one before.
pub(super) fn cross_validated<F: Family>(
    family: &F,
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
        (family.of(&rest), rest, data.select(&split.left_out))
    };
    let parts: Vec<_> = splits.iter().map(of_split).collect();
    let parallel = rayon::current_num_threads() > splits.len();
    let prepared = |(family, rest, left_out)| Fold {
        rest: Prepared::new(family, rest, parallel),
        left_out: Prepared::new(family, left_out, parallel),
        theta: F::start(family),
    };
    let mut fits: Vec<Fold<F>> = parts.iter().map(|(f, r, l)| prepared((f, r, l))).collect();
    let mut left_out: Vec<usize> = splits
        .iter()
        .flat_map(|split| split.left_out.clone())
        .collect();
    left_out.sort_unstable();
    let labels: Vec<usize> = left_out.iter().map(|&row| data.labels[row]).collect();
    let mut best: Option<(f64, Vec<f64>, Vec<f64>)> = None;
    for (round, next) in WEIGHTS.into_iter().enumerate() {
        let first = round * splits.len() + 1;
        let logits = in_order(splits, all_fits(&mut fits, next, limits, first, observe));
        let of_next = log_losses(logits.clone(), &labels);
        if let Some((_, least, _)) = &best {
            let [_, _, change] = MeanEstimate::paired(least, &of_next);
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

/// The logits of the folds left out of the fits with a weight. Each fit has a thread of its own.
fn all_fits<F: Family>(
    fits: &mut [Fold<F>],
    weight: f64,
    limits: Limits,
    first: usize,
    observe: Progress<'_>,
) -> Vec<Vec<f64>> {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let threads: Vec<_> = (first..)
            .zip(fits)
            .map(|(number, fit)| {
                let sender = sender.clone();
                scope.spawn(move || fit.logits(weight, limits, number, &sender))
            })
            .collect();
        drop(sender); // the last of them ends the loop
        receiver.iter().for_each(observe);
        let logits = threads.into_iter().map(|thread| thread.join());
        logits
            .map(|logits| logits.expect("a fit does not panic"))
            .collect()
    })
}

impl<F: Family> Fold<'_, F> {
    fn logits(
        &mut self,
        weight: f64,
        limits: Limits,
        number: usize,
        progress: &mpsc::Sender<FitProgress>,
    ) -> Vec<f64> {
        let mut send = |at| progress.send(at).expect("somebody listens until all end");
        let mut observe = observer(&mut send, number, 0); // how many there are the receiver knows
        let prepared = &self.rest;
        let regularised = Regularised { prepared, weight };
        (self.theta, _) = minimise(regularised, &self.theta, limits, &mut observe);
        self.left_out.logits(&self.theta)
    }
}
