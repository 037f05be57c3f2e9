//! The arguments of the command line, by subcommand.

mod kernel;
mod maps;
mod parts;
mod predictions;
mod show;
mod source;

pub use kernel::{
    BandwidthChoice, KernelArgs, KernelShapeArgs, LengthScale, TargetKernelArgs, TargetKernelName,
};
pub use maps::{Apply, Fit, KeepName, LossName};
pub use parts::{Merge, Summarise};
pub use predictions::Report;
pub use predictions::{Compare, Evaluate};
pub use show::{ExportFormat, Show};
pub use source::{DeviceName, LabelsArgs, RowsArgs, SourceArgs, YesNo};

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Is this model calibrated? Estimates and p-values from a file of predictions.
#[derive(Debug, Parser)]
#[command(name = "calibration", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Estimate calibration errors and test calibration
    Evaluate(Evaluate),
    /// Compare two sets of predictions of the same samples: what did a recalibration gain?
    Compare(Compare),
    /// Write a page of HTML with numbers and diagrams
    Report(Report),
    /// Fit a recalibration map to predictions that were held out from training
    Fit(Fit),
    /// Recalibrate predictions with a saved map
    Apply(Apply),
    /// Show a map: its kind, its parameters, what it keeps, how its fit ended
    Show(Show),
    /// Sum up a piece of a set of predictions, to be merged with others
    Summarise(Summarise),
    /// Estimates and a p-value of the pieces that summarise saved
    Merge(Merge),
    /// Print a script that completes the command in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the page of the manual
    Man {
        /// That of a subcommand
        subcommand: Option<String>,
    },
}

/// The kind of prediction that a row of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// A column a class: its probability, or its logit
    Categorical,
    /// Means, then standard deviations, a column of each for each dimension of the targets
    Normal,
    /// Locations, then scales, a column of each for each dimension of the targets
    Laplace,
    /// Weights, means, standard deviations, a column of each for each component; targets of one
    /// dimension
    NormalMixture,
    /// The same of Laplace distributions: weights, locations, scales
    LaplaceMixture,
    /// Monte Carlo samples, a column each; targets of one dimension
    Samples,
}

/// The sizes of errors, and how large they may be.
#[derive(Debug, Args)]
pub struct SizeArgs {
    /// Level of the confidence intervals, between 0 and 1
    #[arg(long, default_value_t = 0.95)]
    pub level: f64,

    /// An error that can be tolerated, in probability (0.02 is two points): also test whether the
    /// overconfidence and the debiased ECE are larger
    #[arg(long, value_name = "ERROR", value_parser = tolerance)]
    pub tolerance: Option<f64>,

    /// Also bound the Lp calibration error of this order (1 or more) from below, by maps that are fitted to
    /// four fifths of the samples and recalibrate the others; of classes
    #[arg(long, value_name = "ORDER", value_parser = order)]
    pub lp_error: Option<f64>,
}

/// A number that an option may have.
fn number(text: &str, is_valid: impl Fn(&f64) -> bool, expected: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(is_valid);
    number.ok_or_else(|| format!("expected {expected}"))
}

fn tolerance(text: &str) -> Result<f64, String> {
    let expected = "a number of at least 0 and less than 1";
    number(text, |value| (0.0..1.0).contains(value), expected)
}

fn order(text: &str) -> Result<f64, String> {
    let is_order = |value: &f64| value.is_finite() && *value >= 1.0;
    number(text, is_order, "a finite number of at least 1")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lens {
    Canonical,
    TopLabel,
    ClassWise,
}
