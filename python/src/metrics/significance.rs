//! Tests of calibration.

use burn_calibration::{
    distribution::Categorical,
    error::Result,
    estimator::Skce,
    hypothesis::{
        AsymptoticSkceTest, CalibrationTest, ExactTest, HosmerLemeshow, OmnibusTest, Spiegelhalter,
        Statistic, Summarised, TestOutcome,
    },
};
use pyo3::prelude::*;

use super::kernel;
use crate::samples::{ClassArrays, RealArrays, Reals, Sample};

/// The statistic of a test, its p-value, and the reason not to rely on it.
#[derive(IntoPyObject)]
pub struct Tested {
    statistic: f64,
    pvalue: f64,
    caveat: Option<String>,
}

impl From<TestOutcome> for Tested {
    fn from(outcome: TestOutcome) -> Self {
        Self {
            statistic: outcome.statistic,
            pvalue: outcome.p_value,
            caveat: outcome.caveat,
        }
    }
}

/// The omnibus test of classes.
#[pyfunction]
pub fn omnibus_test(
    py: Python<'_>,
    data: ClassArrays<'_>,
    redraws: Option<usize>,
    seed: u64,
) -> PyResult<Tested> {
    let test = omnibus(redraws);
    data.compute(py, move |data| Ok(data.test(&test, seed)?.into()))
}

/// The omnibus test of predictions of real numbers.
#[pyfunction]
pub fn omnibus_test_of_reals(
    py: Python<'_>,
    data: RealArrays<'_>,
    redraws: Option<usize>,
    seed: u64,
) -> PyResult<Tested> {
    let test = omnibus(redraws);
    data.compute(py, move |data| {
        let outcome = match data {
            Reals::Normal(data) => data.test(&test, seed),
            Reals::Laplace(data) => data.test(&test, seed),
            Reals::NormalMixture(data) => data.test(&test, seed),
            Reals::LaplaceMixture(data) => data.test(&test, seed),
            Reals::Samples(data) => data.test(&test, seed),
            Reals::Quantiles(data) => data.test(&test, seed),
        };
        Ok(outcome?.into())
    })
}

/// With exactly so many redraws, or with more where the p-value is near the level.
fn omnibus(redraws: Option<usize>) -> Summarised {
    let test = OmnibusTest::new();
    Summarised(redraws.map_or(test, |redraws| test.with_redraws(redraws)))
}

/// Spiegelhalter's test, by the normal distribution or by redraws.
#[pyfunction]
pub fn spiegelhalter_test(
    py: Python<'_>,
    data: ClassArrays<'_>,
    redraws: Option<usize>,
    seed: u64,
) -> PyResult<Tested> {
    data.compute(py, move |data| {
        exact_or_asymptotic(data, Spiegelhalter::new(data.one_event()), redraws, seed)
    })
}

/// The test of Hosmer and Lemeshow, by the χ² distribution or by redraws.
#[pyfunction]
pub fn hosmer_lemeshow_test(
    py: Python<'_>,
    data: ClassArrays<'_>,
    groups: usize,
    redraws: Option<usize>,
    seed: u64,
) -> PyResult<Tested> {
    data.compute(py, move |data| {
        let test = HosmerLemeshow::new(data.one_event()).with_groups(groups);
        exact_or_asymptotic(data, test, redraws, seed)
    })
}

fn exact_or_asymptotic(
    data: &Sample<Categorical>,
    test: impl CalibrationTest + Statistic,
    redraws: Option<usize>,
    seed: u64,
) -> Result<Tested> {
    let outcome = match redraws {
        None => data.test(&test, seed),
        Some(redraws) => data.test(&ExactTest::new(test).with_replicates(redraws), seed),
    };
    Ok(outcome?.into())
}

/// The test of the unbiased kernel calibration error, by a gamma distribution or by redraws.
#[pyfunction]
pub fn skce_test(
    py: Python<'_>,
    data: ClassArrays<'_>,
    bandwidth: Option<f64>,
    redraws: Option<usize>,
    seed: u64,
) -> PyResult<Tested> {
    let kernel = kernel(bandwidth);
    data.compute(py, move |data| {
        let exact = ExactTest::new(Skce::unbiased(kernel));
        let outcome = match redraws {
            None => data.test(&AsymptoticSkceTest::new(kernel), seed),
            Some(redraws) => data.test(&exact.with_replicates(redraws), seed),
        };
        Ok(outcome?.into())
    })
}
