//! p-values by resampling.

use burn::tensor::DType;

use crate::error::{Error, Result};

/// `(1 + #{T* ≥ T})/(1 + R)`.
pub(super) fn resampling_p_value(statistic: f64, replicates: &[f64]) -> f64 {
    let exceeding = replicates.iter().filter(|&&t| t >= statistic).count();
    (1 + exceeding) as f64 / (1 + replicates.len()) as f64
}

/// The same for a discrete statistic: replicates that equal it count even where rounding in the
/// given precision made them less.
pub(super) fn discrete_p_value(statistic: f64, replicates: &[f64], dtype: DType) -> f64 {
    let largest = replicates
        .iter()
        .fold(statistic.abs(), |largest, t| largest.max(t.abs()));
    let rounding = match dtype {
        DType::F64 => 1e-9,
        _ => 1e-5,
    };
    resampling_p_value(statistic - rounding * largest, replicates)
}

/// A p-value from no replicates would always be 1.
pub(super) fn check_replicates(replicates: usize) -> Result<()> {
    match replicates {
        0 => Err(Error::Parameter {
            name: "the number of replicates",
            value: 0.0,
            expected: "at least 1",
        }),
        _ => Ok(()),
    }
}

/// A statistic that is no number compares with none.
pub(super) fn check_statistics(values: &[f64]) -> Result<()> {
    match values.iter().find(|value| value.is_nan()) {
        Some(&value) => Err(Error::Parameter {
            name: "a value of the statistic",
            value,
            expected: "a number",
        }),
        None => Ok(()),
    }
}
