//! The arguments of the command line.

mod commands;
mod families;
mod options;
mod values;

pub use commands::*;
pub use families::{check_families, check_options};
pub use options::*;
pub use values::*;

use clap::{Parser, Subcommand};

/// Is this model calibrated? Estimates and p-values from a file of predictions.
#[derive(Debug, Parser)]
#[command(name = "calibration", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,

    /// Print one JSON object instead of lines
    #[arg(long, global = true)]
    pub json: bool,
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
