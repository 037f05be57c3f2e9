//! Log losses of logits `βz` as functions of `β = 1/T`, on the host, and their least value.

use std::ops::RangeInclusive;

use super::{TemperatureScalingConfig, log_temperature_prior};
use crate::{
    distribution::Weights,
    ops::exp,
    parallel,
    recalibration::data::FitData,
    root::{Evaluation, increasing_root},
};

/// Logits of a block, whose exponentials are taken together: they stay in the first-level cache.
const BLOCK: usize = 2048;

/// Logits, of which `softmax(βz)` is evaluated on all cores.
pub(in crate::recalibration) struct TemperedRows<'a> {
    classes: usize,
    /// Less the largest of their row: `softmax(βz)` does not change.
    logits: Vec<f64>,
    labels: &'a [usize],
    weights: &'a Weights,
    /// The number of samples, with weights the effective one.
    mass: f64,
}

/// A row under `softmax(βz)`, whose classes `E` and `Var` are over.
pub(in crate::recalibration) struct TemperedRow {
    pub index: usize,
    pub weight: f64,
    /// `z_y`.
    pub of_label: f64,
    /// `Σ_c exp(βz_c)`, in `[1, m]`.
    pub sum: f64,
    /// `E z − z_y`.
    pub excess: f64,
    /// `Var z`.
    pub variance: f64,
}

impl<'a> TemperedRows<'a> {
    pub fn new(data: &'a FitData) -> Self {
        let mut logits = data.logits.clone();
        for row in logits.chunks_mut(data.classes) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|z| *z -= largest);
        }
        Self {
            classes: data.classes,
            logits,
            labels: &data.labels,
            weights: &data.weights,
            mass: data.mass(),
        }
    }

    /// The number of samples, with weights the effective one.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// The bounds of `log β`: 20 about that of `1/s`, for the largest difference `s` between two logits of a row;
    /// none if it is 0.
    pub fn bounds(&self) -> Option<RangeInclusive<f64>> {
        let spread = self.logits.iter().copied().fold(0.0, f64::min).abs();
        (spread > 0.0).then(|| -20.0 - spread.ln()..=20.0 - spread.ln())
    }

    /// Sums over the rows of blocks, and the means of these sums: the same on any number of threads.
    pub fn means<const K: usize>(
        &self,
        beta: f64,
        of_block: impl Fn(&mut dyn Iterator<Item = TemperedRow>) -> [f64; K] + Sync,
    ) -> [f64; K] {
        let (m, rows) = (self.classes, (BLOCK / self.classes).max(1));
        let block = |(block, logits): (usize, &[f64])| {
            let mut weights: Vec<f64> = logits.iter().map(|z| beta * z).collect();
            exp(&mut weights);
            let pairs = logits.chunks_exact(m).zip(weights.chunks_exact(m));
            let mut rows = (block * rows..).zip(pairs).map(|(index, (z, weights))| {
                let (mut s0, mut s1, mut s2) = (0.0, 0.0, 0.0);
                for (weight, z) in weights.iter().zip(z) {
                    s0 += weight;
                    s1 += weight * z;
                    s2 += weight * z * z;
                }
                let (mean, of_label) = (s1 / s0, z[self.labels[index]]);
                TemperedRow {
                    index,
                    weight: self.weights.at(index),
                    of_label,
                    sum: s0,
                    excess: mean - of_label,
                    variance: s2 / s0 - mean * mean,
                }
            });
            of_block(&mut rows)
        };
        let blocks: Vec<&[f64]> = self.logits.chunks(rows * m).collect();
        // in the order of the blocks
        let sums: Vec<[f64; K]> = parallel::map(blocks.len(), &|k| block((k, blocks[k])));
        let n = self.labels.len() as f64;
        std::array::from_fn(|k| sums.iter().map(|sums| sums[k]).sum::<f64>() / n)
    }

    /// `L(β) = mean(log Σ_c exp(βz_c) − βz_y)`, `L' = mean(E z − z_y)` and `L'' = mean(Var z)`; with a scale of the
    /// prior of `log T`, Student's t of three degrees of freedom, each with that of `2 log(1 + (log β)²/3s²)/n`.
    pub fn log_loss(&self, beta: f64, prior: Option<f64>) -> [f64; 3] {
        let are_weighted = self.weights.are_given();
        let data = self.means(beta, |rows| {
            let [mut value, mut slope, mut curvature] = [0.0; 3];
            let mut product = 1.0f64; // of the sums: one logarithm for many
            for row in rows {
                if are_weighted {
                    value += row.weight * row.sum.ln();
                } else {
                    product *= row.sum;
                }
                if product > 1e200 {
                    value += product.ln();
                    product = 1.0;
                }
                value -= row.weight * (beta * row.of_label);
                slope += row.weight * row.excess;
                curvature += row.weight * row.variance;
            }
            [value + product.ln(), slope, curvature]
        });
        let Some(scale) = prior else {
            return data;
        };
        let (x, c) = (beta.ln(), 3.0 * scale * scale);
        let [value, slope] = log_temperature_prior(x, scale);
        let curvature = 4.0 * (c - x * x) / (c + x * x).powi(2) - slope;
        let prior = [value, slope / beta, curvature / (beta * beta)];
        let n = self.mass;
        [0, 1, 2].map(|k| data[k] + prior[k] / n)
    }
}

/// The distance of two points that are looked at, on the scale of the prior where that is finer.
const STEP: f64 = 0.25;

/// A point that was found, on the scale `x = log β`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Minimum {
    pub x: f64,
    pub value: f64,
    /// The derivative with respect to `x`.
    pub slope: f64,
    /// Whether the search ended within the tolerance.
    pub converged: bool,
}

/// A search for minima of the log loss.
pub(super) struct Search<'a> {
    pub config: &'a TemperatureScalingConfig,
    pub rows: &'a TemperedRows<'a>,
    /// Progress callback: the number of evaluations, and the value.
    pub observe: &'a mut dyn FnMut(usize, f64),
    pub evaluations: usize,
}

impl Search<'_> {
    fn at(&mut self, x: f64, prior: Option<f64>) -> [f64; 3] {
        let found = self.rows.log_loss(x.exp(), prior);
        self.evaluations += 1;
        (self.observe)(self.evaluations, found[0]);
        found
    }

    fn point(&mut self, x: f64, prior: Option<f64>) -> Minimum {
        let [value, slope, _] = self.at(x, prior);
        Minimum {
            x,
            value,
            slope: slope * x.exp(),
            converged: true,
        }
    }

    /// The minimum in a bracket, or the end of it that is nearer: the derivative with respect to `β` increases through
    /// its root on the scale of `log β` too.
    pub fn root(
        &mut self,
        bracket: RangeInclusive<f64>,
        start: f64,
        prior: Option<f64>,
    ) -> Minimum {
        let (tolerance, limit) = (self.config.tolerance, self.config.max_iterations);
        let slope = |x: f64| {
            let [_, slope, curvature] = self.at(x, prior);
            Evaluation {
                value: slope,
                derivative: curvature * x.exp(),
            }
        };
        let (x, converged) = increasing_root(slope, bracket, start, tolerance, limit);
        Minimum {
            converged,
            ..self.point(x, prior)
        }
    }

    /// The lowest minimum of the log loss `L` with the prior `P`, `F = L + P/n`, by that of `L` alone.
    ///
    /// `L` is convex in `β`, so that it falls up to its minimum `x_L` and rises beyond it; `P` falls up to 0 and rises
    /// beyond it. Outside the interval between 0 and `x_L` both have slopes of one sign: `F` has no minimum there,
    /// also where `x_L` is a bound, of separable data. Within it there can be several, and `F ≤ F(x_L)` at the
    /// lowest one; so `L ≤ F(x_L)` there, as `P ≥ 0`. The points from `x_L` towards 0 with such an `L` are an interval, and
    /// each change of the sign of the slope in it is a bracket of a minimum. `L` is a mean of functions
    /// `log Σ exp(−exp(x) d)` and does not change its slope within a fraction of a unit of `x`, nor `P` within a fraction of
    /// its scale: the steps are shorter.
    pub fn lowest(&mut self, alone: Minimum, scale: f64) -> Minimum {
        let (prior, n) = (Some(scale), self.rows.mass());
        let mut here = self.point(alone.x, prior);
        let (limit, width) = (here.value, 3f64.sqrt() * scale);
        let mut best = here;
        let towards = -alone.x.signum();
        while here.x != 0.0 {
            let step = STEP * here.x.abs().max(width).min(1.0);
            let next = if here.x.abs() <= step {
                0.0
            } else {
                here.x + towards * step
            };
            let there = self.point(next, prior);
            if towards * here.slope <= 0.0 && towards * there.slope >= 0.0 {
                let ends = here.x.min(next)..=here.x.max(next);
                let found = self.root(ends, 0.5 * (here.x + next), prior);
                if found.value <= best.value {
                    best = found;
                }
            }
            // where `x_L` is a bound, 0 can be beyond it
            if next == 0.0 && there.value < best.value {
                best = there;
            }
            here = there;
            let loss = here.value - log_temperature_prior(here.x, scale)[0] / n;
            if loss > limit && towards * here.slope > 0.0 {
                break;
            }
        }
        best
    }
}
