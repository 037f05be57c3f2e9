//! Logistic regression of an event on few features of its log-odds.

use nalgebra::Vector3;

use super::event::{EventOutcomes, TiedRows};
use crate::{
    logistic::{Sample, maximise},
    recalibration::{FitReport, FitStatus, descent::Limits},
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
        // the weights of at most two features, and the intercept
        let taken = [0, 1].map(|place| features.get(place).map(|&j| &self.columns[j]));
        let sample = |(group, &(weight, target)): (usize, &(f64, f64))| {
            let [first, second] = taken.map(|column| column.map_or(0.0, |of| of.values[group]));
            Sample {
                features: Vector3::new(first, second, 1.0),
                weight,
                target,
            }
        };
        let samples: Vec<_> = self.groups.iter().enumerate().map(sample).collect();
        let [first, second] = taken.map(|column| column.map_or(0.0, |of| self.start(of)));
        let start = Vector3::new(first, second, self.base);
        let free = [taken[0].is_some(), taken[1].is_some(), true];
        let maximum = maximise(&samples, start, free, limits.iterations);
        let mut weights = vec![0.0; self.columns.len()];
        (features.iter().zip(&maximum.parameters)).for_each(|(&j, alpha)| weights[j] = *alpha);
        weights.push(maximum.parameters[2]);
        let slopes = maximum.likelihood.gradient.iter().zip(free);
        let slopes = slopes
            .filter(|(_, free)| *free)
            .map(|(slope, _)| slope.abs());
        let largest = slopes.fold(0.0, f64::max);
        let status = if largest <= limits.tolerance {
            FitStatus::Converged
        } else if maximum.out_of_steps {
            FitStatus::IterationLimit
        } else {
            FitStatus::Stalled
        };
        let value = -maximum.likelihood.value;
        Minimum {
            weights,
            report: FitReport::new(status, value, Some(largest), maximum.evaluations),
        }
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
