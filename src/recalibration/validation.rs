//! The weight of a regularisation, by cross-validation.

use std::{sync::mpsc, thread};

use super::{
    FitProgress,
    data::FitData,
    descent::{Limits, minimise},
    family::{Family, Prepared, Regularised},
    fit::{Progress, observer},
    regularisation::WEIGHTS,
};

/// What the fits of a cross-validation lower the log loss by, at least, in ten iterations.
const PROGRESS: f64 = 1e-5;

/// The weight whose log loss on the samples left out is least, the larger one of equals. Each fold
/// has a thread of its own.
pub(super) fn cross_validated<F: Family>(
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

/// The sum of the log losses on one fold of the fits to the others, for each weight. They end where
/// descent is slow: what is left is far less than the log loss differs from fold to fold.
fn held_out<F: Family>(
    family: &F,
    data: &FitData,
    folds: &[Vec<usize>],
    fold: usize,
    limits: Limits,
    progress: &mpsc::Sender<FitProgress>,
) -> [f64; WEIGHTS.len()] {
    let others = (0..folds.len()).filter(|other| *other != fold);
    let rest: Vec<usize> = others.flat_map(|other| folds[other].clone()).collect();
    let (rest, left_out) = (data.select(&rest), data.select(&folds[fold]));
    let parallel = rayon::current_num_threads() > folds.len();
    let prepared = &Prepared::new(family, &rest, parallel);
    let left_out = Prepared::new(family, &left_out, parallel);
    let (mut theta, mut fit) = (family.start(), fold * WEIGHTS.len());
    let limits = Limits {
        progress: PROGRESS,
        ..limits
    };
    WEIGHTS.map(|weight| {
        fit += 1;
        let mut send = |at| progress.send(at).expect("somebody listens until all end");
        let mut observe = observer(&mut send, fit, 0); // how many there are the receiver knows
        let regularised = Regularised { prepared, weight };
        (theta, _) = minimise(regularised, &theta, limits, &mut observe);
        let (mean, _) = left_out.log_loss(&theta, 0.0);
        mean * left_out.data.samples() as f64
    })
}
