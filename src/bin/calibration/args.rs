use std::path::PathBuf;

use burn_calibration::kernel::{Distance, Profile};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{methods::Method, quantities::TestName};

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
    #[cfg(feature = "report")]
    Report(Report),
    /// Fit a recalibration map to logits that were held out from training
    Fit(Fit),
    /// Recalibrate logits with a saved map
    Apply(Apply),
    /// Sum up a piece of a set of predictions, to be merged with others
    Summarise(Summarise),
    /// Estimates and a p-value of the pieces that summarise saved
    Merge(Merge),
}

#[derive(Debug, Args)]
pub struct Evaluate {
    /// Predictions, a row a sample and a column a class, or as the family says: CSV (with or without
    /// header, plain or gzip), NPY, or NPZ (FILE.npz or FILE.npz:ARRAY)
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

    /// A test to run besides the omnibus test; repeatable
    #[arg(long = "test", value_name = "TEST", value_enum)]
    pub tests: Vec<TestName>,

    /// Redraws of the omnibus test, which draws up to ten times as many where its p-value is near 5 %,
    /// and of tests that resample
    #[arg(long, visible_alias = "redraws", default_value_t = 999, value_parser = clap::value_parser!(u32).range(1..))]
    pub replicates: u32,

    #[command(flatten)]
    pub sizes: SizeArgs,

    /// Seed of tests that resample
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// How large errors are, and how large they may be.
#[derive(Debug, Args)]
pub struct SizeArgs {
    /// Level of the confidence intervals, between 0 and 1
    #[arg(long, default_value_t = 0.95)]
    pub level: f64,

    /// An error that can be tolerated, in probability (0.02 is two points): also test whether the
    /// overconfidence and the debiased ECE are larger
    #[arg(long, value_name = "ERROR", value_parser = tolerance)]
    pub tolerance: Option<f64>,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..1.0).contains(&value) => Ok(value),
        _ => Err("expected a number of at least 0 and less than 1".into()),
    }
}

#[derive(Debug, Args)]
pub struct Compare {
    /// Predictions before: CSV, NPY or NPZ, as for evaluate
    #[arg(long, value_name = "FILE")]
    pub before: PathBuf,

    /// Predictions after, of the same samples in the same order
    #[arg(long, value_name = "FILE")]
    pub after: PathBuf,

    #[command(flatten)]
    pub source: SourceArgs,

    #[command(flatten)]
    pub kernel: KernelArgs,

    #[command(flatten)]
    pub sizes: SizeArgs,

    /// Redraws of the omnibus test
    #[arg(long, default_value_t = 999, value_parser = clap::value_parser!(u32).range(1..))]
    pub redraws: u32,

    /// Seed of what is drawn: samples for a bandwidth, and the redraws
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

#[cfg(feature = "report")]
#[derive(Debug, Args)]
pub struct Report {
    /// Predictions: CSV, NPY or NPZ, as for evaluate
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

    /// Seed of what is drawn: the samples of the SKCE where there are more than 20,000 (2,000 of
    /// families other than categorical), and what its test draws
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Where the page goes
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Where the diagrams go as files of their own as well: a folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,

    /// Format of these files
    #[arg(long, value_enum, default_value_t = PictureFormat::Svg, requires = "pictures")]
    pub format: PictureFormat,
}

#[cfg(feature = "report")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PictureFormat {
    Svg,
    Png,
}

#[derive(Debug, Args)]
pub struct Fit {
    /// The map
    #[arg(long, value_enum, default_value_t = Method::default())]
    pub method: Method,

    #[command(flatten)]
    pub logits: LogitsArgs,

    #[command(flatten)]
    pub labels: LabelsArgs,

    /// What the map is to lower
    #[arg(long, value_enum, default_value_t = LossName::Log)]
    pub loss: LossName,

    /// Seed of the maps with a network and of the folds of a cross-validation
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Where to save the map
    #[arg(short, long, value_name = "MAP")]
    pub output: PathBuf,

    /// Print one JSON object instead of lines
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Apply {
    /// A map that fit saved
    #[arg(value_name = "MAP")]
    pub map: PathBuf,

    #[command(flatten)]
    pub logits: LogitsArgs,

    /// Write probabilities instead of logits
    #[arg(long)]
    pub to_probabilities: bool,

    /// Where to write: CSV (FILE.csv, FILE.csv.gz), NPY (FILE.npy) or safetensors (FILE.safetensors,
    /// as the tensor "logits" or "probabilities")
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Logits, and where to compute with them.
#[derive(Debug, Args)]
pub struct LogitsArgs {
    /// Logits, a row a sample and a column a class: CSV (with or without header, plain or gzip), NPY,
    /// or NPZ (FILE.npz or FILE.npz:ARRAY)
    #[arg(long, value_name = "FILE")]
    pub logits: PathBuf,

    /// That file holds probabilities: their logarithms are the logits
    #[arg(long)]
    pub probabilities: bool,

    /// Where to compute: in f64, but in f32 on wgpu
    #[arg(long, value_enum, default_value_t = DeviceName::Flex)]
    pub device: DeviceName,
}

#[derive(Debug, Args)]
pub struct LabelsArgs {
    /// Labels, one a row, or the targets of another family, in the same formats
    #[arg(long, visible_alias = "targets", value_name = "FILE")]
    pub labels: PathBuf,

    /// The classes of the labels count from 1, not from 0
    #[arg(long)]
    pub one_based: bool,
}

#[derive(Debug, Args)]
pub struct Summarise {
    /// Predictions of the piece: CSV, NPY or NPZ, as for evaluate
    #[arg(long, value_name = "FILE")]
    pub predictions: PathBuf,

    #[command(flatten)]
    pub source: SourceArgs,

    /// Bins of equal width of the top label and of each class
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub bins: u32,

    #[command(flatten)]
    pub shape: KernelShapeArgs,

    /// Bandwidth of the kernel, the same number for every piece (evaluate --bandwidth median:5000 finds
    /// one); without it there is no SKCE
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub bandwidth: Option<f64>,

    /// Samples in a block of the SKCE: consecutive ones of the piece; those that fill no block are left
    /// out
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(2..))]
    pub block: u32,

    /// Where the sums go, as JSON
    #[arg(short, long, value_name = "PART.json")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct Merge {
    /// What summarise or merge saved, in any order
    #[arg(required = true, value_name = "PART.json")]
    pub parts: Vec<PathBuf>,

    /// Where the merged sums go
    #[arg(short, long, value_name = "OUT.json")]
    pub output: Option<PathBuf>,

    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
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

/// What files hold, and where to compute with it.
#[derive(Debug, Args)]
pub struct SourceArgs {
    #[command(flatten)]
    pub labels: LabelsArgs,

    /// The predictions are logits, not probabilities
    #[arg(long)]
    pub logits: bool,

    /// Where to compute: in f64, but in f32 on wgpu
    #[arg(long, value_enum, default_value_t = DeviceName::Flex)]
    pub device: DeviceName,
}

#[derive(Debug, Args)]
pub struct KernelShapeArgs {
    /// Profile of the kernel
    #[arg(long = "kernel", value_name = "KERNEL", value_enum, default_value_t = KernelName::Exponential)]
    pub profile: KernelName,

    /// Distance of the kernel: tv for exponential, l2 for gaussian, unless given
    #[arg(long, value_enum)]
    pub distance: Option<DistanceName>,
}

#[derive(Debug, Args)]
pub struct KernelArgs {
    #[command(flatten)]
    pub shape: KernelShapeArgs,

    /// Bandwidth of the kernel: a positive number; the median of the distances of all pairs (ordered
    /// and with the diagonal, as in the published results; of the predictions before, where two are
    /// compared); or that of so many samples, drawn
    #[arg(long, default_value = "median", value_name = "NUMBER|median|median:SAMPLES", value_parser = bandwidth)]
    pub bandwidth: BandwidthChoice,
}

/// What a row of a file of predictions is.
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
    /// Monte Carlo samples, a column each; targets of one dimension
    Samples,
}

/// The kernel on targets that are no classes.
#[derive(Debug, Args)]
pub struct TargetKernelArgs {
    /// Profile of the kernel on targets; of families other than categorical
    #[arg(long, value_enum, default_value_t = TargetKernelName::Gaussian)]
    pub target_kernel: TargetKernelName,

    /// Length scale of the kernel on targets: a positive number, or the median of the distances of
    /// all pairs of targets
    #[arg(long, default_value = "median", value_name = "NUMBER|median", value_parser = length_scale)]
    pub length_scale: LengthScale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetKernelName {
    Gaussian,
    Laplacian,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LengthScale {
    Fixed(f64),
    Median,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("expected a positive finite number".into()),
    }
}

fn length_scale(text: &str) -> Result<LengthScale, String> {
    match text.parse::<f64>() {
        _ if text == "median" => Ok(LengthScale::Median),
        Ok(value) if value.is_finite() && value > 0.0 => Ok(LengthScale::Fixed(value)),
        _ => Err("expected a positive finite number, or median".into()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BandwidthChoice {
    Fixed(f64),
    Median,
    MedianOf(usize),
}

fn bandwidth(text: &str) -> Result<BandwidthChoice, String> {
    let samples = || {
        text.strip_prefix("median:")?
            .parse()
            .ok()
            .filter(|&samples| samples >= 2)
    };
    match text.parse::<f64>() {
        _ if text == "median" => Ok(BandwidthChoice::Median),
        Ok(value) if value.is_finite() && value > 0.0 => Ok(BandwidthChoice::Fixed(value)),
        _ => samples().map(BandwidthChoice::MedianOf).ok_or_else(|| {
            "expected a positive finite number, median, or median:SAMPLES with at least 2".into()
        }),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KernelName {
    Exponential,
    Gaussian,
}

impl From<KernelName> for Profile {
    fn from(name: KernelName) -> Self {
        match name {
            KernelName::Exponential => Self::Exponential,
            KernelName::Gaussian => Self::Gaussian,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistanceName {
    /// Total variation
    Tv,
    /// Sum of absolute differences
    L1,
    /// Euclidean
    L2,
}

impl From<DistanceName> for Distance {
    fn from(name: DistanceName) -> Self {
        match name {
            DistanceName::Tv => Self::TotalVariation,
            DistanceName::L1 => Self::L1,
            DistanceName::L2 => Self::Euclidean,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lens {
    Canonical,
    TopLabel,
    ClassWise,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceName {
    Flex,
    Ndarray,
    Wgpu,
    Cuda,
}
