//! Logistic regression of an event on few features of its log-odds.

use nalgebra::{DMatrix, DVector};

use super::event::{EventOutcomes, TiedRows};
use crate::recalibration::{
    FitReport,
    descent::{Descent, Evaluated, Limits, Metric, minimise},
};

/// Features whose spread is below this times their size are constant, up to rounding.
const CONSTANT: f64 = 1e-12;

/// A feature in each group, to mean 0 and variance 1.
#[derive(Debug)]
pub(super) struct StandardisedFeature {
    values: Vec<f64>,
    pub mean: f64,
    /// The standard deviation; 1 of a constant.
    pub spread: f64,
}

/// The log loss of `σ(Σ_j α_j x_j + β)` against smoothed targets, with standardised features `x_j`.
#[derive(Debug)]
pub(super) struct Logistic {
    /// The fraction of the samples in each group, and the mean of their targets.
    groups: Vec<(f64, f64)>,
    pub columns: Vec<StandardisedFeature>,
    /// The log-odds of the event, whatever the features.
    base: f64,
}

/// A minimum.
#[derive(Debug)]
pub(super) struct Minimum {
    /// `α`, 0 of features that were left out, and `β`.
    pub weights: Vec<f64>,
    pub report: FitReport,
}

/// The log loss as a function of the weights of some features and of the intercept.
struct LogisticLoss<'a> {
    problem: &'a Logistic,
    features: &'a [usize],
}

impl StandardisedFeature {
    fn new(mut values: Vec<f64>, groups: &[(f64, f64)]) -> Self {
        let mean_of = |values: &[f64]| {
            let terms = groups.iter().zip(values);
            terms.map(|((fraction, _), x)| fraction * x).sum::<f64>()
        };
        let mean = mean_of(&values);
        let largest = values.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        values.iter_mut().for_each(|x| *x -= mean);
        let squares: Vec<f64> = values.iter().map(|x| x * x).collect();
        let spread = match mean_of(&squares).sqrt() {
            spread if spread > CONSTANT * largest => spread,
            _ => {
                values.fill(0.0);
                1.0
            }
        };
        values.iter_mut().for_each(|x| *x /= spread);
        Self {
            values,
            mean,
            spread,
        }
    }
}

impl Logistic {
    /// Creates the map with features of the log-odds, each a function.
    pub fn new(event: &EventOutcomes, features: impl Fn(f64) -> Vec<f64>) -> Self {
        let (hit, miss) = event.targets();
        let n = event.samples as f64;
        let of_group = |group: &TiedRows| {
            let (samples, hits) = (group.samples as f64, group.hits as f64);
            (
                samples / n,
                (hits * hit + (samples - hits) * miss) / samples,
            )
        };
        let groups: Vec<_> = event.groups.iter().map(of_group).collect();
        let rows: Vec<_> = event.groups.iter().map(|g| features(g.score)).collect();
        let count = rows.first().map_or(0, Vec::len);
        let column =
            |j: usize| StandardisedFeature::new(rows.iter().map(|row| row[j]).collect(), &groups);
        let misses = event.samples - event.hits;
        Self {
            columns: (0..count).map(column).collect(),
            base: ((event.hits as f64 + 1.0) / (misses as f64 + 1.0)).ln(),
            groups,
        }
    }

    /// The minimum over the weights of the given features and the intercept. The loss is convex; where the data
    /// do not determine a weight it stays near its start, 1 for the feature as it was (less, if that would be
    /// more than 1 standardised); 0 where the targets are all alike.
    pub fn minimum(&self, features: &[usize], limits: Limits) -> Minimum {
        let start = features.iter().map(|&j| self.start(&self.columns[j]));
        let start: Vec<f64> = start.chain([self.base]).collect();
        let problem = self;
        let selection = LogisticLoss { problem, features };
        let (theta, report) = minimise(selection, &start, limits, &mut |_, _| {});
        let mut weights = vec![0.0; self.columns.len()];
        (features.iter().zip(&theta)).for_each(|(&j, alpha)| weights[j] = *alpha);
        weights.push(theta[features.len()]);
        Minimum { weights, report }
    }

    /// Targets that are all alike leave no slope: 0 exactly, not up to rounding.
    fn start(&self, column: &StandardisedFeature) -> f64 {
        let alike = self.groups.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let constant = column.values.iter().all(|x| *x == 0.0);
        if alike && !constant {
            0.0
        } else {
            column.spread.min(1.0)
        }
    }

    /// The weights of the features as they were, and their intercept.
    pub fn original(&self, weights: &[f64]) -> Vec<f64> {
        let mut intercept = weights[self.columns.len()];
        let mut original = Vec::with_capacity(weights.len());
        for (column, alpha) in self.columns.iter().zip(weights) {
            original.push(alpha / column.spread);
            intercept -= alpha / column.spread * column.mean;
        }
        original.push(intercept);
        original
    }
}

impl LogisticLoss<'_> {
    /// Calls for each group with its fraction and target, its features with a 1 for the intercept, and its
    /// log-odds.
    fn for_each(&self, theta: &[f64], mut call: impl FnMut(f64, f64, &DVector<f64>, f64)) {
        let theta = DVector::from_column_slice(theta);
        let mut x = DVector::from_element(theta.len(), 1.0);
        for (group, &(fraction, target)) in self.problem.groups.iter().enumerate() {
            let columns = self.features.iter().map(|&j| &self.problem.columns[j]);
            (x.iter_mut().zip(columns)).for_each(|(x, column)| *x = column.values[group]);
            call(fraction, target, &x, theta.dot(&x));
        }
    }
}

impl Descent for LogisticLoss<'_> {
    fn at(&mut self, theta: &[f64]) -> Evaluated {
        let (mut value, mut gradient) = (0.0, DVector::zeros(theta.len()));
        self.for_each(theta, |fraction, target, x, u| {
            let small = (-u.abs()).exp();
            let likely = (1.0 + small).recip();
            let p = if u < 0.0 { small * likely } else { likely };
            value += fraction * (u.max(0.0) + small.ln_1p() - target * u);
            gradient.axpy(fraction * (p - target), x, 1.0);
        });
        (value, gradient.data.into())
    }

    fn metric(&mut self, theta: &[f64]) -> Metric {
        let d = theta.len();
        let mut curvature = DMatrix::zeros(d, d);
        self.for_each(theta, |fraction, _, x, u| {
            let small = (-u.abs()).exp();
            let variance = small / ((1.0 + small) * (1.0 + small));
            curvature.ger(fraction * variance, x, x, 1.0);
        });
        Metric::hessian(curvature)
    }
}
