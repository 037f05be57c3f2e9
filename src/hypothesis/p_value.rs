//! p-values by resampling.

use std::fmt;

use burn::tensor::DType;
use statrs::statistics::Statistics;

use crate::error::{Result, check_count, check_parameter};

/// `(1 + #{T* ≥ T})/(1 + R)`.
pub(super) fn resampling_p_value(statistic: f64, replicates: &[f64]) -> f64 {
    let exceeding = replicates.iter().filter(|&&t| t >= statistic).count();
    (1 + exceeding) as f64 / (1 + replicates.len()) as f64
}

/// The p-value of a discrete statistic: replicates that equal it count, even where rounding in the given precision
/// made them less. The scale of the statistic is that of the replicates.
pub(super) fn discrete_p_value(statistic: f64, replicates: &[f64], dtype: DType) -> f64 {
    let sizes = replicates.iter().filter(|t| t.is_finite()).map(|t| t.abs());
    let largest = sizes.fold(statistic.abs(), f64::max);
    let rounding = match dtype {
        DType::F64 => 1e-9,
        _ => 1e-5,
    };
    let least = if statistic.is_finite() {
        statistic - rounding * largest
    } else {
        statistic
    };
    resampling_p_value(least, replicates)
}

/// `(t − mean)/deviation` of replicates, with the unbiased variance; NaN where these are all the same.
pub(super) fn standardised(statistic: f64, replicates: &[f64]) -> f64 {
    let (mean, deviation) = (replicates.mean(), replicates.std_dev());
    // equal replicates have a deviation of 0 but for rounding
    if deviation > 1e-12 * mean.abs() {
        (statistic - mean) / deviation
    } else {
        f64::NAN
    }
}

/// A p-value from no replicates would always be 1.
pub(super) fn check_replicates(replicates: usize) -> Result<()> {
    check_count("the number of replicates", replicates)
}

/// A statistic that is no number compares with none.
pub(crate) fn check_statistics(values: &[f64]) -> Result<()> {
    let name = "a value of the statistic";
    let check = |&value: &f64| check_parameter(!value.is_nan(), name, value, "a number");
    values.iter().try_for_each(check)
}

/// A p-value as it is printed: equal to what is known, or at most that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Probability {
    /// The p-value.
    Equal(f64),
    /// An upper bound of the p-value.
    AtMost(f64),
}

impl Probability {
    /// A p-value from redraws: the smallest that these can give is only an upper bound.
    pub fn resampled(p: f64, redraws: usize) -> Self {
        if p <= 1.5 / (redraws + 1) as f64 {
            Self::AtMost(p)
        } else {
            Self::Equal(p)
        }
    }

    /// The sign between the p-value and the number.
    pub fn sign(&self) -> &'static str {
        match self {
            Self::Equal(_) => "=",
            Self::AtMost(_) => "≤",
        }
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, &(Self::Equal(p) | Self::AtMost(p))) = (self.sign(), self);
        match p {
            p if p >= 1e-3 => write!(f, "p {sign} {p:.3}"),
            p => write!(f, "p {sign} {p:.1e}"),
        }
    }
}
