use std::f64::consts::PI;

use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{Event, event::Outcomes};
use crate::{
    distribution::Categorical,
    error::{Result, check_parameter},
    estimator::Estimator,
    root::enclose,
};

/// The smooth calibration error of an event, by default the top label: residuals are smoothed by a
/// Gaussian that is reflected at 0 and 1,
///
/// `smECE_σ = ∫₀¹ |n⁻¹ Σ_i (c_i − r_i) K_σ(t, r_i)| dt`,
/// `K_σ(t, r) = Σ_{k∈ℤ} φ_σ(t − r + 2k) + φ_σ(t + r + 2k)`,
///
/// at the bandwidth that equals its own error, `smECE = σ = smECE_σ`. (Błasiok and
/// Nakkiran 2023).
///
/// `K_σ` is the heat kernel of `[0, 1]` with insulated ends, so `smECE_σ` falls in `σ` and the fixed
/// point is unique; unlike a binned ECE, the value is continuous in the predictions. Biased upward
/// for a calibrated model, by `O(n^{−⅓})`.
///
/// With `K_σ(t, r) = 1 + 2 Σ_{k≥1} exp(−(πkσ)²/2) cos(πkt) cos(πkr)` the smoothed residual is a
/// cosine series of `2.8/σ` terms. Bandwidths below 10⁻³ are not resolved: where the fixed point lies
/// there the value is `smECE` at 10⁻³, which is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[must_use]
pub struct SmoothEce {
    /// The event.
    pub event: Event,
}

impl SmoothEce {
    /// Estimates the error of an event.
    pub fn new(event: Event) -> Self {
        Self { event }
    }

    /// `smECE_σ` from data, at a bandwidth of the caller's choice; shapes as for
    /// [`estimate`](Self::estimate).
    /// The errors are those of [`estimate`](Self::estimate), and a bandwidth outside `[10⁻³, ∞)`.
    pub fn at_bandwidth(
        &self,
        bandwidth: f64,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<f64> {
        check_parameter(
            bandwidth.is_finite() && bandwidth >= LEAST,
            "the bandwidth of the smooth calibration error",
            bandwidth,
            "a finite number of at least 0.001",
        )?;
        let outcomes = self.event.weighted_outcomes(predictions, labels)?;
        Ok(Residuals::new(&outcomes).smoothed(bandwidth))
    }
}

impl Estimator for SmoothEce {
    /// The fixed point, to 10⁻⁹. Cost: `O(n + 1/σ²)` for the result `σ`.
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let outcomes = self.event.weighted_outcomes(predictions, labels)?;
        let mut residuals = Residuals::new(&outcomes);
        let mut high = 1.0; // smECE_high ≤ high
        while 0.5 * high >= LEAST && residuals.smoothed(0.5 * high) <= 0.5 * high {
            high *= 0.5;
        }
        let low = f64::max(0.5 * high, LEAST);
        if 0.5 * high < LEAST {
            let least = residuals.smoothed(LEAST);
            if least <= LEAST {
                return Ok(least);
            }
        } // low < smECE_low
        let [low, high] = enclose([low, high], 1e-9, |width| width - residuals.smoothed(width));
        Ok(0.5 * (low + high))
    }
}

/// The least bandwidth that is resolved.
const LEAST: f64 = 1e-3;
/// `exp(−REACH²/2)` is below the rounding of 1.
const REACH: f64 = 8.6;
/// The number of nodes per term of the series.
const NODES: usize = 4;

/// The number of cells of `[0, 1]` in which residuals are summed.
const CELLS: usize = 1 << 12;
/// Powers of the distance from the middle of a cell, from 0 on. With the highest frequency, `πk/2·CELLS ≤ 1.06`, the
/// next term of the series of the cosine is below `1.06¹⁸/18! < 10⁻¹⁵`.
const POWERS: usize = 18;

/// The cosine coefficients `C_k = n⁻¹ Σ_i (c_i − r_i) cos(πk r_i)` of the residuals of an event, as far as they were
/// needed.
///
/// A residual enters by the powers of its distance `x` from the middle `m` of its cell alone: `cos(πk(m + x))` is
/// `cos(πkm) cos(πkx) − sin(πkm) sin(πkx)`, and the factors of `x` are power series. So a coefficient costs as much as
/// the cells, whatever the number of samples, and is exact to rounding.
struct Residuals {
    /// The cells that hold samples, with the sums of `(c_i − r_i) x_i^p/p!` over the number of samples.
    cells: Vec<(usize, [f64; POWERS])>,
    /// `sin(πj/2·CELLS)`, of which the cosine is a shift.
    sines: Vec<f64>,
    coefficients: Vec<f64>,
}

impl Residuals {
    fn new(outcomes: &Outcomes) -> Self {
        let mut cells: Vec<Option<[f64; POWERS]>> = vec![None; CELLS];
        let total = outcomes.total();
        for sample in outcomes.all() {
            let cell = ((sample.score * CELLS as f64) as usize).min(CELLS - 1);
            let distance = sample.score - (cell as f64 + 0.5) / CELLS as f64;
            let mut term = sample.weight * (sample.occurred - sample.score) / total;
            let sums = cells[cell].get_or_insert([0.0; POWERS]);
            for (p, sum) in sums.iter_mut().enumerate() {
                *sum += term;
                term *= distance / (p + 1) as f64;
            }
        }
        let cells = cells.into_iter().enumerate();
        let sine = |j| (0.5 * PI * j as f64 / CELLS as f64).sin();
        Self {
            cells: cells.filter_map(|(at, sums)| Some((at, sums?))).collect(),
            sines: (0..4 * CELLS).map(sine).collect(),
            coefficients: Vec::new(),
        }
    }

    /// `smECE_σ = ∫|r|` for the smoothed residual `r(t) = C_0 + 2 Σ_k exp(−(πkσ)²/2) C_k cos(πkt)`,
    /// through its integral `R(t) = C_0 t + 2 Σ_k exp(−(πkσ)²/2) C_k sin(πkt)/(πk)`: between the
    /// zeros of `r` it is a difference of `R`.
    fn smoothed(&mut self, sigma: f64) -> f64 {
        let terms = (REACH / (PI * sigma)).ceil() as usize;
        self.extend(terms);
        let mean = self.coefficients[0];
        let damped: Vec<f64> = (1..=terms)
            .map(|k| 2.0 * (-0.5 * (PI * k as f64 * sigma).powi(2)).exp() * self.coefficients[k])
            .collect();

        let cells = NODES * terms;
        // sin(πj/cells), of which cos is a shift
        let sine = |j| (PI * j as f64 / cells as f64).sin();
        let sines: Vec<f64> = (0..2 * cells).map(sine).collect();
        let at = |j: usize| {
            let (mut residual, mut integral) = (mean, mean * j as f64 / cells as f64);
            for (k, a) in (1..).zip(&damped) {
                let angle = k * j; // in units of π/cells
                residual += a * sines[(angle + cells / 2) % (2 * cells)];
                integral += a * sines[angle % (2 * cells)] / (PI * k as f64);
            }
            (residual, integral)
        };
        let integral_at = |t: f64| {
            let term = |(k, a): (i32, &f64)| {
                let k = PI * f64::from(k);
                a * (k * t).sin() / k
            };
            mean * t + (1..).zip(&damped).map(term).sum::<f64>()
        };

        let mut sum = 0.0;
        let mut left = at(0);
        for j in 1..=cells {
            let right = at(j);
            if left.0 * right.0 < 0.0 {
                let crossing = left.0 / (left.0 - right.0);
                let middle = integral_at(((j - 1) as f64 + crossing) / cells as f64);
                sum += (middle - left.1).abs() + (right.1 - middle).abs();
            } else {
                sum += (right.1 - left.1).abs();
            }
            left = right;
        }
        sum
    }

    /// Computes `C_0 … C_terms`.
    fn extend(&mut self, terms: usize) {
        for k in self.coefficients.len()..=terms {
            let frequency = PI * k as f64;
            let of_cell = |(at, sums): &(usize, [f64; POWERS])| {
                // even powers with the cosine, odd ones with the sine; signs change every two
                let [mut even, mut odd] = [0.0; 2];
                for pair in sums.chunks_exact(2).rev() {
                    even = pair[0] - frequency * frequency * even;
                    odd = pair[1] - frequency * frequency * odd;
                }
                let angle = k * (2 * at + 1); // in units of π/2·CELLS
                let [sine, cosine] =
                    [0, CELLS].map(|shift| self.sines[(angle + shift) % (4 * CELLS)]);
                cosine * even - sine * frequency * odd
            };
            let coefficient = self.cells.iter().map(of_cell).sum();
            self.coefficients.push(coefficient);
        }
    }
}
