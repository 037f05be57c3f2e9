use std::fmt;

use statrs::statistics::Statistics;

use super::student;
use crate::{
    distribution::Weights,
    error::{Result, check_inside, serialize_or_infinite},
};

/// A mean with its standard error: over samples, over blocks of them, or, of a U-statistic, over
/// pairs.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
#[must_use]
pub struct MeanEstimate {
    /// The mean: unbiased, of minimum variance.
    pub estimate: f64,
    /// `s/√n` with the unbiased sample variance `s²` of the values, of a U-statistic of its
    /// jackknife pseudo-values; infinite for one value.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub standard_error: f64,
    /// The number `n` of values: samples, or blocks.
    pub samples: usize,
    /// The effective number of samples with their weights, `(Σw)²/Σw²` (Kish 1965); their number where there are no
    /// weights. Intervals have one degree of freedom less.
    #[serde(skip)]
    pub effective: f64,
}

/// The largest difference that is taken for rounding, of numbers of size 1.
const ROUNDING: f64 = 1e-14;

/// `second − first` of each sample; 0 where the two are equal except for the rounding of numbers of a size:
/// a test of many samples would find its sign.
pub(crate) fn differences(first: &[f64], second: &[f64], size: f64) -> Vec<f64> {
    let difference = |(first, second): (&f64, &f64)| {
        let difference = second - first;
        let is_rounding = difference.abs() <= ROUNDING * size;
        if is_rounding { 0.0 } else { difference }
    };
    first.iter().zip(second).map(difference).collect()
}

impl MeanEstimate {
    /// The mean of at least one value.
    pub fn of(values: &[f64]) -> Self {
        let samples = values.len();
        let unit = power_of_two(values);
        let scaled = || values.iter().map(|value| value / unit);
        let standard_error = match samples {
            1 => f64::INFINITY,
            _ => (scaled().variance() / samples as f64).sqrt() * unit,
        };
        Self {
            estimate: scaled().mean() * unit,
            standard_error,
            samples,
            effective: samples as f64,
        }
    }

    /// The weighted mean `m = Σ w_i x_i/Σ w_i`, with the standard error of the jackknife: the squares of the changes
    /// by each sample, `w_i (x_i − m)/(Σ w − w_i)`, times `(n − 1)/n`. It is that of [`of`](Self::of) where weights
    /// are equal, and holds where weights depend on the values. Infinite where one sample has all of the weight.
    ///
    /// # Panics
    ///
    /// If there is no value.
    pub fn weighted(values: &[f64], weights: &Weights) -> Self {
        if !weights.are_given() {
            return Self::of(values);
        }
        let n = values.len();
        let (unit, total) = (power_of_two(values), weights.total(n));
        let terms = || weights.all(n).zip(values.iter().map(|x| x / unit));
        let mean = terms().map(|(w, x)| w * x).sum::<f64>() / total;
        let change = |(w, x): (f64, f64)| {
            let rest = total - w;
            if rest > 0.0 {
                w * (x - mean) / rest
            } else {
                f64::INFINITY
            }
        };
        let squares: f64 = terms().map(|term| change(term).powi(2)).sum();
        Self {
            estimate: mean * unit,
            standard_error: (squares * (n as f64 - 1.0) / n as f64).sqrt() * unit,
            samples: n,
            effective: weights.effective(n),
        }
    }

    /// The mean of at least one value, from `Σ (x − x̄)²`.
    pub fn from_moments(samples: usize, estimate: f64, squared_deviations: f64) -> Self {
        let n = samples as f64;
        let standard_error = match samples {
            1 => f64::INFINITY,
            _ => (squared_deviations / (n - 1.0) / n).sqrt(),
        };
        Self {
            estimate,
            standard_error,
            samples,
            effective: samples as f64,
        }
    }

    /// The two-sided confidence interval `estimate ± t · standard error`, with the quantile `t` of
    /// Student's distribution with `n − 1` degrees of freedom.
    ///
    /// Student's, since the variance is an estimate too: exact if the values are normal, and for
    /// many values of any distribution the same as the normal interval. From one value all numbers.
    ///
    /// # Errors
    ///
    /// A level that is not between 0 and 1.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        check_level(level)?;
        let [lower, upper] = if self.effective < 2.0 {
            [f64::NEG_INFINITY, f64::INFINITY]
        } else {
            let quantile = student::upper_quantile(0.5 * (1.0 - level), self.freedom());
            let half = quantile * self.standard_error;
            [self.estimate - half, self.estimate + half]
        };
        Ok(Interval {
            estimate: self.estimate,
            lower,
            upper,
            level,
        })
    }

    /// The two-sided p-value of the hypothesis that the expectation is 0, by the t-test that
    /// [`interval`](Self::interval) belongs to: below `1 − level` if and only
    /// if the interval excludes 0.
    ///
    /// 1 from one value, and where all values are 0. At least 0.001, because an approximation is not
    /// reliable far out in a tail.
    pub fn p_value(&self) -> f64 {
        match self.standard_error {
            _ if self.effective < 2.0 || self.estimate == 0.0 => 1.0,
            error => {
                let t = (self.estimate / error).abs();
                (2.0 * student::upper_tail(t, self.freedom())).max(ASYMPTOTIC_FLOOR)
            }
        }
    }

    fn freedom(&self) -> f64 {
        self.effective - 1.0
    }
}

/// A two-sided confidence interval, with its estimate.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
#[must_use]
pub struct Interval {
    /// The estimate.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub estimate: f64,
    /// The lower end.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub lower: f64,
    /// The upper end.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub upper: f64,
    /// The probability that the interval covers the quantity, at least or about.
    pub level: f64,
}

/// The least p-value of an approximation: its tails are not those of the data.
pub(crate) const ASYMPTOTIC_FLOOR: f64 = 1e-3;

/// A unit in which sums of squares of numbers are of f64: a power of two, which rounds nothing; 1 unless
/// the largest is above `10^140`.
pub(crate) fn power_of_two(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    if largest.is_finite() && largest > 1e140 {
        largest.log2().floor().exp2()
    } else {
        1.0
    }
}

/// Checks that a confidence level is between 0 and 1.
pub(crate) fn check_level(level: f64) -> Result<()> {
    check_inside("the confidence level", level)
}

impl fmt::Display for MeanEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.6} ± {:.6} (n = {})",
            self.estimate, self.standard_error, self.samples
        )
    }
}
