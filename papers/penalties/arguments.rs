use std::path::PathBuf;

use clap::Parser;

/// Which calibration penalty, at which weight? Trains networks on tables, and says what a penalty gains
#[derive(Debug, Parser)]
pub struct Arguments {
    /// CSV files with a header, plain or gzipped; `digits` are digits that come with this program
    #[arg(long, num_args = 1.., default_value = "digits")]
    pub data: Vec<String>,

    /// The column to predict [default: the last]
    #[arg(long)]
    pub label: Option<String>,

    /// Predict a number by a normal distribution, rather than a class
    #[arg(long)]
    pub regression: bool,

    /// The most rows to train on
    #[arg(long, default_value_t = 1000)]
    pub rows: usize,

    /// The penalties to compare [default: all]
    #[arg(long, num_args = 1..)]
    pub losses: Vec<String>,

    /// Seeds to report, with what was chosen by others
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..100))]
    pub seeds: u64,

    /// The file of results, to which each training is added; what is there is not trained again
    #[arg(long, default_value = "penalties.jsonl")]
    pub results: PathBuf,

    /// A folder for the pictures
    #[arg(long)]
    pub pictures: Option<PathBuf>,

    /// Train nothing: show what is in the file of results
    #[arg(long)]
    pub table: bool,

    /// Try penalties at full weight from the first step on, rather than choose among them
    #[arg(long)]
    pub first_step: bool,

    /// Seconds rather than an hour: few epochs, few weights, two seeds, no file
    #[arg(long)]
    pub smoke: bool,
}
