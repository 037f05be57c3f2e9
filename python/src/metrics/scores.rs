//! Proper scores.

use burn_calibration::{
    distribution::Marginals,
    error::Result,
    estimator::{MeanEstimate, regression::Pinball},
    score::{Brier, Crps, LogScore, Spherical, WeightedIntervalScore},
};
use pyo3::prelude::*;

use super::{Estimate, unsupported};
use crate::samples::{ClassArrays, RealArrays, Reals, Sample};

/// The Brier score: of two classes half of the sum over both.
#[pyfunction]
pub fn brier_score(
    py: Python<'_>,
    data: ClassArrays<'_>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    data.compute(py, move |data| {
        let factor = match data.predictions.classes() {
            2 => 0.5,
            _ => 1.0,
        };
        Ok(Estimate::of_mean(&data.mean(&Brier)?, level)?.times(factor))
    })
}

/// The spherical score.
#[pyfunction]
pub fn spherical_score(
    py: Python<'_>,
    data: ClassArrays<'_>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    data.compute(py, move |data| {
        Estimate::of_mean(&data.mean(&Spherical)?, level)
    })
}

/// The log score of classes.
#[pyfunction]
pub fn log_loss(py: Python<'_>, data: ClassArrays<'_>, level: Option<f64>) -> PyResult<Estimate> {
    data.compute(py, move |data| {
        Estimate::of_mean(&data.mean(&LogScore)?, level)
    })
}

/// The log score of densities.
#[pyfunction]
pub fn log_loss_of_reals(
    py: Python<'_>,
    data: RealArrays<'_>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    data.compute(py, move |data| {
        let mean = match data {
            Reals::Normal(data) => data.mean(&LogScore),
            Reals::Laplace(data) => data.mean(&LogScore),
            Reals::NormalMixture(data) => data.mean(&LogScore),
            Reals::LaplaceMixture(data) => data.mean(&LogScore),
            Reals::Samples(_) | Reals::Quantiles(_) => Err(unsupported(
                "samples and quantiles have no density",
                "crps, interval_score or pinball_loss",
            )),
        };
        Estimate::of_mean(&mean?, level)
    })
}

/// The continuous ranked probability score.
#[pyfunction]
pub fn crps(py: Python<'_>, data: RealArrays<'_>, level: Option<f64>) -> PyResult<Estimate> {
    data.compute(py, move |data| {
        let mean = match data {
            Reals::Normal(data) => data.mean(&Crps),
            Reals::Laplace(data) => data.mean(&Crps),
            Reals::NormalMixture(data) => data.mean(&Crps),
            Reals::LaplaceMixture(data) => data.mean(&Crps),
            Reals::Samples(data) => data.mean(&Crps),
            Reals::Quantiles(_) => Err(unsupported(
                "quantiles have no CRPS",
                "interval_score, which approximates it",
            )),
        };
        Estimate::of_mean(&mean?, level)
    })
}

/// The weighted interval score of quantiles.
#[pyfunction]
pub fn interval_score(
    py: Python<'_>,
    data: RealArrays<'_>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    data.compute(py, move |data| {
        Estimate::of_mean(&interval_score_of(data)?, level)
    })
}

fn interval_score_of(data: &Reals) -> Result<MeanEstimate> {
    match data {
        Reals::Quantiles(data) => data.mean(&WeightedIntervalScore),
        _ => Err(unsupported(
            "the interval score is of quantiles",
            "quantiles(values, levels)",
        )),
    }
}

/// The mean pinball loss over levels: of quantiles their own.
#[pyfunction]
pub fn pinball_loss(
    py: Python<'_>,
    data: RealArrays<'_>,
    levels: Option<Vec<f64>>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    data.compute(py, move |data| {
        if let Reals::Quantiles(_) = data {
            let mean = interval_score_of(data)?;
            return Ok(Estimate::of_mean(&mean, level)?.times(0.5));
        }
        let pinball = levels.map_or_else(|| Ok(Pinball::default()), Pinball::new)?;
        let mean = match data {
            Reals::Normal(data) => mean_pinball(&pinball, data),
            Reals::Laplace(data) => mean_pinball(&pinball, data),
            Reals::NormalMixture(data) => mean_pinball(&pinball, data),
            Reals::LaplaceMixture(data) => mean_pinball(&pinball, data),
            Reals::Samples(data) => mean_pinball(&pinball, data),
            Reals::Quantiles(_) => unreachable!("returned above"),
        };
        Estimate::of_mean(&mean?, level)
    })
}

fn mean_pinball<P: Marginals>(pinball: &Pinball, data: &Sample<P>) -> Result<MeanEstimate> {
    pinball.mean(&data.predictions, &data.targets)
}
