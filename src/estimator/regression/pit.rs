use burn::tensor::Tensor;
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

use super::checks::ObservedMarginals;
use crate::{
    distribution::{HostMarginals, Marginals, Weights},
    error::{Result, check_parameter},
    estimator::{ASYMPTOTIC_FLOOR, equal_width_bin},
    parallel,
};

/// Probability integral transforms: the distribution function of each prediction at its target, for each
/// coordinate. Uniform on `[0, 1]` if the model is calibrated.
///
/// A histogram that is U-shaped means that predictions are too certain, a hump that they are not certain
/// enough, and a slope that they are biased.
///
/// The transforms of samples with weights keep these. Weights that do not depend on the targets leave the transforms of
/// a calibrated model independent and uniform.
///
/// Source: Dawid 1984; Gneiting, Balabdaoui, Raftery 2007.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Pit {
    /// `n` for each coordinate.
    values: Vec<Vec<f64>>,
    weights: Weights,
}

impl Pit {
    /// `F(y)`; where the target has a positive probability `P(Y = y)`, the mid-transform
    /// `F(y) − ½P(Y = y)`.
    pub fn new<P: Marginals>(predictions: &P, targets: &Tensor<2>) -> Result<Self> {
        Self::of(predictions, targets, |marginals, at, y| {
            let up_to = marginals.tails(at, y).lower;
            (up_to - 0.5 * marginals.atom(at, y)).clamp(0.0, 1.0)
        })
    }

    /// `P(Y < y) + U P(Y = y)` for uniform `U`: uniform for discrete predictions as well. The same as
    /// [`new`](Self::new) for continuous ones.
    ///
    /// For [`Samples`](crate::distribution::Samples) the randomised ranks of the targets among the draws,
    /// `(#{x_s < y} + U(1 + #{x_s = y}))/(S + 1)`: uniform for every `S` if the target is one more draw
    /// from the distribution that the draws are from, which [`new`](Self::new) is for large `S` only
    /// (Hamill 2001).
    pub fn randomised<P: Marginals>(
        predictions: &P,
        targets: &Tensor<2>,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        Self::of(predictions, targets, |marginals, at, y| {
            marginals.transform(at, y, rng.random())
        })
    }

    /// A transform of each target, with its number and the marginals.
    fn of<P: Marginals>(
        predictions: &P,
        targets: &Tensor<2>,
        mut transform: impl FnMut(&dyn HostMarginals, usize, f64) -> f64,
    ) -> Result<Self> {
        let (predictions, weights) = predictions.parted();
        let observed = ObservedMarginals::new(&predictions, targets)?;
        let d = observed.dimensions;
        let mut values = vec![Vec::with_capacity(observed.targets.len() / d); d];
        for (at, &y) in observed.targets.iter().enumerate() {
            values[at % d].push(transform(&*observed.marginals, at, y));
        }
        Ok(Self { values, weights })
    }

    /// The dimension `d` of the targets.
    pub fn dimensions(&self) -> usize {
        self.values.len()
    }

    /// The transforms of one coordinate, `n`, in the order of the samples.
    ///
    /// # Panics
    ///
    /// If there is no such coordinate.
    pub fn values(&self, coordinate: usize) -> &[f64] {
        &self.values[coordinate]
    }

    /// The weights of the samples.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The histogram of one coordinate, with bins of equal width; 10 are usual.
    ///
    /// # Errors
    ///
    /// Fewer than two bins.
    ///
    /// # Panics
    ///
    /// If there is no such coordinate.
    pub fn histogram(&self, coordinate: usize, bins: usize) -> Result<PitHistogram> {
        check_parameter(bins >= 2, "the number of bins", bins as f64, "at least 2")?;
        let (mut counts, mut sums) = (vec![0; bins], vec![0.0; bins]);
        for (row, &value) in self.values[coordinate].iter().enumerate() {
            let bin = equal_width_bin(value, bins);
            counts[bin] += 1;
            sums[bin] += self.weights.at(row);
        }
        let weights = self.weights.are_given().then_some(sums);
        Ok(PitHistogram { counts, weights })
    }

    /// The Kolmogorov–Smirnov test of one coordinate, `max_u |F_n(u) − u|`. The p-value, by the correction
    /// of Vrbik 2018 to Kolmogorov's limit, is exact within 0.003 for 10 samples or more, and within
    /// 0.0003 for 50. A smaller one than [`ASYMPTOTIC_FLOOR`](crate::hypothesis::TestOutcome::ASYMPTOTIC_FLOOR) is
    /// reported as that bound.
    ///
    /// With weights `F_n` is the weighted distribution function. The p-value is exact: it comes from 999 redraws of uniform
    /// numbers with these weights, of `O(n log n)` each.
    ///
    /// The test is of probabilistic calibration only, see [`Uniformity`], and of independent samples; its
    /// level is exact for continuous predictions, and for others with randomised transforms.
    ///
    /// # Panics
    ///
    /// If there is no such coordinate.
    pub fn kolmogorov_smirnov(&self, coordinate: usize) -> Uniformity {
        let values = &self.values[coordinate];
        let n = values.len();
        let statistic = distance_from_uniform(values.iter().copied().zip(self.weights.all(n)));
        let (p_value, least) = if self.weights.are_given() {
            let redrawn = uniform_distances(&self.weights, n);
            let far = redrawn.iter().filter(|drawn| **drawn >= statistic);
            let least = 1.0 / (redrawn.len() + 1) as f64;
            ((far.count() + 1) as f64 * least, least)
        } else {
            let n = n as f64;
            let x = n.sqrt() * statistic;
            let tail = kolmogorov_tail(x + (6.0 * n.sqrt()).recip() + (x - 1.0) / (4.0 * n));
            (tail.max(ASYMPTOTIC_FLOOR), ASYMPTOTIC_FLOOR)
        };
        Uniformity {
            statistic,
            p_value,
            is_bound: p_value <= least,
        }
    }
}

/// `max_u |F(u) − u|` of the distribution function of numbers with weights.
fn distance_from_uniform(weighted: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut sorted: Vec<(f64, f64)> = weighted.collect();
    sorted.sort_unstable_by(|(u, _), (v, _)| u.total_cmp(v));
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let mut up_to = 0.0;
    let distance = |(u, weight): (f64, f64)| {
        let below = up_to;
        up_to += weight;
        (up_to / total - u).max(u - below / total)
    };
    sorted.into_iter().map(distance).fold(0.0, f64::max)
}

/// `max_u |F(u) − u|` of redraws of uniform numbers, one for each of `n` weights.
pub(crate) fn uniform_distances(weights: &Weights, n: usize) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(0);
    let seeds: Vec<u64> = (0..REDRAWS).map(|_| rng.next_u64()).collect();
    parallel::map(REDRAWS, &|redraw| {
        let mut rng = StdRng::seed_from_u64(seeds[redraw]);
        let drawn = (0..n).map(|row| (rng.random(), weights.at(row)));
        distance_from_uniform(drawn)
    })
}

const REDRAWS: usize = 999;

/// A histogram of probability integral transforms, with bins of equal width, right-closed,
/// `((b−1)/B, b/B]`, with 0 in the first.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct PitHistogram {
    /// The number of samples in each bin.
    pub counts: Vec<usize>,
    /// The sum of their weights, over the mean weight of all samples, if there are weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
}

/// A test of the hypothesis that independent numbers are uniform on `[0, 1]`.
///
/// Uniform probability integral transforms are what *probabilistic calibration* means; it does not imply
/// that predictions are calibrated: errors in different parts of the data can cancel.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct Uniformity {
    /// The statistic of the test.
    pub statistic: f64,
    /// The probability of a statistic at least as large under uniformity.
    pub p_value: f64,
    /// Whether the p-value is only an upper bound: the least that the approximation or the redraws give.
    pub is_bound: bool,
}

/// `P(K > x) = 2 Σ_k (−1)^{k−1} e^{−2k²x²}` of the Kolmogorov distribution; below 1 from
/// `P(K ≤ x) = √2π/x · Σ_k e^{−(2k−1)²π²/8x²}`. Five terms of either are exact to rounding.
fn kolmogorov_tail(x: f64) -> f64 {
    use std::f64::consts::PI;
    if x <= 0.0 {
        return 1.0;
    }
    if x < 1.0 {
        let term = |k: i32| (-(f64::from(2 * k - 1) * PI / x).powi(2) / 8.0).exp();
        1.0 - (2.0 * PI).sqrt() / x * (1..=5).map(term).sum::<f64>()
    } else {
        let sign = |k: i32| if k % 2 == 1 { 2.0 } else { -2.0 };
        let term = |k: i32| sign(k) * (-2.0 * (f64::from(k) * x).powi(2)).exp();
        (1..=5).map(term).sum::<f64>()
    }
}
