//! Estimates, scores, tests and curves of arrays: each function makes a value of the library and applies it.

pub mod curves;
pub mod errors;
pub mod scores;
pub mod significance;

use burn_calibration::{
    error::{Error, Result},
    estimator::{Binning, Interval},
    kernel::{Bandwidth, Kernel},
};
use pyo3::prelude::*;

/// An estimate with its confidence interval, where one is asked for.
#[derive(IntoPyObject)]
pub struct Estimate {
    estimate: f64,
    lower: Option<f64>,
    upper: Option<f64>,
}

impl Estimate {
    pub fn new(
        estimate: f64,
        level: Option<f64>,
        interval: impl FnOnce(f64) -> Result<Interval>,
    ) -> Result<Self> {
        let interval = level.map(interval).transpose()?;
        Ok(Self {
            estimate,
            lower: interval.map(|interval| interval.lower),
            upper: interval.map(|interval| interval.upper),
        })
    }

    fn times(self, factor: f64) -> Self {
        Self {
            estimate: factor * self.estimate,
            lower: self.lower.map(|lower| factor * lower),
            upper: self.upper.map(|upper| factor * upper),
        }
    }
}

/// Bins of a probability.
#[derive(FromPyObject)]
pub struct Bins {
    bins: usize,
    is_equal_mass: bool,
}

impl From<Bins> for Binning {
    fn from(
        Bins {
            bins,
            is_equal_mass,
        }: Bins,
    ) -> Self {
        if is_equal_mass {
            Self::EqualMass { bins }
        } else {
            Self::Uniform { bins }
        }
    }
}

/// The exponential kernel over total variation, with a bandwidth or the median one.
fn kernel(bandwidth: Option<f64>) -> Kernel {
    Kernel::exponential().with_bandwidth(bandwidth.map_or(Bandwidth::Median, Bandwidth::Fixed))
}

/// The error of predictions without a quantity.
fn unsupported(what: &str, expected: &'static str) -> Error {
    let what = what.into();
    Error::Unsupported { what, expected }
}
