//! Proper scores.

use burn_calibration::{
    distribution::Marginals,
    error::Result,
    estimator::regression::Pinball,
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
        Ok(data.score(&Brier, level)?.times(factor))
    })
}

/// The spherical score.
#[pyfunction]
pub fn spherical_score(
    py: Python<'_>,
    data: ClassArrays<'_>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    data.compute(py, move |data| data.score(&Spherical, level))
}

/// The log score of classes.
#[pyfunction]
pub fn log_loss(py: Python<'_>, data: ClassArrays<'_>, level: Option<f64>) -> PyResult<Estimate> {
    data.compute(py, move |data| data.score(&LogScore, level))
}

/// The log score of densities.
#[pyfunction]
pub fn log_loss_of_reals(
    py: Python<'_>,
    data: RealArrays<'_>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    data.compute(py, move |data| match data {
        Reals::Normal(data) => data.score(&LogScore, level),
        Reals::Laplace(data) => data.score(&LogScore, level),
        Reals::NormalMixture(data) => data.score(&LogScore, level),
        Reals::LaplaceMixture(data) => data.score(&LogScore, level),
        Reals::Samples(_) | Reals::Quantiles(_) => Err(unsupported(
            "samples and quantiles have no density",
            "crps, interval_score or pinball_loss",
        )),
    })
}

/// The continuous ranked probability score.
#[pyfunction]
pub fn crps(py: Python<'_>, data: RealArrays<'_>, level: Option<f64>) -> PyResult<Estimate> {
    data.compute(py, move |data| match data {
        Reals::Normal(data) => data.score(&Crps, level),
        Reals::Laplace(data) => data.score(&Crps, level),
        Reals::NormalMixture(data) => data.score(&Crps, level),
        Reals::LaplaceMixture(data) => data.score(&Crps, level),
        Reals::Samples(data) => data.score(&Crps, level),
        Reals::Quantiles(_) => Err(unsupported(
            "quantiles have no CRPS",
            "interval_score, which approximates it",
        )),
    })
}

/// The weighted interval score of quantiles.
#[pyfunction]
pub fn interval_score(
    py: Python<'_>,
    data: RealArrays<'_>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    data.compute(py, move |data| interval_score_of(data, level))
}

fn interval_score_of(data: &Reals, level: Option<f64>) -> Result<Estimate> {
    match data {
        Reals::Quantiles(data) => data.score(&WeightedIntervalScore, level),
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
            return Ok(interval_score_of(data, level)?.times(0.5));
        }
        let pinball = levels.map_or_else(|| Ok(Pinball::default()), Pinball::new)?;
        match data {
            Reals::Normal(data) => score_by_pinball(&pinball, data, level),
            Reals::Laplace(data) => score_by_pinball(&pinball, data, level),
            Reals::NormalMixture(data) => score_by_pinball(&pinball, data, level),
            Reals::LaplaceMixture(data) => score_by_pinball(&pinball, data, level),
            Reals::Samples(data) => score_by_pinball(&pinball, data, level),
            Reals::Quantiles(_) => unreachable!("returned above"),
        }
    })
}

fn score_by_pinball<P: Marginals>(
    pinball: &Pinball,
    data: &Sample<P>,
    level: Option<f64>,
) -> Result<Estimate> {
    let mean = pinball.mean(&data.predictions, &data.targets)?;
    Estimate::new(mean.estimate, level, |level| {
        pinball.interval(&data.predictions, &data.targets, level)
    })
}
