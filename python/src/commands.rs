//! The answers of the command `calibration` about arrays.

use burn_calibration::hypothesis::OmnibusOutcome;
use burn_calibration_cli::{Answer, Held, HeldFiles};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::{
    arrays::value_error,
    work::{self, At},
};

/// A file that is in memory: the text of a table, or an array in double precision.
#[derive(FromPyObject)]
pub enum File<'py> {
    Text(String),
    Array(PyReadonlyArray2<'py, f64>),
}

impl File<'_> {
    fn held(self) -> PyResult<Held> {
        Ok(match self {
            Self::Text(text) => Held::Text(text),
            Self::Array(array) => Held::Numbers {
                columns: array.shape()[1],
                values: array.as_slice().map_err(value_error)?.to_vec(),
            },
        })
    }
}

/// Answers `evaluate`, `compare` or `report` with options that name files in memory: the JSON of the command, its
/// text, and the omnibus tests as JSON, each with what it is `of`, its verdict, p-value and findings, or an error. A
/// callback gets `(step, steps, title)` before each step.
#[pyfunction]
#[pyo3(signature = (options, files, progress=None))]
pub fn answer(
    py: Python<'_>,
    options: Vec<String>,
    files: Vec<(String, File<'_>)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String, String)> {
    let held = |(name, file): (String, File)| Ok((name, file.held()?));
    let files: Vec<(String, Held)> = files.into_iter().map(held).collect::<PyResult<_>>()?;
    let files = HeldFiles::new(files);
    let answer = work::run(py, progress, move |reporter| {
        let reporter = reporter.clone();
        let told = move |title: &str, step, steps| reporter.at(At::Step(title.into(), step, steps));
        burn_calibration_cli::answer(options, files.with_progress(told))
    })?;
    let Answer {
        json,
        text,
        outcomes,
        ..
    } = answer.map_err(value_error)?;
    let outcomes: Vec<Value> = outcomes.iter().map(outcome).collect();
    Ok((json, text, Value::from(outcomes).to_string()))
}

/// Answers `monitor` with options that name files in memory, the state among them: the JSON of the command, its text, and
/// the new state.
#[pyfunction]
pub fn monitor(
    py: Python<'_>,
    options: Vec<String>,
    files: Vec<(String, File<'_>)>,
) -> PyResult<(String, String, String)> {
    let held = |(name, file): (String, File)| Ok((name, file.held()?));
    let files: Vec<(String, Held)> = files.into_iter().map(held).collect::<PyResult<_>>()?;
    let files = HeldFiles::new(files);
    let answer = work::run(py, None, move |_| {
        burn_calibration_cli::answer(options, files)
    })?;
    let answer = answer.map_err(value_error)?;
    Ok((answer.json, answer.text, answer.state))
}

fn outcome((of, outcome): &(String, Result<OmnibusOutcome, String>)) -> Value {
    match outcome {
        Ok(outcome) => json!({
            "of": of,
            "verdict": outcome.verdict(),
            "p_value": outcome.p_value,
            "adjusted_p_value": outcome.adjusted_p_value,
            "findings": outcome.failing(OmnibusOutcome::LEVEL),
        }),
        Err(reason) => json!({ "of": of, "error": reason }),
    }
}
