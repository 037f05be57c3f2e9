//! Logistic regression of an event on few features of its log-odds.

use nalgebra::{DMatrix, DVector, DVectorView};

use super::{curve::Feature, event::EventOutcomes};
use crate::recalibration::{
    FitReport,
    descent::{Descent, Evaluated, Limits, Metric, minimise},
};

/// Features whose spread is below this times their size are constant, up to rounding.
const CONSTANT: f64 = 1e-12;

/// The log loss of `σ(Σ_j α_j x_j + β)` against smoothed targets, with features `x_j` of mean 0 and variance 1.
#[derive(Debug)]
pub(super) struct Logistic {
    /// The fraction of the samples in each group of equal log-odds, and the mean of their targets.
    groups: Vec<(f64, f64)>,
    /// The features of each group, then 1.
    x: DMatrix<f64>,
    /// The mean of each feature, and its standard deviation: 1 of a constant.
    pub scales: Vec<(f64, f64)>,
    start: Vec<f64>,
}

impl Logistic {
    pub fn new(event: &EventOutcomes, features: &[Feature]) -> Self {
        let (hit, miss) = event.targets();
        let (mut groups, mut scores) = (Vec::new(), Vec::new());
        for group in &event.groups {
            let (samples, hits) = (group.samples as f64, group.hits as f64);
            let target = (hits * hit + (samples - hits) * miss) / samples;
            groups.push((samples / event.samples as f64, target));
            scores.push(group.score);
        }
        let mean = |values: &[f64]| -> f64 {
            let terms = groups.iter().zip(values);
            terms.map(|((fraction, _), x)| fraction * x).sum()
        };
        // targets that are all alike leave no slope: 0 exactly, not up to rounding
        let alike = groups.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let (mut scales, mut start) = (Vec::new(), Vec::new());
        let mut x = DMatrix::from_element(groups.len(), features.len() + 1, 1.0);
        for (j, feature) in features.iter().enumerate() {
            let mut values: Vec<f64> = scores.iter().map(|&s| feature.at(s)).collect();
            let largest = values.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
            let centre = mean(&values);
            values.iter_mut().for_each(|x| *x -= centre);
            let squares: Vec<f64> = values.iter().map(|x| x * x).collect();
            let mut spread = mean(&squares).sqrt();
            let varies = spread > CONSTANT * largest;
            if !varies {
                values.fill(0.0);
                spread = 1.0;
            }
            (x.column_mut(j).iter_mut().zip(&values)).for_each(|(x, value)| *x = value / spread);
            scales.push((centre, spread));
            start.push(if alike && varies {
                0.0
            } else {
                spread.min(1.0)
            });
        }
        let misses = event.samples - event.hits;
        start.push(((event.hits as f64 + 1.0) / (misses as f64 + 1.0)).ln());
        Self {
            groups,
            x,
            scales,
            start,
        }
    }

    /// The slopes of the features as they were and the intercept, at the minimum. The loss is convex; where the
    /// data do not determine a weight it stays near its start, 1 for the feature as it was (less, if that would
    /// be more than 1 standardised); 0 where the targets are all alike.
    pub fn minimum(&self, limits: Limits) -> (Vec<f64>, FitReport) {
        let (mut theta, report) = minimise(self, &self.start, limits, &mut |_, _| {});
        let last = self.scales.len();
        for (j, (mean, spread)) in self.scales.iter().enumerate() {
            theta[j] /= spread;
            theta[last] -= theta[j] * mean;
        }
        (theta, report)
    }

    /// The log-odds of each group.
    fn log_odds(&self, theta: &[f64]) -> DVector<f64> {
        &self.x * DVectorView::from_slice(theta, theta.len())
    }
}

impl Descent for &Logistic {
    fn at(&mut self, theta: &[f64]) -> Evaluated {
        let mut value = 0.0;
        let mut slopes = self.log_odds(theta);
        for (u, &(fraction, target)) in slopes.iter_mut().zip(&self.groups) {
            let small = (-u.abs()).exp();
            let likely = (1.0 + small).recip();
            let p = if *u < 0.0 { small * likely } else { likely };
            value += fraction * (u.max(0.0) + small.ln_1p() - target * *u);
            *u = fraction * (p - target);
        }
        (value, self.x.tr_mul(&slopes).data.into())
    }

    fn metric(&mut self, theta: &[f64]) -> Metric {
        let mut weighted = self.x.clone();
        let log_odds = self.log_odds(theta);
        let groups = log_odds.iter().zip(&self.groups);
        for (mut row, (u, (fraction, _))) in weighted.row_iter_mut().zip(groups) {
            let small = (-u.abs()).exp();
            row *= fraction * small / ((1.0 + small) * (1.0 + small));
        }
        Metric::blocks([self.x.tr_mul(&weighted)])
    }
}
