//! Logistic regression of an event on few features of its log-odds.

use nalgebra::{DMatrix, DVector};

use super::event::{Outcomes, log_sigmoid, sigmoid};
use crate::recalibration::{FitStatus, descent::Limits};

/// Features whose spread is below this times their size are constant, up to rounding.
const CONSTANT: f64 = 1e-12;

/// A feature in each group, to mean 0 and variance 1.
#[derive(Debug)]
pub(super) struct Column {
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
    pub columns: Vec<Column>,
    /// The log-odds of the event, whatever the features.
    base: f64,
}

/// A minimum.
#[derive(Debug)]
pub(super) struct Minimum {
    /// `α`, 0 of features that were left out, and `β`.
    pub weights: Vec<f64>,
    pub value: f64,
    /// The largest derivative in absolute value.
    pub gradient: f64,
    pub evaluations: usize,
    pub status: FitStatus,
}

/// The log loss with its derivatives.
struct At {
    value: f64,
    gradient: DVector<f64>,
    curvature: DMatrix<f64>,
}

impl Column {
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
    pub fn new(event: &Outcomes, features: impl Fn(f64) -> Vec<f64>) -> Self {
        let (hit, miss) = event.targets();
        let n = event.samples as f64;
        let of_group = |group: &super::event::Group| {
            let (samples, hits) = (group.samples as f64, group.hits as f64);
            (
                samples / n,
                (hits * hit + (samples - hits) * miss) / samples,
            )
        };
        let groups: Vec<_> = event.groups.iter().map(of_group).collect();
        let rows: Vec<_> = event.groups.iter().map(|g| features(g.score)).collect();
        let count = rows.first().map_or(0, Vec::len);
        let column = |j: usize| Column::new(rows.iter().map(|row| row[j]).collect(), &groups);
        let misses = event.samples - event.hits;
        Self {
            columns: (0..count).map(column).collect(),
            base: ((event.hits as f64 + 1.0) / (misses as f64 + 1.0)).ln(),
            groups,
        }
    }

    /// The minimum over the weights of the given features and the intercept, by Newton steps that are
    /// damped where the loss would rise (Levenberg–Marquardt). The loss is convex; where the data do
    /// not determine a weight it stays near its start, 1 for the feature as it was (less, if that
    /// would be more than 1 standardised); 0 where the targets are all alike.
    pub fn minimum(&self, features: &[usize], limits: Limits) -> Minimum {
        let d = features.len() + 1;
        let start = features.iter().map(|&j| self.start(&self.columns[j]));
        let mut theta = DVector::from_iterator(d, start.chain([self.base]));
        let mut here = self.at(features, &theta);
        let (mut damping, mut evaluations) = (1e-3, 1);
        let status = loop {
            if here.gradient.amax() <= limits.tolerance {
                break FitStatus::Converged;
            }
            if evaluations >= limits.iterations {
                break FitStatus::IterationLimit;
            }
            if damping > 1e9 {
                break FitStatus::Stalled;
            }
            let damped = &here.curvature + DMatrix::identity(d, d) * damping;
            let Some(factors) = damped.cholesky() else {
                damping *= 10.0;
                continue;
            };
            let next = &theta - factors.solve(&here.gradient);
            let there = self.at(features, &next);
            evaluations += 1;
            // near the minimum values differ by rounding alone
            let level = there.value <= here.value * (1.0 + 1e-14);
            let flatter = there.gradient.amax() < here.gradient.amax();
            if there.value < here.value || level && flatter {
                (theta, here) = (next, there);
                damping = f64::max(0.1 * damping, 1e-12);
            } else {
                damping *= 10.0;
            }
        };
        let mut weights = vec![0.0; self.columns.len()];
        (features.iter().zip(&theta)).for_each(|(&j, alpha)| weights[j] = *alpha);
        weights.push(theta[d - 1]);
        Minimum {
            weights,
            value: here.value,
            gradient: here.gradient.amax(),
            evaluations,
            status,
        }
    }

    /// Targets that are all alike leave no slope: 0 exactly, not up to rounding.
    fn start(&self, column: &Column) -> f64 {
        let alike = self.groups.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let constant = column.values.iter().all(|x| *x == 0.0);
        match alike && !constant {
            true => 0.0,
            false => column.spread.min(1.0),
        }
    }

    fn at(&self, features: &[usize], theta: &DVector<f64>) -> At {
        let d = theta.len();
        let mut at = At {
            value: 0.0,
            gradient: DVector::zeros(d),
            curvature: DMatrix::zeros(d, d),
        };
        let mut x = DVector::from_element(d, 1.0);
        for (group, &(fraction, target)) in self.groups.iter().enumerate() {
            (features.iter().enumerate())
                .for_each(|(row, &j)| x[row] = self.columns[j].values[group]);
            let u = theta.dot(&x);
            let p = sigmoid(u);
            at.value -= fraction * (log_sigmoid(-u) + target * u);
            at.gradient.axpy(fraction * (p - target), &x, 1.0);
            at.curvature.ger(fraction * p * sigmoid(-u), &x, &x, 1.0);
        }
        at
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
