//! `calibration fit` and `calibration apply`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, builder::PossibleValuesParser};

use super::{Family, RowsArgs, SourceArgs};
use crate::methods;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration fit --predictions held_out.csv --labels labels.csv -o best.map\n  calibration fit --predictions logits.npy --logits --labels y.npy --keep accuracy -o best.map\n  calibration fit --family normal --predictions mean_sd.csv --targets y.csv -o best.map"
)]
pub struct Fit {
    /// The map; without it the simplest one within one standard error of the least log loss by
    /// cross-validation, or a mixture of maps where that is better; none unless a gain is established
    #[arg(long, value_parser = PossibleValuesParser::new(methods::names()))]
    pub method: Option<String>,

    /// What a map that is chosen has to keep of the predictions
    #[arg(long, value_enum, conflicts_with = "method")]
    pub keep: Option<KeepName>,

    /// Predictions that were held out from training, in the same formats as for evaluate; the logits of
    /// probabilities are their logarithms
    #[arg(long, value_name = "FILE")]
    pub predictions: PathBuf,

    /// What a row of the predictions is: categorical, normal or laplace
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

    /// Print one JSON object instead of lines
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration apply best.map --predictions new.csv --to-probabilities -o better.csv\n  calibration apply best.map --family normal --predictions mean_sd.csv -o better.csv"
)]
pub struct Apply {
    /// A map that fit saved
    #[arg(value_name = "MAP")]
    pub map: PathBuf,

    /// Predictions to recalibrate, in the same formats as for evaluate
    #[arg(long, value_name = "FILE")]
    pub predictions: PathBuf,

    /// What a row of the predictions is, as for fit; local recalibration makes mixtures of them, and
    /// quantile recalibration 100 samples each
    #[arg(long, value_enum, default_value_t = Family::Categorical)]
    pub family: Family,

    #[command(flatten)]
    pub rows: RowsArgs,

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

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
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
