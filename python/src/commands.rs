//! The answers of the command `calibration` about arrays.

use burn_calibration::hypothesis::OmnibusOutcome;
use burn_calibration_cli::{Answer, Held, HeldColumn, HeldFiles, HeldValues};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::{
    arrays::value_error,
    work::{self, At},
};

/// A file that is in memory: text, an array in double precision, or columns with their names.
#[derive(FromPyObject)]
pub enum File<'py> {
    Text(String),
    Array(PyReadonlyArray2<'py, f64>),
    Columns(Vec<(String, Column)>),
}

/// A column of numbers, or of names of groups.
#[derive(FromPyObject)]
pub enum Column {
    Numbers(Vec<f64>),
    Groups(Vec<String>),
}

/// What the command says.
#[pyclass(frozen, get_all, module = "burn_calibration._native")]
pub struct Told {
    /// The JSON.
    json: String,
    text: String,
    /// The omnibus tests as JSON, each with what it is `of`, its verdict, p-value and findings, or an error.
    outcomes: String,
    /// The new state of `monitor`.
    state: String,
    /// What to know of the data, each on one line.
    notes: Vec<String>,
}

impl File<'_> {
    fn held(self) -> PyResult<Held> {
        Ok(match self {
            Self::Text(text) => Held::Text(text),
            Self::Array(array) => Held::Numbers {
                columns: array.shape()[1],
                values: array.as_slice().map_err(value_error)?.to_vec(),
            },
            Self::Columns(columns) => Held::Columns(columns.into_iter().map(held_column).collect()),
        })
    }
}

fn held_column((name, column): (String, Column)) -> HeldColumn {
    let values = match column {
        Column::Numbers(numbers) => HeldValues::Numbers(numbers),
        Column::Groups(groups) => HeldValues::Groups(groups),
    };
    HeldColumn { name, values }
}

/// Answers `evaluate`, `compare`, `report` or `monitor` with options that name files in memory, the state among them. Of
/// names of classes labels are the places. A callback gets `(step, steps, title)` before each step.
#[pyfunction]
#[pyo3(signature = (options, files, classes=vec![], progress=None))]
pub fn answer(
    py: Python<'_>,
    options: Vec<String>,
    files: Vec<(String, File<'_>)>,
    classes: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Told> {
    let held = |(name, file): (String, File)| Ok((name, file.held()?));
    let files: Vec<(String, Held)> = files.into_iter().map(held).collect::<PyResult<_>>()?;
    let files = HeldFiles::new(files).with_class_names(classes);
    let answer = work::run(py, progress, move |reporter| {
        let reporter = reporter.clone();
        let told = move |title: &str, step, steps| reporter.at(At::Step(title.into(), step, steps));
        burn_calibration_cli::answer(options, files.with_progress(told))
    })?;
    let Answer {
        json,
        text,
        outcomes,
        state,
        notes,
        ..
    } = answer.map_err(value_error)?;
    let outcomes: Vec<Value> = outcomes.iter().map(outcome).collect();
    Ok(Told {
        json,
        text,
        outcomes: Value::from(outcomes).to_string(),
        state,
        notes,
    })
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
