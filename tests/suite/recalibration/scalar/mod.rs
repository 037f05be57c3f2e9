//! Scalar recalibration maps: Platt, beta, isotonic, histogram, spline; of two classes and class-wise.

mod degenerate;
mod improvement;
mod properties;
mod reference;
mod venn_abers;

use super::logits::{Fitter, fitter};
use crate::prelude::*;

/// Rows of logits whose classes were drawn from cooler ones.
fn overconfident(n: usize, m: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<usize>) {
    overconfident_rows(n, m, 4.0, seed)
}

/// Logits of two classes with these log-odds of class 1.
fn two_classes(scores: &[f64]) -> Vec<Vec<f64>> {
    scores.iter().map(|&s| vec![0.0, s]).collect()
}

/// The recalibrated probability of class 1 at log-odds of two classes.
fn probabilities(map: &dyn Recalibration, scores: &[f64]) -> Vec<f64> {
    let logits = vector(map.forward(tensor(&two_classes(scores))));
    logits.chunks(2).map(|row| softmax(row)[1]).collect()
}

/// Every map, fitted.
pub fn every(logits: &Tensor<2>, labels: &Tensor<1, Int>) -> Vec<Box<dyn Recalibration>> {
    let fitters = [
        fitter(PlattScalingConfig::new()),
        fitter(BetaCalibrationConfig::new()),
        fitter(IsotonicRegressionConfig::new()),
        fitter(SplineCalibrationConfig::new()),
        fitter(QuadraticScalingConfig::new()),
        fitter(HistogramBinningConfig::new()),
        fitter(VennAbersConfig::new()),
    ];
    let fitted = |fit: Fitter| fit(None, logits.clone(), labels.clone()).unwrap();
    fitters.map(fitted).into()
}

/// Of how many of [`every`] the output is continuous.
const CONTINUOUS: usize = 5;

fn every_of(rows: &[Vec<f64>], classes: &[usize]) -> Vec<Box<dyn Recalibration>> {
    every(&tensor(rows), &labels(classes))
}
