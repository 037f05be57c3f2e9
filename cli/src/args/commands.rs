//! The arguments of each subcommand.

use std::path::PathBuf;

use burn_calibration::recalibration::{DistributionMethod, MapKind};
use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser},
};

use super::{options::*, values::*};
use crate::{
    fit::CONFORMAL,
    limits::{REDRAWS, USUAL_REDRAWS},
    quantities::test_keys,
};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration evaluate --predictions probs.csv --labels labels.csv\n  calibration evaluate --predictions all.csv --label-column y --columns p0..p9\n  calibration evaluate --predictions logits.npy --logits --labels y.npy --json\n  calibration evaluate --family normal --predictions mean_sd.csv --targets y.csv\n  calibration evaluate --predictions probs.csv --labels labels.csv --fail-above 0.02 || exit 1"
)]
pub struct EvaluateArgs {
    #[command(flatten)]
    pub input: PredictionsArgs,

    /// What to test: the whole vector of probabilities, the top label, or each class
    #[arg(long, value_enum, default_value_t = LensName::Canonical, help_heading = "What is asked")]
    pub lens: LensName,

    /// Also test calibration given these variables, such as age and sex
    ///
    /// A table with a header, in the same formats, with one row per sample; it may be the file of the predictions.
    /// Without columns it is all of them but predictions, ids and labels. Each value of a text column is a group.
    /// Numbers are compared by a kernel, and split into quarters
    #[arg(long, value_name = "FILE[:COLUMNS]", help_heading = "What is asked")]
    pub given: Option<PathBuf>,

    /// A test to run in addition to the omnibus test; repeatable
    #[arg(long = "test", value_name = "TEST", value_parser = PossibleValuesParser::new(test_keys()), help_heading = "What is asked")]
    pub tests: Vec<String>,

    /// The classes have an order, that of the columns, such as grades: also the ranked probability score
    #[arg(
        long,
        conflicts_with_all = ["positive", "confidence_correctness"],
        help_heading = "What is asked",
        hide_short_help = true
    )]
    pub ordered: bool,

    #[command(flatten)]
    pub gate: GateArgs,

    #[command(flatten)]
    pub sizes: SizeArgs,

    #[command(flatten)]
    pub source: SourceArgs,

    /// Number of redraws of the omnibus test and of resampling tests
    ///
    /// The omnibus test draws up to ten times as many if its p-value is near 5 %
    #[arg(long, alias = "replicates", default_value_t = USUAL_REDRAWS, value_parser = clap::value_parser!(u32).range(1..=REDRAWS.into()), help_heading = "Numbers")]
    pub redraws: u32,

    #[command(flatten)]
    pub bins: BinArgs,

    #[command(flatten)]
    pub kernel: KernelArgs,

    #[command(flatten)]
    pub targets: TargetKernelArgs,

    /// Print all findings, aspects, scores and other estimates, and not the answer alone
    #[arg(long, help_heading = "Output")]
    pub verbose: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration compare --before probs.csv --after better.csv --labels labels.csv\n  calibration compare --predictions all.csv --models forest,net --label-column y\n  calibration compare --family normal --after-family normal-mixture --before p.csv --after q.csv --targets y.csv"
)]
pub struct CompareArgs {
    /// The first predictions, in the same formats as for evaluate
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "models",
        requires = "after",
        help_heading = "Input"
    )]
    pub before: Option<PathBuf>,

    /// The second predictions, of the same samples in the same order
    #[arg(long, value_name = "FILE", requires = "before", help_heading = "Input")]
    pub after: Option<PathBuf>,

    /// Predictions of several models in one file, see --models
    #[arg(long, value_name = "FILE", requires = "models", help_heading = "Input")]
    pub predictions: Option<PathBuf>,

    /// Names of the models
    ///
    /// The columns of a model begin with its name: a,b for the columns a_0,a_1,b_0,b_1 of --predictions. All pairs of
    /// models are compared
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "predictions", conflicts_with_all = ["before", "after", "after_family", "columns"], help_heading = "Input")]
    pub models: Vec<String>,

    /// Kind of the predictions
    #[arg(long, value_enum, default_value_t = FamilyName::Categorical, help_heading = "Input")]
    pub family: FamilyName,

    /// Kind of the second predictions, if it differs
    #[arg(long, value_enum, help_heading = "Input", hide_short_help = true)]
    pub after_family: Option<FamilyName>,

    /// The classes have an order, that of the columns, such as grades: also the ranked probability score
    #[arg(
        long,
        conflicts_with_all = ["positive", "confidence_correctness"],
        help_heading = "What is asked",
        hide_short_help = true
    )]
    pub ordered: bool,

    #[command(flatten)]
    pub sizes: SizeArgs,

    #[command(flatten)]
    pub source: SourceArgs,

    #[command(flatten)]
    pub kernel: KernelArgs,

    #[command(flatten)]
    pub bins: BinArgs,

    /// Number of redraws of the omnibus test
    #[arg(long, default_value_t = USUAL_REDRAWS, value_parser = clap::value_parser!(u32).range(1..=REDRAWS.into()), help_heading = "Numbers")]
    pub redraws: u32,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration report --predictions probs.csv --labels labels.csv -o report.html\n  calibration report --predictions probs.csv --after better.csv --labels labels.csv -o report.html\n  calibration report --state s.json -o report.html"
)]
pub struct ReportArgs {
    /// Predictions, in the same formats as for evaluate
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "state",
        help_heading = "Input"
    )]
    pub predictions: Option<PathBuf>,

    /// State that monitor wrote, in the place of predictions: the page has its wealth over the rows, its alarms and its
    /// numbers
    #[arg(long, value_name = "STATE.json", help_heading = "Input")]
    pub state: Option<PathBuf>,

    /// Kind of the predictions
    #[arg(long, value_enum, default_value_t = FamilyName::Categorical, help_heading = "Input")]
    pub family: FamilyName,

    /// Recalibrated predictions of the same samples in the same order
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub after: Option<PathBuf>,

    /// Kind of the recalibrated predictions, if it differs
    #[arg(
        long,
        value_enum,
        requires = "after",
        help_heading = "Input",
        hide_short_help = true
    )]
    pub after_family: Option<FamilyName>,

    #[command(flatten)]
    pub source: SourceArgs,

    #[command(flatten)]
    pub bins: BinArgs,

    /// The classes have an order, that of the columns, such as grades: also the ranked probability score
    #[arg(
        long,
        conflicts_with_all = ["positive", "confidence_correctness"],
        help_heading = "What is asked",
        hide_short_help = true
    )]
    pub ordered: bool,

    /// Title of the page, "Calibration report" by default, and "Calibration in production" with --state
    #[arg(long, help_heading = "Output")]
    pub title: Option<String>,

    /// File of the page; - is standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: PathBuf,

    /// Whether nothing is printed
    #[arg(skip)]
    pub quiet: bool,

    /// Also write each diagram to a file in this folder, which is created if it does not exist
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub pictures: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration fit --predictions held_out.csv --labels labels.csv -o best.map\n  calibration fit --predictions logits.npy --logits --labels y.npy --keep accuracy -o best.map\n  calibration fit --family normal --predictions mean_sd.csv --targets y.csv -o best.map\n  calibration fit --trained-at 0.5 --prior 0.002 -o best.map"
)]
pub struct FitArgs {
    /// The map to fit
    ///
    /// By default a map is chosen by cross-validation: the simplest one whose gain is established within one standard
    /// error of the lowest log loss. If no gain is established, predictions stay unchanged
    #[arg(long, value_parser = PossibleValuesParser::new(methods()), help_heading = "What is asked")]
    pub method: Option<String>,

    /// What the chosen map must keep of the predictions
    #[arg(
        long,
        value_enum,
        conflicts_with = "method",
        help_heading = "What is asked"
    )]
    pub keep: Option<KeepName>,

    /// Base rates of the data on which the map is used: the probability of class 1 of two classes, or one number per
    /// class
    ///
    /// The map corrects predictions to these rates, from the frequencies of the labels or from --trained-at
    #[arg(
        long,
        value_name = "RATES",
        value_delimiter = ',',
        help_heading = "What is asked"
    )]
    pub prior: Vec<f64>,

    /// Base rates of the training data, for example after undersampling or with class weights
    ///
    /// This correction needs no predictions and no labels
    #[arg(long, value_name = "RATES", value_delimiter = ',', requires = "prior", conflicts_with_all = ["predictions", "labels", "method", "keep", "loss"], help_heading = "What is asked")]
    pub trained_at: Vec<f64>,

    /// Held-out predictions, in the same formats as for evaluate
    ///
    /// The logits of probabilities are their logarithms
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "trained_at",
        help_heading = "Input"
    )]
    pub predictions: Option<PathBuf>,

    /// Kind of the predictions: categorical, normal, laplace or quantiles
    #[arg(long, value_enum, default_value_t = FamilyName::Categorical, help_heading = "Input")]
    pub family: FamilyName,

    #[command(flatten)]
    pub source: SourceArgs,

    /// Loss to minimise
    ///
    /// A loss other than log needs --method
    #[arg(long, value_enum, default_value_t = LossName::Log, help_heading = "What is asked")]
    pub loss: LossName,

    /// Where to save the map
    #[arg(short, long, value_name = "MAP", help_heading = "Output")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration apply best.map --predictions new.csv --to-probabilities -o better.csv\n  calibration apply best.map --predictions new.csv | calibration evaluate --predictions - --label-column y\n  calibration apply best.map --family normal --predictions mean_sd.csv -o better.csv"
)]
pub struct ApplyArgs {
    /// A map that fit saved
    #[arg(value_name = "MAP", help_heading = "Input")]
    pub map: PathBuf,

    #[command(flatten)]
    pub input: PredictionsArgs,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Raise quantiles below this number to it
    ///
    /// Use it if targets cannot be lower, such as counts at 0; for --family quantiles
    #[arg(
        long,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        help_heading = "What is asked",
        hide_short_help = true
    )]
    pub minimum: Option<f64>,

    /// Also write the interval of a Venn-Abers predictor: columns _p0 and _p1, the probabilities of the event if it does
    /// not occur and if it does, of class 1 of two classes or of each class
    #[arg(long, help_heading = "What is asked", hide_short_help = true)]
    pub interval: bool,

    /// Write probabilities
    ///
    /// By default the output is like the input: probabilities, or logits with --logits
    #[arg(long, help_heading = "Output")]
    pub to_probabilities: bool,

    /// Write logits of the classes, or the log-odds of an event with --positive
    #[arg(long, conflicts_with = "to_probabilities", help_heading = "Output")]
    pub to_logits: bool,

    /// Do not write the other columns of the file of the predictions
    #[arg(long, help_heading = "Output")]
    pub only_predictions: bool,

    /// File to write: CSV with all columns of the predictions' file (FILE.csv, FILE.csv.gz), or the predictions alone
    /// as NPY (FILE.npy) or safetensors (FILE.safetensors, with the tensor "logits" or "probabilities"); - is CSV on
    /// standard output
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "-",
        help_heading = "Output"
    )]
    pub output: PathBuf,
}

/// The names of all kinds of maps, for classes, for distributions or for both.
fn methods() -> impl Iterator<Item = PossibleValue> {
    let of_classes = MapKind::ALL.iter();
    let of_classes = of_classes.map(|kind| (kind.name(), kind.about()));
    let of_distributions = DistributionMethod::ALL.iter();
    let of_distributions = of_distributions.map(|method| (method.name(), method.about()));
    let is_new = |(name, _): &(&str, &str)| MapKind::ALL.iter().all(|kind| kind.name() != *name);
    let of_quantiles = [(
        CONFORMAL,
        "A shift of each quantile level, after which intervals cover at their level",
    )];
    let all = of_classes
        .chain(of_distributions.filter(is_new))
        .chain(of_quantiles);
    all.map(|(name, about)| PossibleValue::new(name).help(about))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeepName {
    /// The most likely class
    Accuracy,
    /// The order of the classes
    Order,
    /// All information: different predictions stay different
    Information,
    /// The means of distributions
    Mean,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LossName {
    /// Log loss
    Log,
    /// Brier score
    Brier,
    /// Biased squared kernel calibration error, minimised from the fit by log loss; its bandwidth is the
    /// median distance at that fit
    Skce,
    /// Maximum mean calibration error, minimised from the fit by log loss
    Mmce,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration show best.map\n  calibration show best.map --formula\n  calibration show best.map --export onnx -o best.onnx"
)]
pub struct ShowArgs {
    /// A map that fit saved, or safetensors with a temperature, or weight and bias
    #[arg(value_name = "MAP", help_heading = "Input")]
    pub map: PathBuf,

    /// Print the formula of the map, with the numbers of its parameters
    #[arg(long, help_heading = "Output")]
    pub formula: bool,

    /// Also write the map in a format for other programs
    #[arg(long, value_enum, requires = "output", help_heading = "Output")]
    pub export: Option<ExportFormat>,

    /// File to write
    #[arg(
        short,
        long,
        value_name = "FILE",
        requires = "export",
        help_heading = "Output"
    )]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// The output of --json
    Json,
    /// A model for ONNX Runtime and others, from logits to probabilities, or from parameters to parameters
    /// for distributions
    Onnx,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration summarise --predictions part1.csv --labels labels1.csv -o part1.json\n  calibration summarise --family normal --predictions p1.csv --targets y1.csv --bandwidth 0.5 --length-scale 1 -o part1.json"
)]
pub struct SummariseArgs {
    #[command(flatten)]
    pub input: PredictionsArgs,

    #[command(flatten)]
    pub source: SourceArgs,

    /// Number of bins of equal width, for the top label and each class; for families of classes
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Numbers")]
    pub bins: u32,

    #[command(flatten)]
    pub shape: KernelShapeArgs,

    /// Bandwidth of the kernel, the same number for every piece. evaluate --bandwidth median:5000 prints one
    ///
    /// Without it no SKCE is computed
    #[arg(long, value_name = "NUMBER", value_parser = positive, help_heading = "Numbers", hide_short_help = true)]
    pub bandwidth: Option<f64>,

    /// Profile of the kernel on targets; for families other than categorical
    #[arg(long, value_enum, default_value_t = TargetKernelName::Gaussian, help_heading = "Numbers", hide_short_help = true)]
    pub target_kernel: TargetKernelName,

    /// Length scale of the kernel on targets, the same number for every piece
    ///
    /// Families other than categorical need it with --bandwidth
    #[arg(long, value_name = "NUMBER", value_parser = positive, help_heading = "Numbers", hide_short_help = true)]
    pub length_scale: Option<f64>,

    /// Number of consecutive samples in a block of the SKCE
    ///
    /// Samples that do not fill a block are left out
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(2..), help_heading = "Numbers", hide_short_help = true)]
    pub block: u32,

    /// File of the sums, as JSON
    #[arg(short, long, value_name = "PART.json", help_heading = "Output")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  calibration merge part1.json part2.json")]
pub struct MergeArgs {
    /// Files that summarise or merge saved, in any order
    #[arg(required = true, value_name = "PART.json", help_heading = "Input")]
    pub parts: Vec<PathBuf>,

    /// Allow parts with the same predictions, which are then counted more than once
    #[arg(long, help_heading = "What is asked")]
    pub allow_duplicates: bool,

    /// File of the merged sums
    #[arg(short, long, value_name = "OUT.json", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration monitor --state s.json --predictions today.csv --label-column y\n  calibration monitor --state s.json --id loan --predictions today.csv --labels came_in.csv\n  calibration report --state s.json -o page.html\n\nThe exit code is 3 if these rows raise an alarm."
)]
pub struct MonitorArgs {
    /// File of the state: it is read if there is one, and written with the new rows
    #[arg(long, value_name = "STATE.json", help_heading = "Input")]
    pub state: PathBuf,

    /// Predictions of new rows in the order of time, in the same formats as for evaluate
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "id",
        help_heading = "Input"
    )]
    pub predictions: Option<PathBuf>,

    /// Kind of the predictions
    #[arg(long, value_enum, default_value_t = FamilyName::Categorical, help_heading = "Input")]
    pub family: FamilyName,

    /// Level of the test: at most this share of the streams of a calibrated model ever has an alarm. 0.05 by default;
    /// fixed by the first call
    #[arg(long, value_parser = level, help_heading = "Numbers")]
    pub level: Option<f64>,

    /// Least mean number of rows between false alarms of the detector of changes. 10000 by default; fixed by the first
    /// call
    #[arg(long, value_name = "ROWS", value_parser = positive, help_heading = "What is asked", hide_short_help = true)]
    pub rows_between_alarms: Option<f64>,

    #[command(flatten)]
    pub source: SourceArgs,
}
