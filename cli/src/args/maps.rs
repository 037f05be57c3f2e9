//! The arguments of the subcommands of maps.

use std::path::PathBuf;

use burn_calibration::recalibration::{DistributionMethod, MapKind};
use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser},
};

use super::{options::*, values::FINITE};
use crate::fit::CONFORMAL;

#[derive(Debug, Args)]
#[command(
    next_help_heading = "What is asked",
    after_help = "Examples:\n  calibration fit --predictions held_out.csv --labels labels.csv -o best.map\n  calibration fit --predictions logits.npy --logits --labels y.npy --keep accuracy -o best.map\n  calibration fit --family normal --predictions mean_sd.csv --targets y.csv -o best.map\n  calibration fit --trained-at 0.5 --prior 0.002 -o best.map"
)]
pub struct FitArgs {
    /// The map to fit
    ///
    /// By default a map is chosen by cross-validation: the simplest one whose gain is established within one standard
    /// error of the lowest log loss. If no gain is established, predictions stay unchanged
    #[arg(long, value_parser = PossibleValuesParser::new(methods()))]
    pub method: Option<String>,

    /// What the chosen map must keep of the predictions
    #[arg(long, value_enum, conflicts_with = "method")]
    pub keep: Option<KeepName>,

    /// Base rates of the data on which the map is used: the probability of class 1 of two classes, or one number per
    /// class
    ///
    /// The map corrects predictions to these rates, from the frequencies of the labels or from --trained-at
    #[arg(long, value_name = "RATES", value_delimiter = ',')]
    pub prior: Vec<f64>,

    /// Base rates of the training data, for example after undersampling or with class weights
    ///
    /// This correction needs no predictions and no labels
    #[arg(long, value_name = "RATES", value_delimiter = ',', requires = "prior", conflicts_with_all = ["predictions", "labels", "method", "keep", "loss"])]
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
    #[arg(long, value_enum, default_value_t = LossName::Log)]
    pub loss: LossName,

    /// Where to save the map
    #[arg(short, long, value_name = "MAP", help_heading = "Output")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    next_help_heading = "Output",
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
        value_parser = FINITE.parser(),
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
    #[arg(long)]
    pub to_probabilities: bool,

    /// Write logits of the classes, or the log-odds of an event with --positive
    #[arg(long, conflicts_with = "to_probabilities")]
    pub to_logits: bool,

    /// Do not write the other columns of the file of the predictions
    #[arg(long)]
    pub only_predictions: bool,

    /// File to write: CSV with all columns of the predictions' file (FILE.csv, FILE.csv.gz), or the predictions alone
    /// as NPY (FILE.npy) or safetensors (FILE.safetensors, with the tensor "logits" or "probabilities"); - is CSV on
    /// standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
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
    next_help_heading = "Output",
    after_help = "Examples:\n  calibration show best.map\n  calibration show best.map --formula\n  calibration show best.map --export onnx -o best.onnx"
)]
pub struct ShowArgs {
    /// A map that fit saved, or safetensors with a temperature, or weight and bias
    #[arg(value_name = "MAP", help_heading = "Input")]
    pub map: PathBuf,

    /// Print the formula of the map, with the numbers of its parameters
    #[arg(long)]
    pub formula: bool,

    /// Also write the map in a format for other programs
    #[arg(long, value_enum, requires = "output")]
    pub export: Option<ExportFormat>,

    /// File to write
    #[arg(short, long, value_name = "FILE", requires = "export")]
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
