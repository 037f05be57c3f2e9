use burn::tensor::Tensor;
use statrs::function::beta::beta_reg;

use super::{QuantileCurve, QuantilePoint, checks::check_level};
use crate::{
    distribution::{Batch as _, Predictive, QuantileForecasts, Weighted as _, Weights},
    error::Result,
    estimator::{ASYMPTOTIC_FLOOR, Interval},
    host::to_vec,
    score::{BoundedMean, clopper_pearson},
};

/// The coverage of the quantiles of [`QuantileForecasts`] at one level, or of their central intervals: the share of
/// targets at most at the quantile, or between two.
///
/// Where a target equals a quantile, as for counts, the forecast does not say on which side of the level it
/// is. If the model is calibrated, the level is between the shares without such targets and with them. So
/// the frequency that is compared with the level is the nearest one from the first share to the second, the
/// interval reaches from the lower end of the one to the upper end of the other, and the p-value is that of
/// the more favourable share: exact where no target equals a quantile, and else too large if anything.
///
/// With weights the shares are weighted. The interval and the p-value are those of [`BoundedMean`] (Fay and Feuer 1997),
/// which hold if few samples have most of the weight. (Those of a count of `n_eff` samples do not: if one sample has half
/// of the weight, a level of 0.975 has a p-value below 1 % in 4 % of calibrated data sets.)
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
#[must_use]
pub struct QuantileCoverage {
    /// The level of the lower end, of a central interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_level: Option<f64>,
    /// The level of the quantile, or of the upper end.
    pub level: f64,
    /// The probability that a calibrated model has: the level, or the difference of the two.
    pub expected: f64,
    /// The share of targets at most at the quantile, or in the closed interval, as usually published.
    pub covered: f64,
    /// The share of targets below the quantile, or in the open interval.
    pub inside: f64,
    /// The frequency: the number from `inside` to `covered` that is nearest to `expected`.
    pub estimate: f64,
    /// The two-sided p-value of the hypothesis that the frequency is the expected one, of independent samples: binomial,
    /// with weights at least 0.002.
    pub p_value: f64,
    /// The number `n` of samples.
    pub samples: usize,
    /// The effective number of samples, `n` without weights.
    #[serde(skip)]
    pub effective: f64,
    /// With weights the shares of targets that are inside, and that are not covered.
    #[serde(skip)]
    law: Option<[BoundedMean; 2]>,
}

impl QuantileCoverage {
    /// The coverage of the quantiles at each level.
    ///
    /// # Errors
    ///
    /// Forecasts or targets that are not valid, with the row.
    pub fn by_level(forecasts: &QuantileForecasts, targets: &Tensor<2>) -> Result<Vec<Self>> {
        Self::of(&Region::by_level(forecasts), forecasts, targets)
    }

    /// The coverage of the central intervals, the widest first: those between the levels `τ` and `1 − τ`.
    /// The errors are those of [`by_level`](Self::by_level).
    pub fn by_interval(forecasts: &QuantileForecasts, targets: &Tensor<2>) -> Result<Vec<Self>> {
        Self::of(&Region::by_interval(forecasts), forecasts, targets)
    }

    /// The coverage of the levels as a curve, for a [`QuantileDiagram`](crate::diagram::QuantileDiagram).
    pub fn curve(coverage: &[Self]) -> QuantileCurve {
        let point = |of: &Self| QuantilePoint {
            level: of.expected,
            frequency: of.estimate,
        };
        QuantileCurve {
            points: coverage.iter().map(point).collect(),
        }
    }

    /// The confidence interval of the frequency at a level (Clopper and Pearson 1934), of independent samples.
    ///
    /// # Errors
    ///
    /// A level that is not between 0 and 1.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        check_level(level)?;
        let [lower, upper] = match &self.law {
            Some([inside, outside]) => [
                inside.lower_limit(level)?,
                1.0 - outside.lower_limit(level)?,
            ],
            None => {
                let n = self.samples as f64;
                let [inside, covered] = [self.inside, self.covered]
                    .map(|share| clopper_pearson((share * n).round(), n, level));
                [inside.lower, covered.upper]
            }
        };
        Ok(Interval {
            estimate: self.estimate,
            lower,
            upper,
            level,
        })
    }

    /// Returns whether the p-value is the smallest that is reported for samples with weights.
    pub fn is_bound(&self) -> bool {
        self.law.is_some() && self.p_value <= 2.0 * ASYMPTOTIC_FLOOR
    }

    fn of(
        regions: &[Region],
        forecasts: &QuantileForecasts,
        targets: &Tensor<2>,
    ) -> Result<Vec<Self>> {
        let (forecasts, weights) = forecasts.parted();
        forecasts.check()?;
        let targets = forecasts.checked_targets(targets)?;
        let (values, levels) = (to_vec(forecasts.values()), forecasts.levels());
        let of_region = |region: &Region| {
            let shares = |row: usize| {
                let quantiles = &values[row * levels.len()..][..levels.len()];
                region.shares(quantiles, targets[row])
            };
            let shares: Vec<[f64; 2]> = (0..targets.len()).map(shares).collect();
            Self::from_shares(region, levels, &shares, weights.clone())
        };
        Ok(regions.iter().map(of_region).collect())
    }

    /// - shares: whether each target is inside, and whether it is covered, 0 or 1
    fn from_shares(region: &Region, levels: &[f64], shares: &[[f64; 2]], weights: Weights) -> Self {
        let (expected, samples) = (region.probability(levels), shares.len());
        let [inside, covered]: [Vec<f64>; 2] =
            [0, 1].map(|k| shares.iter().map(|share| share[k]).collect());
        let [least, most] = [&inside, &covered].map(|terms| weights.mean(terms));
        let effective = weights.effective(samples);
        let law = weights.are_given().then(|| {
            let outside = covered.iter().map(|covered| 1.0 - covered).collect();
            let mean = |terms| BoundedMean::new(terms, 0.0, 1.0).with_weights(weights.clone());
            [mean(inside), mean(outside)]
        });
        let tails = match &law {
            Some([inside, outside]) => [
                inside.p_value_above(expected),
                outside.p_value_above(1.0 - expected),
            ],
            None => {
                // the binomial probabilities of at least so many, and of at most
                let n = samples as f64;
                let tail = |count: f64, probability: f64| {
                    if count > 0.0 {
                        beta_reg(count, n - count + 1.0, probability)
                    } else {
                        1.0
                    }
                };
                let (inside, outside) = ((least * n).round(), n - (most * n).round());
                [tail(inside, expected), tail(outside, 1.0 - expected)]
            }
        };
        Self {
            lower_level: region.lower.map(|k| levels[k]),
            level: levels[region.upper],
            expected,
            covered: most,
            inside: least,
            estimate: expected.clamp(least, most),
            p_value: (2.0 * tails[0].min(tails[1])).min(1.0),
            samples,
            effective,
            law,
        }
    }
}

/// A part of the line whose probability a forecast says: up to a quantile, or between two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Region {
    /// The place of the level of its lower end, if it has one.
    pub lower: Option<usize>,
    pub upper: usize,
}

impl Region {
    /// The regions up to each quantile.
    pub fn by_level(forecasts: &QuantileForecasts) -> Vec<Self> {
        let region = |upper| Self { lower: None, upper };
        (0..forecasts.levels().len()).map(region).collect()
    }

    /// The central intervals, the widest first.
    pub fn by_interval(forecasts: &QuantileForecasts) -> Vec<Self> {
        let pairs = forecasts.central_intervals().into_iter();
        let region = |[lower, upper]: [usize; 2]| Self {
            lower: Some(lower),
            upper,
        };
        pairs.map(region).collect()
    }

    /// The probability that the forecasts give.
    pub fn probability(&self, levels: &[f64]) -> f64 {
        levels[self.upper] - self.lower.map_or(0.0, |k| levels[k])
    }

    /// The weights of targets that are inside whatever the distribution is, and that may be: those that
    /// equal an end count there only. For a calibrated model, the weight of targets whose levels are
    /// between those of the ends is between the two.
    ///
    /// - rows: those that are counted
    /// - values: the quantiles, `k` in each row
    pub fn sums(
        &self,
        rows: &[usize],
        values: &[f64],
        k: usize,
        targets: &[f64],
        weights: &Weights,
    ) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for &row in rows {
            let [inside, covered] = self.shares(&values[row * k..][..k], targets[row]);
            let weight = weights.at(row);
            sums[0] += weight * inside;
            sums[1] += weight * covered;
        }
        sums
    }

    /// Whether a target is inside whatever the distribution is, and whether it may be: 0 or 1.
    fn shares(&self, quantiles: &[f64], y: f64) -> [f64; 2] {
        let (low, high) = (self.lower.map(|k| quantiles[k]), quantiles[self.upper]);
        let is_inside = low.is_none_or(|low| low < y) && y < high;
        let may_be = low.is_none_or(|low| low <= y) && y <= high;
        [is_inside, may_be].map(|holds| f64::from(u8::from(holds)))
    }
}
