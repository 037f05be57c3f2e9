//! `calibration` reads a file of predictions, and prints estimates and p-values or writes a page of HTML.
//!
//! Programs call [`read_classes`], which reads files as the command does, or [`evaluate()`], [`compare()`],
//! [`report()`] and [`monitor()`], which take arrays and typed options. Without the feature `parquet` no file can be
//! Parquet; without `files` too there are these functions of arrays alone, which compile in less time.
//!
//! The command prints results, or the names of the files that hold them, to standard output, and everything
//! else to standard error. For bad input it prints one line and returns the exit code 2.

#![warn(missing_docs)]
// what the command alone calls
#![cfg_attr(not(feature = "files"), allow(dead_code))]

mod answer;
#[cfg(feature = "files")]
mod apply;
mod args;
mod calls;
#[cfg(feature = "files")]
mod command;
mod compare;
mod coverage;
mod error;
mod evaluate;
mod files;
#[cfg(feature = "files")]
mod fit;
mod given;
mod kernel;
mod kind;
mod limits;
#[cfg(feature = "files")]
mod merge;
mod models;
mod monitor;
mod multilabel;
mod notes;
mod outcome_weights;
mod outputs;
mod program;
mod progress;
mod quantiles;
mod quantities;
#[cfg(feature = "files")]
mod read;
mod report;
mod roles;
mod rows;
#[cfg(feature = "files")]
mod show;
mod source;
#[cfg(feature = "files")]
mod summarise;
mod table;
mod vectors;
mod words;
#[cfg(feature = "files")]
mod writer;

pub use args::{BandwidthChoice, FamilyName, LensName};
pub use calls::{
    Array, CompareOptions, Data, EvaluateOptions, MonitorOptions, NamedPredictions, Page,
    ReportOptions, Variable, VariableValues, compare, evaluate, monitor, monitor_report, report,
};
#[cfg(feature = "files")]
pub use command::run;
pub use program::Answer;
#[cfg(feature = "files")]
pub use read::{ClassFiles, read_classes};
