//! The commands for programs: predictions as arrays, options as types, and answers in the place of output.

use std::path::PathBuf;

use burn_calibration::kernel::Profile;
use burn_calibration_reader::{Held, HeldColumn};

use crate::{
    args::{
        BandwidthChoice, BinArgs, CompareArgs, EvaluateArgs, FamilyName, GateArgs, KernelArgs,
        KernelShapeArgs, LabelsArgs, LengthScale, LensName, MonitorArgs, PredictionsArgs,
        ReportArgs, RowsArgs, SizeArgs, SourceArgs, TargetKernelArgs, TargetKernelName,
    },
    error::{Result, ensure},
    limits, notes,
    program::{Answer, HeldFiles},
};

/// Numbers in rows of equal length.
#[derive(Debug, Clone)]
pub struct Array {
    /// The number of columns.
    pub columns: usize,
    /// The numbers, row by row.
    pub values: Vec<f64>,
}

/// Predictions under the name that errors and notes have for them.
#[derive(Debug, Clone)]
pub struct NamedPredictions {
    /// The name.
    pub name: String,
    /// The kind of the predictions.
    pub family: FamilyName,
    /// Their parameters, one row per sample: the columns of the command's files.
    pub rows: Array,
}

/// Predictions, what occurred, and what else is known of each sample.
#[derive(Debug, Clone)]
pub struct Data {
    /// The predictions.
    pub predictions: NamedPredictions,
    /// Other predictions of the same samples, for [`compare()`] and [`report()`].
    pub after: Option<NamedPredictions>,
    /// Whether predictions of classes are logits.
    pub are_logits: bool,
    /// Whether predictions of classes are one column, the probability or the log-odds of an event.
    pub is_event: bool,
    /// Whether the classes have an order, that of the columns.
    pub are_ordered: bool,
    /// The levels of quantiles.
    pub levels: Vec<f64>,
    /// What occurred: classes from 0, or targets.
    pub outcomes: Array,
    /// The weights of the samples.
    pub weights: Option<Vec<f64>>,
    /// Variables to test calibration given these, for [`evaluate()`].
    pub given: Vec<HeldColumn>,
    /// The names of the classes; none where they are numbers.
    pub class_names: Vec<String>,
}

/// The options of [`evaluate()`].
#[derive(Debug, Clone)]
pub struct EvaluateOptions {
    /// The aspect that is tested.
    pub lens: LensName,
    /// The keys of tests in addition to the omnibus test.
    pub tests: Vec<String>,
    /// The level of the confidence intervals.
    pub level: f64,
    /// An error that is tolerated: tests whether errors are larger.
    pub tolerance: Option<f64>,
    /// The order of an Lp calibration error of which a lower bound is computed.
    pub lp_error: Option<f64>,
    /// The profile of the kernel.
    pub profile: Profile,
    /// The bandwidth of the kernel.
    pub bandwidth: BandwidthChoice,
    /// The number of bins.
    pub bins: u32,
    /// The number of redraws of the omnibus test and of resampling tests.
    pub redraws: u32,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Default for EvaluateOptions {
    fn default() -> Self {
        Self {
            lens: LensName::Canonical,
            tests: Vec::new(),
            level: LEVEL,
            tolerance: None,
            lp_error: None,
            profile: Profile::Exponential,
            bandwidth: BandwidthChoice::Median,
            bins: BinArgs::default().bins,
            redraws: limits::USUAL_REDRAWS,
            seed: 0,
        }
    }
}

/// The level of confidence intervals by default.
const LEVEL: f64 = 0.95;

/// The options of [`compare()`].
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// The level of the confidence intervals.
    pub level: f64,
    /// The number of redraws of the omnibus tests.
    pub redraws: u32,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            level: LEVEL,
            redraws: limits::USUAL_REDRAWS,
            seed: 0,
        }
    }
}

/// The options of [`report()`].
#[derive(Debug, Clone)]
pub struct ReportOptions {
    /// The title of the page.
    pub title: Option<String>,
    /// The number of bins.
    pub bins: u32,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            title: None,
            bins: BinArgs::default().bins,
            seed: 0,
        }
    }
}

/// The options of [`monitor()`]; those of a state that has rows are fixed.
#[derive(Debug, Clone, Default)]
pub struct MonitorOptions {
    /// The level of the test, 0.05 by default.
    pub level: Option<f64>,
    /// The least mean number of rows between false alarms of the detector, 10,000 by default.
    pub rows_between_alarms: Option<f64>,
}

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
/// What the command would say of the data, or a number of an option that is outside of its domain.
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
            given: (!data.given.is_empty()).then(|| PathBuf::from(GIVEN)),
            tests: options.tests.clone(),
            ordered: data.are_ordered,
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
/// What the command would say of the data, or a number of an option that is outside of its domain.
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
            ordered: data.are_ordered,
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
/// What the command would say of the data, or a number of an option that is outside of its domain.
pub fn report(
    data: Data,
    options: &ReportOptions,
    progress: impl Fn(&str, u64, u64) + Send + Sync + 'static,
) -> Result<Page, String> {
    let after = data.after.as_ref();
    let bins = BinArgs {
        bins: options.bins,
        ..BinArgs::default()
    };
    page(ReportArgs {
        predictions: Some(data.predictions.name.clone().into()),
        family: data.predictions.family,
        after: after.map(|after| after.name.clone().into()),
        after_family: after.map(|after| after.family),
        bins,
        source: data.source(options.seed, progress),
        ordered: data.are_ordered,
        ..no_report(options.title.clone())
    })
}

/// Adds rows to the state of a monitor as `calibration monitor` does: an empty text begins anew. The answer has the new
/// state.
///
/// # Errors
///
/// What the command would say of the data and the state, or a number of an option that is outside of its domain.
pub fn monitor(state: &str, data: Data, options: &MonitorOptions) -> Result<Answer, String> {
    noted(|| {
        let mut source = data.source(0, |_, _, _| ());
        source.rows.held = HeldFiles::new(data.files().chain([state_file(state)]))
            .with_class_names(data.class_names.clone());
        let args = MonitorArgs {
            state: STATE.into(),
            predictions: Some(data.predictions.name.clone().into()),
            family: data.predictions.family,
            level: options.level,
            rows_between_alarms: options.rows_between_alarms,
            source,
        };
        let (answer, state) = crate::monitor::answer(&args)?;
        let answer = Answer::new("monitor", &answer, Vec::new())?;
        Ok(Answer { state, ..answer })
    })
}

/// Makes the page of `calibration report --state` of the state of a monitor that has rows.
///
/// # Errors
///
/// A text that is no such state.
pub fn monitor_report(state: &str, title: Option<String>) -> Result<Page, String> {
    let mut args = no_report(title);
    args.source.rows.held = HeldFiles::new([state_file(state)]);
    args.state = Some(STATE.into());
    page(args)
}

/// Refuses numbers of options that the command refuses.
fn check(level: f64, redraws: u32, bins: u32) -> Result<()> {
    let is_level = level > 0.0 && level < 1.0;
    ensure!(
        is_level,
        "the level is {level}, expected a number between 0 and 1, both excluded"
    );
    let most = limits::REDRAWS;
    ensure!(
        (1..=most).contains(&redraws),
        "{redraws} redraws, expected a number from 1 to {most}"
    );
    ensure!(bins > 0, "0 bins, expected at least 1");
    Ok(())
}

impl EvaluateOptions {
    fn check(&self) -> Result<()> {
        check(self.level, self.redraws, self.bins)?;
        if let Some(error) = self.tolerance {
            let expected = "a number of at least 0 and less than 1";
            ensure!(
                (0.0..1.0).contains(&error),
                "the tolerance is {error}, expected {expected}"
            );
        }
        if let Some(order) = self.lp_error {
            ensure!(
                order.is_finite() && order >= 1.0,
                "the order of the Lp error is {order}, expected a finite number of at least 1"
            );
        }
        let is_valid = match self.bandwidth {
            BandwidthChoice::Fixed(bandwidth) => limits::SCALES.contains(&bandwidth),
            BandwidthChoice::MedianOf(samples) => (2..=limits::QUADRATIC_LIMIT).contains(&samples),
            BandwidthChoice::Median | BandwidthChoice::MedianWithDiagonal => true,
        };
        ensure!(
            is_valid,
            "the bandwidth is {:?}, expected a number from 1e-100 to 1e100, or the median over 2 to {} samples",
            self.bandwidth,
            limits::QUADRATIC_LIMIT
        );
        Ok(())
    }
}

/// The options of a report without data.
fn no_report(title: Option<String>) -> ReportArgs {
    ReportArgs {
        predictions: None,
        state: None,
        family: FamilyName::Categorical,
        after: None,
        after_family: None,
        source: SourceArgs::default(),
        bins: BinArgs::default(),
        ordered: false,
        title,
        output: PathBuf::new(),
        pictures: None,
    }
}

fn page(args: ReportArgs) -> Result<Page, String> {
    let (html, notes) = notes::kept(|| {
        check(LEVEL, limits::USUAL_REDRAWS, args.bins.bins)?;
        crate::report::html(&args)
    });
    let html = html.map_err(|error| error.to_string())?;
    Ok(Page { html, notes })
}

/// An answer with the notes that the work says.
fn noted(work: impl FnOnce() -> Result<Answer>) -> Result<Answer, String> {
    let (answer, notes) = notes::kept(work);
    let answer = answer.map_err(|error| error.to_string())?;
    Ok(Answer { notes, ..answer })
}

/// The names of arrays besides predictions.
const OUTCOMES: &str = "y_true";
const WEIGHTS: &str = "sample_weight";
const GIVEN: &str = "given";
const STATE: &str = "state";

impl Data {
    /// Predictions with what occurred, and nothing else; those of classes are probabilities.
    pub fn new(predictions: NamedPredictions, outcomes: Array) -> Self {
        Self {
            predictions,
            after: None,
            are_logits: false,
            is_event: false,
            are_ordered: false,
            levels: Vec::new(),
            outcomes,
            weights: None,
            given: Vec::new(),
            class_names: Vec::new(),
        }
    }

    /// The arrays as what files are to the command.
    fn source(
        &self,
        seed: u64,
        progress: impl Fn(&str, u64, u64) + Send + Sync + 'static,
    ) -> SourceArgs {
        let held = HeldFiles::new(self.files())
            .with_class_names(self.class_names.clone())
            .with_progress(progress);
        SourceArgs {
            labels: LabelsArgs {
                labels: Some(OUTCOMES.into()),
                weights: self.weights.is_some().then(|| WEIGHTS.into()),
                ..LabelsArgs::default()
            },
            rows: RowsArgs {
                logits: self.are_logits,
                force: true, // programs say what their arrays are
                positive: self.is_event,
                levels: self.levels.clone(),
                held,
                ..RowsArgs::default()
            },
            seed,
        }
    }

    /// The arrays by their names.
    fn files(&self) -> impl Iterator<Item = (String, Held)> {
        let array = |name: &str, array: &Array| {
            let Array { columns, values } = array.clone();
            (name.to_owned(), Held::Numbers { columns, values })
        };
        let sets = std::iter::once(&self.predictions).chain(&self.after);
        let sets = sets.map(move |set| array(&set.name, &set.rows));
        let weights = self.weights.clone().map(|values| {
            let weights = Held::Numbers { columns: 1, values };
            (WEIGHTS.to_owned(), weights)
        });
        let given = (!self.given.is_empty()).then(|| {
            let given = Held::Columns(self.given.clone());
            (GIVEN.to_owned(), given)
        });
        sets.chain([array(OUTCOMES, &self.outcomes)])
            .chain(weights)
            .chain(given)
    }
}

fn state_file(state: &str) -> (String, Held) {
    (STATE.to_owned(), Held::Text(state.to_owned()))
}
