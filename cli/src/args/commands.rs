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
    after_help = "Examples:\n  calibration evaluate --predictions probs.csv --labels labels.csv\n  calibration evaluate --predictions all.csv --label-column y --columns p0..p9\n  calibration evaluate --predictions logits.npy --logits --labels y.npy --json\n  calibration evaluate --family normal --predictions mean_sd.csv --targets y.csv"
)]
pub struct Evaluate {
    #[command(flatten)]
    pub input: PredictionsArgs,

    #[command(flatten)]
    pub targets: TargetKernelArgs,

    #[command(flatten)]
    pub source: SourceArgs,

    #[command(flatten)]
    pub kernel: KernelArgs,

    /// Which calibration to test: the whole vector of probabilities, the top label, or each class
    #[arg(long, value_enum, default_value_t = Lens::Canonical)]
    pub lens: Lens,

    /// Is the model calibrated given these, as for every age and sex? A table with a header, in the same formats,
    /// a row a sample: each value of a column of text is a group, numbers are compared by a kernel and in quarters
    #[arg(long, value_name = "FILE")]
    pub given: Option<PathBuf>,

    /// A test to run besides the omnibus test; repeatable
    #[arg(long = "test", value_name = "TEST", value_parser = PossibleValuesParser::new(test_keys()))]
    pub tests: Vec<String>,

    /// Redraws of the omnibus test, which draws up to ten times as many where its p-value is near 5 %,
    /// and of tests that resample
    #[arg(long, visible_alias = "redraws", default_value_t = USUAL_REDRAWS, value_parser = clap::value_parser!(u32).range(1..=REDRAWS.into()))]
    pub replicates: u32,

    #[command(flatten)]
    pub sizes: SizeArgs,

    #[command(flatten)]
    pub bins: BinArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration compare --before probs.csv --after better.csv --labels labels.csv\n  calibration compare --predictions all.csv --models forest,net --label-column y\n  calibration compare --family normal --after-family normal-mixture --before p.csv --after q.csv --targets y.csv"
)]
pub struct Compare {
    /// Predictions before, in the same formats as for evaluate
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "models",
        requires = "after"
    )]
    pub before: Option<PathBuf>,

    /// Predictions after, of the same samples in the same order
    #[arg(long, value_name = "FILE", requires = "before")]
    pub after: Option<PathBuf>,

    /// Predictions of several models in one file, see --models
    #[arg(long, value_name = "FILE", requires = "models")]
    pub predictions: Option<PathBuf>,

    /// What the names of the columns of each model begin with: a,b for the columns a_0,a_1,b_0,b_1 of
    /// --predictions. All pairs of models are compared
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "predictions", conflicts_with_all = ["before", "after", "after_family", "columns"])]
    pub models: Vec<String>,

    /// What a row of the predictions is
    #[arg(long, value_enum, default_value_t = Family::Categorical)]
    pub family: Family,

    /// What a row of the predictions after is, if it is another
    #[arg(long, value_enum)]
    pub after_family: Option<Family>,

    #[command(flatten)]
    pub source: SourceArgs,

    #[command(flatten)]
    pub kernel: KernelArgs,

    #[command(flatten)]
    pub sizes: SizeArgs,

    #[command(flatten)]
    pub bins: BinArgs,

    /// Redraws of the omnibus test
    #[arg(long, default_value_t = USUAL_REDRAWS, value_parser = clap::value_parser!(u32).range(1..=REDRAWS.into()))]
    pub redraws: u32,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration report --predictions probs.csv --labels labels.csv -o report.html\n  calibration report --predictions probs.csv --after better.csv --labels labels.csv -o report.html"
)]
pub struct Report {
    #[command(flatten)]
    pub input: PredictionsArgs,

    /// Recalibrated predictions of the same samples in the same order, of the same family
    #[arg(long, value_name = "FILE")]
    pub after: Option<PathBuf>,

    #[command(flatten)]
    pub source: SourceArgs,

    #[command(flatten)]
    pub bins: BinArgs,

    /// Title of the page
    #[arg(long, default_value = "Calibration report")]
    pub title: String,

    /// Where the page goes; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Whether nothing is printed
    #[arg(skip)]
    pub quiet: bool,

    /// Where the diagrams go as files of their own as well: a folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration fit --predictions held_out.csv --labels labels.csv -o best.map\n  calibration fit --predictions logits.npy --logits --labels y.npy --keep accuracy -o best.map\n  calibration fit --family normal --predictions mean_sd.csv --targets y.csv -o best.map\n  calibration fit --trained-at 0.5 --prior 0.002 -o best.map"
)]
pub struct Fit {
    /// The map; without it the simplest one within one standard error of the least log loss by
    /// cross-validation, or a mixture of maps where that is better; none unless a gain is established
    #[arg(long, value_parser = PossibleValuesParser::new(methods()))]
    pub method: Option<String>,

    /// What a map that is chosen has to keep of the predictions
    #[arg(long, value_enum, conflicts_with = "method")]
    pub keep: Option<KeepName>,

    /// Base rates where the map is used: the probability of class 1 of two classes, or a number per class. What
    /// the map gives is corrected to them, from the frequencies of the labels or from --trained-at
    #[arg(long, value_name = "RATES", value_delimiter = ',')]
    pub prior: Vec<f64>,

    /// Base rates of the training data, as after undersampling or with class weights. The correction needs no
    /// fit: no predictions and no labels
    #[arg(long, value_name = "RATES", value_delimiter = ',', requires = "prior", conflicts_with_all = ["predictions", "labels", "method", "keep", "loss"])]
    pub trained_at: Vec<f64>,

    /// Predictions that were held out from training, in the same formats as for evaluate; the logits of
    /// probabilities are their logarithms
    #[arg(long, value_name = "FILE", required_unless_present = "trained_at")]
    pub predictions: Option<PathBuf>,

    /// What a row of the predictions is: categorical, normal, laplace or quantiles
    #[arg(long, value_enum, default_value_t = Family::Categorical)]
    pub family: Family,

    #[command(flatten)]
    pub source: SourceArgs,

    /// Loss to minimise
    #[arg(long, value_enum, default_value_t = LossName::Log)]
    pub loss: LossName,

    /// Where to save the map
    #[arg(short, long, value_name = "MAP")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration apply best.map --predictions new.csv --to-probabilities -o better.csv\n  calibration apply best.map --family normal --predictions mean_sd.csv -o better.csv"
)]
pub struct Apply {
    /// A map that fit saved
    #[arg(value_name = "MAP")]
    pub map: PathBuf,

    #[command(flatten)]
    pub input: PredictionsArgs,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Raise quantiles below this number to it, where targets are never less, as counts are not below 0; of the family
    /// quantiles
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub minimum: Option<f64>,

    /// Write probabilities; by default what the predictions are: probabilities, or logits with --logits
    #[arg(long)]
    pub to_probabilities: bool,

    /// Write logits of the classes, or the log-odds of an event with --positive
    #[arg(long, conflicts_with = "to_probabilities")]
    pub to_logits: bool,

    /// Where to write: CSV with the names of columns and the ids of rows that the predictions have (FILE.csv,
    /// FILE.csv.gz), NPY (FILE.npy) or safetensors (FILE.safetensors, as the tensor "logits" or
    /// "probabilities")
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// The names of all kinds of maps: of classes, of distributions, or of both.
fn methods() -> impl Iterator<Item = PossibleValue> {
    let of_classes = MapKind::ALL.iter();
    let of_classes = of_classes.map(|kind| (kind.name(), kind.about()));
    let of_distributions = DistributionMethod::ALL.iter();
    let of_distributions = of_distributions.map(|method| (method.name(), method.about()));
    let is_new = |(name, _): &(&str, &str)| MapKind::ALL.iter().all(|kind| kind.name() != *name);
    let of_quantiles = [(
        CONFORMAL,
        "a shift of each level of quantiles, whose intervals then cover",
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
    /// Squared kernel calibration error, biased, by descent from the log loss; its bandwidth is the
    /// median at the fit by log loss
    Skce,
    /// Maximum mean calibration error, by descent from the log loss
    Mmce,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration show best.map\n  calibration show best.map --formula\n  calibration show best.map --export onnx -o best.onnx"
)]
pub struct Show {
    /// A map that fit saved, or FILE.safetensors with a temperature, or weight and bias
    #[arg(value_name = "MAP")]
    pub map: PathBuf,

    /// Print what it computes, as mathematics with its numbers
    #[arg(long)]
    pub formula: bool,

    /// Also write it for other programs
    #[arg(long, value_enum, requires = "output")]
    pub export: Option<ExportFormat>,

    /// Where it goes
    #[arg(short, long, value_name = "FILE", requires = "export")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// What --json prints
    Json,
    /// A tensor of f64 for each parameter: temperature, or weight and bias, as PyTorch has them
    Safetensors,
    /// A model from logits to probabilities (of distributions, from parameters to parameters) for ONNX Runtime and others
    Onnx,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration summarise --predictions part1.csv --labels labels1.csv -o part1.json\n  calibration summarise --family normal --predictions p1.csv --targets y1.csv --bandwidth 0.5 --length-scale 1 -o part1.json"
)]
pub struct Summarise {
    #[command(flatten)]
    pub input: PredictionsArgs,

    #[command(flatten)]
    pub source: SourceArgs,

    /// Bins of equal width of the top label and of each class; of classes
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub bins: u32,

    #[command(flatten)]
    pub shape: KernelShapeArgs,

    /// Bandwidth of the kernel, the same number for every piece (evaluate --bandwidth median:5000 finds
    /// one); without it there is no SKCE
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub bandwidth: Option<f64>,

    /// Profile of the kernel on targets; of families other than categorical
    #[arg(long, value_enum, default_value_t = TargetKernelName::Gaussian)]
    pub target_kernel: TargetKernelName,

    /// Length scale of the kernel on targets, the same number for every piece; needed with --bandwidth by
    /// families other than categorical
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub length_scale: Option<f64>,

    /// Samples in a block of the SKCE: consecutive ones of the piece; those that fill no block are left
    /// out
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(2..))]
    pub block: u32,

    /// Where the sums go, as JSON
    #[arg(short, long, value_name = "PART.json")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  calibration merge part1.json part2.json")]
pub struct Merge {
    /// What summarise or merge saved, in any order
    #[arg(required = true, value_name = "PART.json")]
    pub parts: Vec<PathBuf>,

    /// Count predictions that are in several parts several times
    #[arg(long)]
    pub allow_duplicates: bool,

    /// Where the merged sums go
    #[arg(short, long, value_name = "OUT.json")]
    pub output: Option<PathBuf>,
}
