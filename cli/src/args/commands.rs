//! The arguments of each subcommand but those of maps.

use std::path::PathBuf;

use clap::{Args, builder::PossibleValuesParser};

use super::{options::*, values::*};
use crate::{
    limits::{REDRAWS, USUAL_REDRAWS},
    quantities::test_keys,
};

#[derive(Debug, Args)]
#[command(
    next_help_heading = "What is asked",
    after_help = "Examples:\n  calibration evaluate --predictions probs.csv --labels labels.csv\n  calibration evaluate --predictions all.csv --label-column y --columns p0..p9\n  calibration evaluate --predictions logits.npy --logits --labels y.npy --json\n  calibration evaluate --family normal --predictions mean_sd.csv --targets y.csv\n  calibration evaluate --predictions probs.csv --labels labels.csv --fail-above 0.02 || exit 1"
)]
pub struct EvaluateArgs {
    #[command(flatten)]
    pub input: PredictionsArgs,

    /// What to test: the whole vector of probabilities, the top label, or each class
    #[arg(long, value_enum, default_value_t = LensName::Canonical)]
    pub lens: LensName,

    /// Also test calibration given these variables, such as age and sex
    ///
    /// A table with a header, in the same formats, with one row per sample; it may be the file of the predictions.
    /// Without columns it is all of them but predictions, ids and labels. Each value of a text column is a group.
    /// Numbers are compared by a kernel, and split into quarters
    #[arg(long, value_name = "FILE[:COLUMNS]")]
    pub given: Option<PathBuf>,

    /// A test to run in addition to the omnibus test; repeatable
    #[arg(long = "test", value_name = "TEST", value_parser = PossibleValuesParser::new(test_keys()))]
    pub tests: Vec<String>,

    #[command(flatten)]
    pub order: OrderArgs,

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
    next_help_heading = "Input",
    after_help = "Examples:\n  calibration compare --before probs.csv --after better.csv --labels labels.csv\n  calibration compare --predictions all.csv --models forest,net --label-column y\n  calibration compare --family normal --after-family normal-mixture --before p.csv --after q.csv --targets y.csv"
)]
pub struct CompareArgs {
    /// The first predictions, in the same formats as for evaluate
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "models",
        requires = "after"
    )]
    pub before: Option<PathBuf>,

    /// The second predictions, of the same samples in the same order
    #[arg(long, value_name = "FILE", requires = "before")]
    pub after: Option<PathBuf>,

    /// Predictions of several models in one file, see --models
    #[arg(long, value_name = "FILE", requires = "models")]
    pub predictions: Option<PathBuf>,

    /// Names of the models
    ///
    /// The columns of a model begin with its name: a,b for the columns a_0,a_1,b_0,b_1 of --predictions. All pairs of
    /// models are compared
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "predictions", conflicts_with_all = ["before", "after", "after_family", "columns"])]
    pub models: Vec<String>,

    /// Kind of the predictions
    #[arg(long, value_enum, default_value_t = FamilyName::Categorical)]
    pub family: FamilyName,

    /// Kind of the second predictions, if it differs
    #[arg(long, value_enum, hide_short_help = true)]
    pub after_family: Option<FamilyName>,

    #[command(flatten)]
    pub order: OrderArgs,

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
    next_help_heading = "Input",
    after_help = "Examples:\n  calibration report --predictions probs.csv --labels labels.csv -o report.html\n  calibration report --predictions probs.csv --after better.csv --labels labels.csv -o report.html\n  calibration report --state s.json -o report.html"
)]
pub struct ReportArgs {
    /// Predictions, in the same formats as for evaluate
    #[arg(long, value_name = "FILE", required_unless_present = "state")]
    pub predictions: Option<PathBuf>,

    /// State that monitor wrote, in the place of predictions: the page has its wealth over the rows, its alarms and its
    /// numbers
    #[arg(long, value_name = "STATE.json")]
    pub state: Option<PathBuf>,

    /// Kind of the predictions
    #[arg(long, value_enum, default_value_t = FamilyName::Categorical)]
    pub family: FamilyName,

    /// Recalibrated predictions of the same samples in the same order
    #[arg(long, value_name = "FILE")]
    pub after: Option<PathBuf>,

    /// Kind of the recalibrated predictions, if it differs
    #[arg(long, value_enum, requires = "after", hide_short_help = true)]
    pub after_family: Option<FamilyName>,

    #[command(flatten)]
    pub source: SourceArgs,

    #[command(flatten)]
    pub bins: BinArgs,

    #[command(flatten)]
    pub order: OrderArgs,

    /// Title of the page, "Calibration report" by default, and "Calibration in production" with --state
    #[arg(long, help_heading = "Output")]
    pub title: Option<String>,

    /// File of the page; - is standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: PathBuf,

    /// Also write each diagram to a file in this folder, which is created if it does not exist
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub pictures: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    next_help_heading = "Numbers",
    after_help = "Examples:\n  calibration summarise --predictions part1.csv --labels labels1.csv -o part1.json\n  calibration summarise --family normal --predictions p1.csv --targets y1.csv --bandwidth 0.5 --length-scale 1 -o part1.json"
)]
pub struct SummariseArgs {
    #[command(flatten)]
    pub input: PredictionsArgs,

    #[command(flatten)]
    pub source: SourceArgs,

    /// Number of bins of equal width, for the top label and each class; for families of classes
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub bins: u32,

    #[command(flatten)]
    pub shape: KernelShapeArgs,

    /// Bandwidth of the kernel, the same number for every piece. evaluate prints one
    ///
    /// Without it no SKCE is computed
    #[arg(long, value_name = "NUMBER", value_parser = POSITIVE.parser(), hide_short_help = true)]
    pub bandwidth: Option<f64>,

    /// Profile of the kernel on targets; for families other than categorical
    #[arg(long, value_enum, default_value_t = TargetKernelName::Gaussian, hide_short_help = true)]
    pub target_kernel: TargetKernelName,

    /// Length scale of the kernel on targets, the same number for every piece
    ///
    /// Families other than categorical need it with --bandwidth
    #[arg(long, value_name = "NUMBER", value_parser = POSITIVE.parser(), hide_short_help = true)]
    pub length_scale: Option<f64>,

    /// Number of consecutive samples in a block of the SKCE
    ///
    /// Samples that do not fill a block are left out
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(2..), hide_short_help = true)]
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
    next_help_heading = "Input",
    after_help = "Examples:\n  calibration monitor --state s.json --predictions today.csv --label-column y\n  calibration monitor --state s.json --id loan --predictions today.csv --labels came_in.csv\n  calibration report --state s.json -o page.html\n\nThe exit code is 3 if these rows raise an alarm."
)]
pub struct MonitorArgs {
    /// File of the state: it is read if there is one, and written with the new rows
    #[arg(long, value_name = "STATE.json")]
    pub state: PathBuf,

    /// Predictions of new rows in the order of time, in the same formats as for evaluate
    #[arg(long, value_name = "FILE", required_unless_present = "id")]
    pub predictions: Option<PathBuf>,

    /// Kind of the predictions
    #[arg(long, value_enum, default_value_t = FamilyName::Categorical)]
    pub family: FamilyName,

    /// Level of the test: at most this share of the streams of a calibrated model ever has an alarm. 0.05 by default;
    /// fixed by the first call
    #[arg(long, value_parser = LEVEL.parser(), help_heading = "Numbers")]
    pub level: Option<f64>,

    /// Least mean number of rows between false alarms of the detector of changes. 10000 by default; fixed by the first
    /// call
    #[arg(long, value_name = "ROWS", value_parser = POSITIVE.parser(), help_heading = "What is asked", hide_short_help = true)]
    pub rows_between_alarms: Option<f64>,

    #[command(flatten)]
    pub source: SourceArgs,
}
