//! `calibration evaluate`, `compare` and `report`.

use std::path::PathBuf;

use super::{Family, KernelArgs, Lens, SizeArgs, SourceArgs, TargetKernelArgs};
use crate::{
    limits::{REDRAWS, USUAL_REDRAWS},
    quantities::test_keys,
};
use clap::{Args, builder::PossibleValuesParser};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration evaluate --predictions probs.csv --labels labels.csv\n  calibration evaluate --predictions all.csv --label-column y --columns p0..p9\n  calibration evaluate --predictions logits.npy --logits --labels y.npy --json\n  calibration evaluate --family normal --predictions mean_sd.csv --targets y.csv"
)]
pub struct Evaluate {
    /// Predictions, a row a sample and a column a class, or as the family says: text such as CSV, NPY, NPZ
    /// (FILE.npz:ARRAY) or safetensors (FILE.safetensors:TENSOR), packed by gzip or not; - is standard input
    #[arg(long, value_name = "FILE")]
    pub predictions: PathBuf,

    /// What a row of the predictions is
    #[arg(long, value_enum, default_value_t = Family::Categorical)]
    pub family: Family,

    #[command(flatten)]
    pub targets: TargetKernelArgs,

    #[command(flatten)]
    pub source: SourceArgs,

    #[command(flatten)]
    pub kernel: KernelArgs,

    /// Which calibration to test: the whole vector of probabilities, the top label, or each class
    #[arg(long, value_enum, default_value_t = Lens::Canonical)]
    pub lens: Lens,

    /// Is the model calibrated given these, as for every age and sex? Text such as CSV with a header, a row a
    /// sample: each value of a column of text is a group, numbers are compared by a kernel and in quarters
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

    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration compare --before probs.csv --after better.csv --labels labels.csv\n  calibration compare --family normal --after-family normal-mixture --before p.csv --after q.csv --targets y.csv"
)]
pub struct Compare {
    /// Predictions before, in the same formats as for evaluate
    #[arg(long, value_name = "FILE")]
    pub before: PathBuf,

    /// Predictions after, of the same samples in the same order
    #[arg(long, value_name = "FILE")]
    pub after: PathBuf,

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

    /// Redraws of the omnibus test
    #[arg(long, default_value_t = USUAL_REDRAWS, value_parser = clap::value_parser!(u32).range(1..=REDRAWS.into()))]
    pub redraws: u32,

    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration report --predictions probs.csv --labels labels.csv -o report.html\n  calibration report --predictions probs.csv --after better.csv --labels labels.csv -o report.html"
)]
pub struct Report {
    /// Predictions, in the same formats as for evaluate
    #[arg(long, value_name = "FILE")]
    pub predictions: PathBuf,

    /// What a row of the predictions is
    #[arg(long, value_enum, default_value_t = Family::Categorical)]
    pub family: Family,

    /// Recalibrated predictions of the same samples in the same order, of the same family
    #[arg(long, value_name = "FILE")]
    pub after: Option<PathBuf>,

    #[command(flatten)]
    pub source: SourceArgs,

    /// Title of the page
    #[arg(long, default_value = "Calibration report")]
    pub title: String,

    /// Where the page goes; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Where the diagrams go as files of their own as well: a folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,

    /// Print the numbers of the page as one JSON object instead of the names of files
    #[arg(long)]
    pub json: bool,
}
