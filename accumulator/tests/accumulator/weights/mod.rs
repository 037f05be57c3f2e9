//! Samples with weights.

mod numbers;
mod pieces;
mod refused;

use burn_calibration::estimator::*;

use super::*;

fn weighted_rows(p: &[Vec<f64>], y: &[usize], weights: &[f64]) -> Rows {
    let m = p.first().map_or(3, Vec::len);
    let labels: Vec<i64> = y.iter().map(|&y| y as i64).collect();
    let rows = Rows::from_probabilities(p.concat(), m, &labels).unwrap();
    rows.weighted(weights).unwrap()
}

fn with<A: Accumulator>(empty: &A, p: &[Vec<f64>], y: &[usize], weights: &[f64]) -> A {
    let mut accumulator = empty.clone();
    let rows = weighted_rows(p, y, weights);
    accumulator.update_rows(&rows).unwrap();
    accumulator
}

/// Every number of an evaluation.
fn numbers(all: &Evaluation) -> Vec<f64> {
    let scores = [all.brier().mean(), all.log().mean(), all.spherical().mean()];
    let skce = all.skce().map(BlockSkceAccumulator::mean);
    let means = scores.into_iter().chain(skce).filter_map(Result::ok);
    let means = means.flat_map(|mean| [mean.estimate, mean.standard_error, mean.effective]);
    let top = all.top_label();
    let binned = [
        top.frequency(),
        top.ece(),
        top.mce(),
        top.power(TceForm::Debiased),
        all.class_wise().cwce(),
    ];
    means.chain(binned.map(Result::unwrap)).collect()
}

fn example() -> (Vec<Vec<f64>>, [usize; 6], [f64; 6]) {
    let p = [
        [0.7, 0.2, 0.1],
        [0.1, 0.6, 0.3],
        [0.25, 0.25, 0.5],
        [0.05, 0.05, 0.9],
        [0.4, 0.35, 0.25],
        [0.3, 0.3, 0.4],
    ];
    (
        p.map(Vec::from).into(),
        [0, 2, 2, 2, 1, 0],
        [2.0, 1.0, 0.5, 4.0, 1.5, 3.0],
    )
}
