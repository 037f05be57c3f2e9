//! Logistic regression of an event on few features of its log-odds.

use nalgebra::SVector;

use super::{
    curve::Feature,
    event::{EventOutcomes, EventTargets},
};
use crate::{
    estimator::Block,
    logistic::{Maximum, Sample, maximise},
    recalibration::{FitReport, FitStatus, data::Moments},
};

/// Features whose spread is below this times their size are constant, up to rounding.
const CONSTANT: f64 = 1e-12;
/// The largest derivative at which a fit has converged.
const TOLERANCE: f64 = 1e-10;
/// Steps of Newton's method, at most.
const STEPS: usize = 200;

/// The log loss of `σ(Σ_j α_j x_j + β)` against smoothed targets, with features `x_j` of mean 0 and variance 1.
#[derive(Debug)]
pub(super) struct Logistic<const P: usize> {
    /// The groups of equal log-odds: their features, then 1; their fraction of all samples, and the mean of their
    /// targets.
    samples: Vec<Sample<P>>,
    /// The mean of each feature, and its standard deviation: 1 of a constant.
    scales: Vec<Moments>,
    start: SVector<f64, P>,
}

impl<const P: usize> Logistic<P> {
    /// - features: `P − 1` of them
    /// - smoothed: whether targets are those of Platt, and not 1 and 0
    pub fn new(event: &EventOutcomes, features: &[Feature], smoothed: bool) -> Self {
        let targets = if smoothed {
            event.targets()
        } else {
            EventTargets {
                hit: 1.0,
                miss: 0.0,
            }
        };
        let sample = |group: &Block| {
            let (samples, hits) = (group.weight, group.hits);
            let feature = |j: usize| features.get(j).map_or(1.0, |x| x.at(group.first));
            Sample {
                features: SVector::from_fn(|j, _| feature(j)),
                weight: samples / event.samples,
                target: (hits * targets.hit + (samples - hits) * targets.miss) / samples,
            }
        };
        let mut samples: Vec<Sample<P>> = event.groups.iter().map(sample).collect();
        // targets that are all alike leave no slope: 0 exactly, not up to rounding
        let alike = (samples.windows(2)).all(|pair| pair[0].target == pair[1].target);
        let (mut scales, mut start) = (Vec::new(), SVector::zeros());
        for j in 0..features.len() {
            let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
                let terms = samples.iter().map(|s| s.weight * of(s.features[j]));
                terms.sum()
            };
            let centre = mean(&|x| x);
            let spread = mean(&|x| (x - centre).powi(2)).sqrt();
            let sizes = samples.iter().map(|sample| sample.features[j].abs());
            let varies = spread > CONSTANT * sizes.fold(0.0, f64::max);
            let spread = if varies { spread } else { 1.0 };
            for sample in &mut samples {
                let x = &mut sample.features[j];
                *x = if varies { (*x - centre) / spread } else { 0.0 };
            }
            scales.push(Moments {
                mean: centre,
                deviation: spread,
            });
            start[j] = if alike && varies {
                0.0
            } else {
                spread.min(1.0)
            };
        }
        let misses = event.samples - event.hits;
        start[P - 1] = ((event.hits + 1.0) / (misses + 1.0)).ln();
        Self {
            samples,
            scales,
            start,
        }
    }

    /// The slopes of the features as they were and the intercept, at the minimum in those that are free; the others
    /// are 0. The loss is convex; where the data do not determine a weight it stays near its start, 1 for the
    /// feature as it was (less, if that would be more than 1 standardised); 0 where the targets are all alike.
    pub fn minimum(&self, free: [bool; P]) -> ([f64; P], FitReport) {
        let start = SVector::from_fn(|j, _| if free[j] { self.start[j] } else { 0.0 });
        let Maximum {
            parameters,
            likelihood,
            evaluations,
        } = maximise(&self.samples, start, free, STEPS);
        let slopes = (0..P).filter(|&j| free[j]);
        let slopes = slopes.map(|j| likelihood.gradient[j].abs());
        let gradient = slopes.fold(0.0, f64::max);
        let status = if gradient <= TOLERANCE {
            FitStatus::Converged
        } else {
            FitStatus::Stalled
        };
        let mut parameters: [f64; P] = parameters.into();
        for (j, Moments { mean, deviation }) in self.scales.iter().enumerate() {
            parameters[j] /= deviation;
            parameters[P - 1] -= parameters[j] * mean;
        }
        let report = FitReport::new(status, -likelihood.value, Some(gradient), evaluations);
        (parameters, report)
    }
}
