//! Calibration errors of classes.

use burn_calibration::{
    estimator::{Cwce, Mmce, MmceForm, Skce, SmoothEce, Tce, TceForm},
    score::{ObservedExpected, Overconfidence},
};
use pyo3::prelude::*;

use super::{Bins, Estimate, kernel};
use crate::samples::ClassArrays;

/// The error of the event in bins, of an order.
#[pyfunction]
pub fn ece(py: Python<'_>, data: ClassArrays<'_>, bins: Bins, order: f64) -> PyResult<f64> {
    let form = TceForm::PlugIn { order };
    let tce = Tce::default().with_binning(bins.into()).with_form(form);
    data.compute(py, move |data| data.estimate(&tce.with_event(data.event())))
}

/// The mean error of each class against the rest in bins, of an order.
#[pyfunction]
pub fn class_wise_ece(
    py: Python<'_>,
    data: ClassArrays<'_>,
    bins: Bins,
    order: f64,
) -> PyResult<f64> {
    let cwce = Cwce::new(order).with_binning(bins.into());
    data.compute(py, move |data| data.estimate(&cwce))
}

/// The unbiased error of the event of order 2 in bins.
#[pyfunction]
pub fn debiased_ece(
    py: Python<'_>,
    data: ClassArrays<'_>,
    bins: Bins,
    level: Option<f64>,
) -> PyResult<Estimate> {
    let tce = Tce::default().with_binning(bins.into());
    data.compute(py, move |data| {
        let size = data.size(&tce.with_event(data.event()))?;
        Estimate::new(size.estimate, level, |level| size.interval(level))
    })
}

/// The smooth error of the event.
#[pyfunction]
pub fn smooth_ece(py: Python<'_>, data: ClassArrays<'_>) -> PyResult<f64> {
    data.compute(py, |data| data.estimate(&SmoothEce::new(data.event())))
}

/// The squared maximum mean calibration error of the top label.
#[pyfunction]
pub fn squared_mmce(
    py: Python<'_>,
    data: ClassArrays<'_>,
    bandwidth: f64,
    is_unbiased: bool,
) -> PyResult<f64> {
    let form = if is_unbiased {
        MmceForm::Unbiased
    } else {
        MmceForm::Unweighted
    };
    let mmce = Mmce {
        bandwidth,
        ..Mmce::new(form)
    };
    data.compute(py, move |data| data.estimate(&mmce))
}

/// The squared kernel calibration error of all classes: unbiased, biased, or over blocks of samples.
#[pyfunction]
pub fn squared_kernel_error(
    py: Python<'_>,
    data: ClassArrays<'_>,
    bandwidth: Option<f64>,
    is_biased: bool,
    block: Option<usize>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    let kernel = kernel(bandwidth);
    let skce = match block {
        Some(size) => Skce::block(kernel, size),
        None if is_biased => Skce::biased(kernel),
        None => Skce::unbiased(kernel),
    };
    data.compute(py, move |data| match level {
        None => Estimate::new(data.estimate(&skce)?, None, |_| unreachable!("no level")),
        Some(_) => {
            let size = data.size(&skce)?;
            Estimate::new(size.estimate, level, |level| size.interval(level))
        }
    })
}

/// The mean probability of the event less its frequency.
#[pyfunction]
pub fn overconfidence(
    py: Python<'_>,
    data: ClassArrays<'_>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    data.compute(py, move |data| {
        let event = data.event();
        let size = data.size(&Overconfidence { event })?;
        Estimate::new(size.estimate, level, |level| size.interval(level))
    })
}

/// The frequency of the event over its mean probability.
#[pyfunction]
pub fn observed_over_expected(
    py: Python<'_>,
    data: ClassArrays<'_>,
    level: Option<f64>,
) -> PyResult<Estimate> {
    data.compute(py, move |data| {
        let (predictions, labels) = (&data.predictions, &data.targets);
        let at = level.unwrap_or(0.95);
        let interval = ObservedExpected::interval(data.one_event(), predictions, labels, at)?;
        Estimate::new(interval.estimate, level, |_| Ok(interval))
    })
}
