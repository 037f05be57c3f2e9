//! `calibration summarise` and `calibration merge`.

use std::path::PathBuf;

use clap::Args;

use super::{Family, KernelShapeArgs, SourceArgs, TargetKernelName, kernel::positive};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration summarise --predictions part1.csv --labels labels1.csv -o part1.json\n  calibration summarise --family normal --predictions p1.csv --targets y1.csv --bandwidth 0.5 --length-scale 1 -o part1.json"
)]
pub struct Summarise {
    /// Predictions of the piece, in the same formats as for evaluate
    #[arg(long, value_name = "FILE")]
    pub predictions: PathBuf,

    /// What a row of the predictions is
    #[arg(long, value_enum, default_value_t = Family::Categorical)]
    pub family: Family,

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

    /// Print one JSON object instead of the name of the file
    #[arg(long)]
    pub json: bool,
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

    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}
