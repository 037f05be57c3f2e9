//! The weight of a regularisation, by cross-validation.

use std::{sync::mpsc, thread};

use super::{
    FitProgress,
    data::FitData,
    descent::{Limits, minimise},
    family::{Family, Prepared, Regularised},
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

/// The weight whose log loss on the samples left out is least, the larger one of equals, and these log
/// losses. Weights fall until one is worse than the best by more than one standard error of the paired
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
    let (mut weight, mut losses): (_, Option<Vec<f64>>) = (WEIGHTS[0], None);
    for (round, next) in WEIGHTS.into_iter().enumerate() {
        let first = round * splits.len() + 1;
        let of_next = in_order(splits, all_fits(&mut fits, next, limits, first, observe));
        if let Some(least) = &losses {
            let [_, _, change] = MeanEstimate::paired(least, &of_next);
            if change.estimate > change.standard_error {
                break;
            }
            if change.estimate.is_nan() || change.estimate >= 0.0 {
                continue;
            }
        }
        (weight, losses) = (next, Some(of_next));
    }
    (weight, losses.expect("a weight was tried"))
}

/// The log losses on the folds left out of the fits with a weight. Each fit has a thread of its own.
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
                scope.spawn(move || fit.losses(weight, limits, number, &sender))
            })
            .collect();
        drop(sender); // the last of them ends the loop
        receiver.iter().for_each(observe);
        let losses = threads.into_iter().map(|thread| thread.join());
        losses
            .map(|losses| losses.expect("a fit does not panic"))
            .collect()
    })
}

impl<F: Family> Fold<'_, F> {
    fn losses(
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
        self.left_out.log_losses(&self.theta)
    }
}
