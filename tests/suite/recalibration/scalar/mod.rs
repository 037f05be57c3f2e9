//! Scalar recalibration maps: Platt, beta, isotonic, histogram, spline; of two classes and class-wise.

mod degenerate;
mod improvement;
mod properties;
mod reference;
mod venn_abers;

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

fn log_loss(logits: Vec<f64>, classes: &[usize]) -> f64 {
    let rows = logits.chunks(logits.len() / classes.len()).zip(classes);
    rows.map(|(row, &y)| -softmax(row)[y].ln()).sum::<f64>() / classes.len() as f64
}

/// Every map, fitted.
pub fn every(logits: &Tensor<2>, labels: &Tensor<1, Int>) -> Vec<Box<dyn Recalibration>> {
    fn fit<F: Fit<Map: Recalibration + 'static>>(
        config: F,
        logits: &Tensor<2>,
        labels: &Tensor<1, Int>,
    ) -> Box<dyn Recalibration> {
        Box::new(config.fit(logits.clone(), labels.clone()).unwrap())
    }
    vec![
        fit(PlattScalingConfig::new(), logits, labels),
        fit(BetaCalibrationConfig::new(), logits, labels),
        fit(IsotonicRegressionConfig::new(), logits, labels),
        fit(SplineCalibrationConfig::new(), logits, labels),
        fit(QuadraticScalingConfig::new(), logits, labels),
        fit(HistogramBinningConfig::new(), logits, labels),
        fit(VennAbersConfig::new(), logits, labels),
    ]
}

/// Of how many of [`every`] the output is continuous.
const CONTINUOUS: usize = 5;

fn every_of(rows: &[Vec<f64>], classes: &[usize]) -> Vec<Box<dyn Recalibration>> {
    every(&tensor(rows), &labels(classes))
}

fn single(rows: &[Vec<f64>]) -> Tensor<2> {
    tensor_on(rows, &device(), DType::F32)
}
