//! The mean log loss of logits as a function of `β = 1/T`, on the host.

use rayon::prelude::*;

use super::log_temperature_prior;
use crate::{ops::exp, recalibration::data::FitData};

/// Logits of a block, whose exponentials are taken together: they stay in the first-level cache.
const BLOCK: usize = 2048;

/// The mean log loss as a function of `β = 1/T`, with the prior of `log T` if there is one.
pub(super) struct TemperatureLogLoss<'a> {
    classes: usize,
    /// Less the largest of their row: `softmax(βz)` does not change.
    logits: Vec<f64>,
    labels: &'a [usize],
    /// The scale `s` of the prior of `log T`: Student's t of three degrees of freedom.
    prior: Option<f64>,
}

impl<'a> TemperatureLogLoss<'a> {
    /// Builds the log loss with a prior of `log T` of a scale.
    pub fn new(data: &'a FitData, prior: Option<f64>) -> Self {
        let mut logits = data.logits.clone();
        for row in logits.chunks_mut(data.classes) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|z| *z -= largest);
        }
        Self {
            classes: data.classes,
            logits,
            labels: &data.labels,
            prior,
        }
    }

    /// The bounds of `β = 1/T`: `[e⁻²⁰/s, e²⁰/s]` for the largest difference `s` between two logits
    /// of a row; none if it is 0.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        let spread = self.logits.iter().copied().fold(0.0, f64::min).abs();
        (spread > 0.0).then(|| ((-20f64).exp() / spread, 20f64.exp() / spread))
    }

    /// `L(β) = mean(log Σ_c exp(βz_c) − βz_y)`, `L' = mean(E z − z_y)`, `L'' = mean(Var z)`, where
    /// `E` and `Var` are over the classes under `softmax(βz)`, each with that of the prior,
    /// `2 log(1 + (log β)²/3s²)/n`.
    pub fn at(&self, beta: f64) -> [f64; 3] {
        let rows = (BLOCK / self.classes).max(1);
        let blocks =
            (self.logits.par_chunks(rows * self.classes)).zip(self.labels.par_chunks(rows));
        let of_block = |(logits, labels): (&[f64], &[usize])| self.sums(beta, logits, labels);
        // in the order of the blocks: the same sum on any number of threads
        let sums: Vec<[f64; 3]> = blocks.map(of_block).collect();
        let n = self.labels.len() as f64;
        let mean = |k: usize| sums.iter().map(|sums| sums[k]).sum::<f64>() / n;
        let data = [mean(0), mean(1), mean(2)];
        let Some(scale) = self.prior else {
            return data;
        };
        let (x, c) = (beta.ln(), 3.0 * scale * scale);
        let [value, slope] = log_temperature_prior(x, scale);
        let curvature = 4.0 * (c - x * x) / (c + x * x).powi(2) - slope;
        let prior = [value, slope / beta, curvature / (beta * beta)];
        [0, 1, 2].map(|k| data[k] + prior[k] / n)
    }

    /// The three sums over some rows.
    fn sums(&self, beta: f64, logits: &[f64], labels: &[usize]) -> [f64; 3] {
        let mut weights: Vec<f64> = logits.iter().map(|z| beta * z).collect();
        exp(&mut weights);
        let [mut value, mut slope, mut curvature] = [0.0; 3];
        let mut product = 1.0f64; // of s₀ in [1, m]: one logarithm for many
        let rows = (logits.chunks(self.classes)).zip(weights.chunks(self.classes));
        for ((z, weights), &y) in rows.zip(labels) {
            let (mut s0, mut s1, mut s2) = (0.0, 0.0, 0.0);
            for (weight, z) in weights.iter().zip(z) {
                s0 += weight;
                s1 += weight * z;
                s2 += weight * z * z;
            }
            product *= s0;
            if product > 1e200 {
                value += product.ln();
                product = 1.0;
            }
            let mean = s1 / s0;
            value -= beta * z[y];
            slope += mean - z[y];
            curvature += s2 / s0 - mean * mean;
        }
        [value + product.ln(), slope, curvature]
    }
}
