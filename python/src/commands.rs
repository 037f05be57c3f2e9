//! Evaluations, comparisons, pages and monitors of arrays: the answers of the command `calibration`.

use burn_calibration::hypothesis::OmnibusOutcome;
use burn_calibration_cli::{
    self as answers, Array, BandwidthChoice, CompareOptions, EvaluateOptions, FamilyName, LensName,
    MonitorOptions, ReportOptions, Variable, VariableValues,
};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::{
    arrays::value_error,
    samples::Family,
    work::{self, At, Reporter},
};

/// Predictions under the name of their parameter; without a family those of classes.
#[derive(FromPyObject)]
pub struct NamedPredictions<'py> {
    name: String,
    family: Option<Family>,
    /// `[n, k]`
    rows: PyReadonlyArray2<'py, f64>,
}

/// A variable of each sample: numbers, or names of groups.
#[derive(FromPyObject)]
pub enum Column {
    Numbers(Vec<f64>),
    Groups(Vec<String>),
}

/// Predictions, what occurred, and what else is known of each sample, as attributes of an object.
#[derive(FromPyObject)]
pub struct Data<'py> {
    predictions: NamedPredictions<'py>,
    after: Option<NamedPredictions<'py>>,
    are_logits: bool,
    is_event: bool,
    levels: Vec<f64>,
    /// Classes or targets: `[n, d]`
    outcomes: PyReadonlyArray2<'py, f64>,
    /// `[n, 1]`
    weights: Option<PyReadonlyArray2<'py, f64>>,
    given: Vec<(String, Column)>,
    class_names: Vec<String>,
    are_ordered: bool,
    /// The number of each row, where others were left out before; else empty.
    rows: Vec<usize>,
}

/// The bandwidth of a kernel: a number, the median with the diagonal, else the median.
#[derive(FromPyObject)]
pub struct Bandwidth {
    number: Option<f64>,
    has_diagonal: bool,
}

/// What is tested of predictions of classes.
#[pyclass(
    eq,
    eq_int,
    frozen,
    from_py_object,
    module = "burn_calibration._native"
)]
#[derive(Clone, Copy, PartialEq)]
pub enum Lens {
    Canonical,
    TopLabel,
    ClassWise,
}

/// An answer of the library.
#[pyclass(frozen, get_all, module = "burn_calibration._native")]
pub struct Answer {
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

/// A page of HTML, and what to know of its data.
type Page = (String, Vec<String>);

impl NamedPredictions<'_> {
    fn owned(&self) -> PyResult<answers::NamedPredictions> {
        let family = match self.family {
            None => FamilyName::Categorical,
            Some(Family::Normal) => FamilyName::Normal,
            Some(Family::Laplace) => FamilyName::Laplace,
            Some(Family::NormalMixture) => FamilyName::NormalMixture,
            Some(Family::LaplaceMixture) => FamilyName::LaplaceMixture,
            Some(Family::Samples) => FamilyName::Samples,
            Some(Family::Quantiles) => FamilyName::Quantiles,
        };
        Ok(answers::NamedPredictions {
            name: self.name.clone(),
            family,
            rows: array(&self.rows)?,
        })
    }
}

impl Data<'_> {
    fn owned(self) -> PyResult<answers::Data> {
        let after = self.after.as_ref().map(NamedPredictions::owned);
        let weights = self.weights.as_ref().map(array).transpose()?;
        Ok(answers::Data {
            predictions: self.predictions.owned()?,
            after: after.transpose()?,
            are_logits: self.are_logits,
            is_event: self.is_event,
            are_ordered: self.are_ordered,
            levels: self.levels,
            outcomes: array(&self.outcomes)?,
            weights: weights.map(|weights| weights.values),
            given: self.given.into_iter().map(column).collect(),
            class_names: self.class_names,
            rows: self.rows,
        })
    }
}

fn array(array: &PyReadonlyArray2<f64>) -> PyResult<Array> {
    Ok(Array {
        columns: array.shape()[1],
        values: array.as_slice().map_err(value_error)?.to_vec(),
    })
}

fn column((name, column): (String, Column)) -> Variable {
    let values = match column {
        Column::Numbers(numbers) => VariableValues::Numbers(numbers),
        Column::Groups(groups) => VariableValues::Groups(groups),
    };
    Variable { name, values }
}

impl From<Bandwidth> for BandwidthChoice {
    fn from(bandwidth: Bandwidth) -> Self {
        match bandwidth {
            Bandwidth {
                number: Some(number),
                ..
            } => Self::Fixed(number),
            Bandwidth {
                has_diagonal: true, ..
            } => Self::MedianWithDiagonal,
            _ => Self::Median,
        }
    }
}

impl From<Lens> for LensName {
    fn from(lens: Lens) -> Self {
        match lens {
            Lens::Canonical => Self::Canonical,
            Lens::TopLabel => Self::TopLabel,
            Lens::ClassWise => Self::ClassWise,
        }
    }
}

/// The progress callback of an answer.
fn steps<T: Clone + Send + 'static>(
    reporter: &Reporter<T>,
) -> impl Fn(&str, u64, u64) + Send + Sync + use<T> {
    let reporter = reporter.clone();
    move |title: &str, step, steps| reporter.at(At::Step(title.into(), step, steps))
}

/// Tests whether a model is calibrated, and measures its errors. A callback gets `(step, steps, title)` before each step.
#[pyfunction]
#[pyo3(signature = (data, progress, *, lens, tests, level, tolerance, lp_error, kernel, bandwidth, bins, redraws, seed))]
#[allow(clippy::too_many_arguments)]
pub fn evaluate(
    py: Python<'_>,
    data: Data<'_>,
    progress: Option<Py<PyAny>>,
    lens: Lens,
    tests: Vec<String>,
    level: f64,
    tolerance: Option<f64>,
    lp_error: Option<f64>,
    kernel: Option<String>,
    bandwidth: Bandwidth,
    bins: Option<u32>,
    redraws: Option<u32>,
    seed: u64,
) -> PyResult<Answer> {
    let usual = EvaluateOptions::default();
    let profile = kernel.map(|kernel| kernel.parse().map_err(value_error));
    let options = EvaluateOptions {
        lens: lens.into(),
        tests,
        level,
        tolerance,
        lp_error,
        profile: profile.transpose()?.unwrap_or(usual.profile),
        bandwidth: bandwidth.into(),
        bins: bins.unwrap_or(usual.bins),
        redraws: redraws.unwrap_or(usual.redraws),
        seed,
    };
    let data = data.owned()?;
    let answer = work::run(py, progress, move |reporter| {
        answers::evaluate(data, &options, steps(reporter))
    })?;
    Ok(answer.map_err(value_error)?.into())
}

/// Compares predictions with those after, of the same samples; the callback is that of `evaluate`.
#[pyfunction]
#[pyo3(signature = (data, progress, *, level, redraws, seed))]
pub fn compare(
    py: Python<'_>,
    data: Data<'_>,
    progress: Option<Py<PyAny>>,
    level: f64,
    redraws: Option<u32>,
    seed: u64,
) -> PyResult<Answer> {
    let usual = CompareOptions::default();
    let redraws = redraws.unwrap_or(usual.redraws);
    let options = CompareOptions {
        level,
        redraws,
        seed,
    };
    let data = data.owned()?;
    let answer = work::run(py, progress, move |reporter| {
        answers::compare(data, &options, steps(reporter))
    })?;
    Ok(answer.map_err(value_error)?.into())
}

/// Makes a page with numbers and diagrams; the callback is that of `evaluate`.
#[pyfunction]
#[pyo3(signature = (data, progress, *, title, bins, seed))]
pub fn report(
    py: Python<'_>,
    data: Data<'_>,
    progress: Option<Py<PyAny>>,
    title: Option<String>,
    bins: Option<u32>,
    seed: u64,
) -> PyResult<Page> {
    let bins = bins.unwrap_or(ReportOptions::default().bins);
    let options = ReportOptions { title, bins, seed };
    let data = data.owned()?;
    let page = work::run(py, progress, move |reporter| {
        answers::report(data, &options, steps(reporter))
    })?;
    let page = page.map_err(value_error)?;
    Ok((page.html, page.notes))
}

/// Adds rows to the state of a monitor, of which an empty one is new.
#[pyfunction]
#[pyo3(signature = (state, data, *, level, rows_between_alarms))]
pub fn monitor(
    py: Python<'_>,
    state: String,
    data: Data<'_>,
    level: f64,
    rows_between_alarms: f64,
) -> PyResult<Answer> {
    let options = MonitorOptions {
        level: Some(level),
        rows_between_alarms: Some(rows_between_alarms),
    };
    let data = data.owned()?;
    let answer = work::run(py, None, move |_| answers::monitor(&state, data, &options))?;
    Ok(answer.map_err(value_error)?.into())
}

/// Makes a page of the state of a monitor.
#[pyfunction]
pub fn monitor_report(py: Python<'_>, state: String, title: Option<String>) -> PyResult<Page> {
    let page = work::run(py, None, move |_| {
        answers::monitor_report(&state, title.as_deref())
    })?;
    let page = page.map_err(value_error)?;
    Ok((page.html, page.notes))
}

impl From<answers::Answer> for Answer {
    fn from(answer: answers::Answer) -> Self {
        let outcomes: Vec<Value> = answer.outcomes.iter().map(outcome).collect();
        Self {
            json: answer.json,
            text: answer.text,
            outcomes: Value::from(outcomes).to_string(),
            state: answer.state,
            notes: answer.notes,
        }
    }
}

fn outcome((of, outcome): &(String, Result<OmnibusOutcome, String>)) -> Value {
    match outcome {
        Ok(outcome) => json!({
            "of": of,
            "verdict": outcome.verdict(),
            "p_value": outcome.p_value,
            "adjusted_p_value": outcome.adjusted_p_value,
            "findings": outcome.failing(outcome.level()),
        }),
        Err(reason) => json!({ "of": of, "error": reason }),
    }
}
