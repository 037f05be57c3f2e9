//! The subcommands.

use clap::{Parser, Subcommand};

use super::{commands::*, maps::*};

/// Test and improve the calibration of a model, from a file of its predictions.
#[derive(Debug, Parser)]
#[command(name = "calibration", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,

    /// Print one JSON object instead of text
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Estimate calibration errors and test calibration
    Evaluate(EvaluateArgs),
    /// Compare two sets of predictions of the same samples, for example before and after recalibration
    Compare(CompareArgs),
    /// Write a page of HTML with numbers and diagrams
    Report(ReportArgs),
    /// Fit a recalibration map to held-out predictions
    Fit(FitArgs),
    /// Recalibrate predictions with a saved map
    Apply(ApplyArgs),
    /// Show a map: its kind, its parameters, its guarantees and the result of its fit
    Show(ShowArgs),
    /// Summarise one piece of a set of predictions, to merge it with others
    #[command(visible_alias = "summarize")]
    Summarise(SummariseArgs),
    /// Merge pieces that summarise saved, and print their estimates and a p-value
    Merge(MergeArgs),
    /// Watch a model in production: add rows to a state, with an alarm that is right at every moment
    Monitor(MonitorArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Print the page of this subcommand
        subcommand: Option<String>,
    },
}
