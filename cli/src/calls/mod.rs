//! The commands for programs: predictions as arrays, options as types, and answers in the place of output.

mod data;
mod options;

pub use data::{Array, Data, NamedPredictions, Variable, VariableValues};
pub use options::{CompareOptions, EvaluateOptions, MonitorOptions, ReportOptions};

use std::path::{Path, PathBuf};

use burn_calibration::kernel::Profile;

use crate::{
    args::{
        BandwidthChoice, BinArgs, CompareArgs, EvaluateArgs, GateArgs, KernelArgs, KernelShapeArgs,
        LengthScale, MonitorArgs, PredictionsArgs, ReportArgs, SizeArgs, TargetKernelArgs,
        TargetKernelName,
    },
    error::{Result, wrong},
    limits,
    monitor::State,
    notes,
    program::Answer,
};
use options::{USUAL_LEVEL, check};

/// A page of HTML.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Page {
    /// The text of the page.
    pub html: String,
    /// Notes about the data.
    pub notes: Vec<String>,
}

/// Answers as `calibration evaluate --verbose` does. The callback gets `(title, step, steps)` before each step, of which
/// the first is 0. A panic of it ends the work, and reaches the caller.
///
/// ```
/// use burn_calibration_cli::{Array, Data, EvaluateOptions, FamilyName, NamedPredictions, evaluate};
///
/// let array = |columns, values| Array { columns, values };
/// let predictions = NamedPredictions {
///     name: "probabilities".into(),
///     family: FamilyName::Categorical,
///     rows: array(2, [0.9, 0.1].repeat(100)),
/// };
/// let data = Data::new(predictions, array(1, [0.0, 1.0].repeat(50)));
/// let answer = evaluate(data, &EvaluateOptions::default(), |_, _, _| ()).unwrap();
/// assert!(answer.outcomes[0].1.as_ref().unwrap().p_value < 0.01); // half of them are wrong
/// ```
///
/// # Errors
///
/// The message of the command about the data, or a number of an option that is outside of its domain.
pub fn evaluate(
    data: Data,
    options: &EvaluateOptions,
    progress: impl Fn(&str, u64, u64) + Send + Sync + 'static,
) -> Result<Answer, String> {
    noted(|| {
        options.check()?;
        let args = EvaluateArgs {
            input: PredictionsArgs {
                predictions: data.predictions.name.clone().into(),
                family: data.predictions.family,
            },
            lens: options.lens,
            given: None,
            tests: options.tests.clone(),
            order: data.order(),
            gate: GateArgs::default(),
            sizes: SizeArgs {
                tolerance: options.tolerance,
                level: options.level,
                lp_error: options.lp_error,
            },
            source: data.source(options.seed, progress),
            redraws: options.redraws,
            bins: BinArgs {
                bins: options.bins,
                ..BinArgs::default()
            },
            kernel: KernelArgs {
                shape: KernelShapeArgs {
                    profile: options.profile,
                    distance: None,
                },
                bandwidth: options.bandwidth,
            },
            targets: TargetKernelArgs {
                target_kernel: TargetKernelName::Gaussian,
                length_scale: LengthScale::Median,
            },
            verbose: true,
        };
        let evaluation = crate::evaluate::run(&args)?;
        Answer::new("evaluate", &evaluation, evaluation.outcomes())
    })
}

/// Compares two sets of predictions as `calibration compare` does; the callback is that of [`evaluate()`].
///
/// # Errors
///
/// The message of the command about the data, or a number of an option that is outside of its domain.
pub fn compare(
    data: Data,
    options: &CompareOptions,
    progress: impl Fn(&str, u64, u64) + Send + Sync + 'static,
) -> Result<Answer, String> {
    noted(|| {
        check(options.level, options.redraws, BinArgs::default().bins)?;
        let after = data.after.as_ref();
        let args = CompareArgs {
            before: Some(data.predictions.name.clone().into()),
            after: after.map(|after| after.name.clone().into()),
            predictions: None,
            models: Vec::new(),
            family: data.predictions.family,
            after_family: after.map(|after| after.family),
            order: data.order(),
            sizes: SizeArgs {
                tolerance: None,
                level: options.level,
                lp_error: None,
            },
            kernel: KernelArgs {
                shape: KernelShapeArgs {
                    profile: Profile::Exponential,
                    distance: None,
                },
                bandwidth: BandwidthChoice::Median,
            },
            bins: BinArgs::default(),
            redraws: options.redraws,
            source: data.source(options.seed, progress),
        };
        let comparison = crate::compare::run(&args)?;
        Answer::new("compare", &comparison, comparison.outcomes())
    })
}

/// Makes the page of `calibration report`; the callback is that of [`evaluate()`].
///
/// # Errors
///
/// The message of the command about the data, or a number of an option that is outside of its domain.
pub fn report(
    data: Data,
    options: &ReportOptions,
    progress: impl Fn(&str, u64, u64) + Send + Sync + 'static,
) -> Result<Page, String> {
    kept_page(|| {
        check(USUAL_LEVEL, limits::USUAL_REDRAWS, options.bins)?;
        let after = data.after.as_ref();
        crate::report::html(&ReportArgs {
            predictions: Some(data.predictions.name.clone().into()),
            state: None,
            family: data.predictions.family,
            after: after.map(|after| after.name.clone().into()),
            after_family: after.map(|after| after.family),
            bins: BinArgs {
                bins: options.bins,
                ..BinArgs::default()
            },
            order: data.order(),
            source: data.source(options.seed, progress),
            title: options.title.clone(),
            output: PathBuf::new(),
            pictures: None,
        })
    })
}

/// Adds rows to the state of a monitor as `calibration monitor` does: an empty text begins anew. The answer has the new
/// state.
///
/// # Errors
///
/// The message of the command about the data and the state, or a number of an option that is outside of its domain.
pub fn monitor(state: &str, data: Data, options: &MonitorOptions) -> Result<Answer, String> {
    noted(|| {
        let args = MonitorArgs {
            state: STATE.into(),
            predictions: Some(data.predictions.name.clone().into()),
            family: data.predictions.family,
            level: options.level,
            rows_between_alarms: options.rows_between_alarms,
            source: data.source(0, |_, _, _| ()),
        };
        let state = State::parse(&args.state, state.as_bytes())?;
        let (answer, state) = crate::monitor::answer(&args, state)?;
        let answer = Answer::new("monitor", &answer, Vec::new())?;
        Ok(Answer { state, ..answer })
    })
}

/// Makes the page of `calibration report --state` of the state of a monitor that has rows.
///
/// # Errors
///
/// A text that is no such state.
pub fn monitor_report(state: &str, title: Option<&str>) -> Result<Page, String> {
    let page = || {
        let state = State::parse(Path::new(STATE), state.as_bytes())?;
        let state =
            state.ok_or_else(|| wrong!("{STATE}: no rows, expected a state that has some"))?;
        Ok(state.report_under(title).to_html())
    };
    kept_page(page)
}

/// A page with the notes that the work says.
fn kept_page(work: impl FnOnce() -> Result<String>) -> Result<Page, String> {
    let (html, notes) = notes::kept(work);
    let html = html.map_err(|error| error.to_string())?;
    Ok(Page { html, notes })
}

/// The name of a state in errors.
const STATE: &str = "state";

/// An answer with the notes that the work says.
fn noted(work: impl FnOnce() -> Result<Answer>) -> Result<Answer, String> {
    let (answer, notes) = notes::kept(work);
    let answer = answer.map_err(|error| error.to_string())?;
    Ok(Answer { notes, ..answer })
}
