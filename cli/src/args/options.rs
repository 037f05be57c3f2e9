//! Options that several subcommands have.

use std::path::PathBuf;

use burn_calibration::kernel::{Distance, Profile};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::values::*;
use crate::{kernel, program::HeldFiles};

/// The kind of prediction that a row of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
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
    /// Quantiles, a column for each level, which its name gives (0.9, q0.9, quantile_0.9) or --levels; targets of
    /// one dimension
    Quantiles,
    /// A column an event, of which several may happen at once: its probability, or its log-odds. Labels are as
    /// many columns of 0 and 1; of evaluate
    Multilabel,
}

/// A file of predictions.
#[derive(Debug, Args)]
pub struct PredictionsArgs {
    /// Predictions, one row per sample; the columns depend on --family: text such as CSV, NPY, NPZ
    /// (FILE.npz:ARRAY) or safetensors (FILE.safetensors:TENSOR), packed by gzip or not; - is standard input. A
    /// map is fitted to predictions that were held out from training
    #[arg(long, value_name = "FILE")]
    pub predictions: PathBuf,

    /// What a row of the predictions is; maps are of categorical, normal and laplace ones
    #[arg(long, value_enum, default_value_t = Family::Categorical)]
    pub family: Family,
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

/// The bins of the probability of an event, and the norm of its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args, Serialize)]
pub struct BinArgs {
    /// Bins of the ECE, its tests and the reliability diagrams; of classes
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub bins: u32,

    /// Bins of equal width, or of equal mass: about as many samples in each
    #[arg(long, value_enum, default_value_t = BinningName::Width)]
    pub binning: BinningName,

    /// Also tell the error in these bins by another norm of their gaps: 1 is the ECE, 2 the root of the mean
    /// square, max the largest
    #[arg(long, value_enum, default_value_t = Norm::One)]
    pub norm: Norm,
}

/// The contents of files, and the device.
#[derive(Debug, Args)]
pub struct SourceArgs {
    #[command(flatten)]
    pub labels: LabelsArgs,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Seed of what is drawn: redraws, samples where there are too many, folds and networks of fits, labels of
    /// --soft-labels
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct LabelsArgs {
    /// Labels, one a row, or the targets of another family, in the same formats; not needed with
    /// --label-column, or where the predictions are confidence and correctness
    #[arg(
        long,
        visible_alias = "targets",
        value_name = "FILE",
        conflicts_with = "confidence_correctness"
    )]
    pub labels: Option<PathBuf>,

    /// The labels are frequencies of several annotators, a column a class: one label is drawn for each row,
    /// which is exact for tests of calibration
    #[arg(long, requires = "labels")]
    pub soft_labels: bool,

    /// The classes of the labels count from 1, not from 0
    #[arg(long)]
    pub one_based: bool,

    /// Names of the classes in the order of the columns, where labels are names: a,b,c, or a file with one
    /// a line. By default those in the header of the predictions
    #[arg(long, value_name = "NAMES|FILE")]
    pub classes: Option<String>,

    /// Weights of the samples: a column of the predictions, or a file with one weight a row. Rows of weight 0 are left
    /// out
    #[arg(long, value_name = "COLUMN|FILE")]
    pub weights: Option<String>,

    /// Leave out the rows with this label, and say how many there are; repeatable. In segmentation 255 often
    /// stands for no class
    #[arg(long, value_name = "LABEL", allow_negative_numbers = true)]
    pub ignore_label: Vec<String>,

    /// Whether line 1 of the labels is a header, if it is not to be found out
    #[arg(long, value_enum)]
    pub labels_header: Option<YesNo>,
}

/// What the rows of predictions are, and where to compute with them.
#[derive(Debug, Clone, Args)]
pub struct RowsArgs {
    /// The predictions are logits, not probabilities
    #[arg(long, conflicts_with_all = ["normalise", "clip"])]
    pub logits: bool,

    /// Take rows as logits though they look like probabilities: in [0, 1] and of sum 1
    #[arg(long, requires = "logits")]
    pub force: bool,

    /// The predictions are percentages, with the sign % or without, which are divided by 100
    #[arg(long, conflicts_with = "logits")]
    pub percent: bool,

    /// The predictions are logarithms of probabilities. Where these sum to less than 1, as those of the choices of
    /// a language model do, they are divided by their sum, which is said
    #[arg(long, conflicts_with_all = ["logits", "percent"])]
    pub log_probabilities: bool,

    /// Divide each row of probabilities by its sum
    #[arg(long, visible_alias = "normalize")]
    pub normalise: bool,

    /// Raise probabilities below EPS to EPS and divide each row by its sum: zeros have no logarithm
    #[arg(long, value_name = "EPS", value_parser = clip)]
    pub clip: Option<f64>,

    /// The predictions are one column: the probability of class 1 of two classes, or its log-odds with
    /// --logits
    #[arg(long)]
    pub positive: bool,

    /// The predictions are two columns: the confidence in a class, and whether it was right. Found by their
    /// names where a header has them
    #[arg(long, conflicts_with_all = ["positive", "label_column"])]
    pub confidence_correctness: bool,

    /// Levels of the quantiles in the order of their columns, where their names do not give them: 0.1,0.5,0.9
    #[arg(long, value_name = "LEVELS", value_delimiter = ',')]
    pub levels: Vec<f64>,

    /// Sort the quantiles of each row where they cross, as those of a model for each level do
    #[arg(long)]
    pub sort_quantiles: bool,

    /// The columns of the predictions, by name or by number from 0: cat,dog or p0..p9 or 1-10; of JSON Lines the
    /// fields: probs, doc.probs or resps.*.0
    #[arg(long)]
    pub columns: Option<String>,

    /// The column of the labels, by name or by number from 0, or several columns of one-hot labels or targets: of
    /// the file of labels if there is one, else of the predictions
    #[arg(long, value_name = "COLUMN")]
    pub label_column: Option<String>,

    /// Leave out the rows in which a value is missing: an empty cell, NA, null or NaN. They are left out of all
    /// files, and counted on standard error; apply writes empty rows in their place
    #[arg(long)]
    pub skip_missing: bool,

    /// Take columns and rows in their order, whatever names and ids they have: else columns with names are
    /// matched by them, and rows by ids where several files have some
    #[arg(long)]
    pub by_position: bool,

    /// Whether line 1 of the predictions is a header, if it is not to be found out
    #[arg(long, value_enum)]
    pub header: Option<YesNo>,

    /// Where to compute: in f64, but in f32 on wgpu
    #[arg(long, value_enum, default_value_t = DeviceName::Flex)]
    pub device: DeviceName,

    /// Files that are in memory
    #[arg(skip)]
    pub held: HeldFiles,
}

#[derive(Debug, Args)]
pub struct KernelShapeArgs {
    /// Profile of the kernel: exponential, gaussian, matern32, matern52, rational-quadratic:ALPHA or
    /// generalised-exponential:EXPONENT
    #[arg(long = "kernel", value_name = "PROFILE", default_value = "exponential")]
    pub profile: Profile,

    /// Distance of the kernel: total-variation (tv), l1 or euclidean (l2, the 2-Wasserstein distance of
    /// families other than categorical). By default total-variation for the exponential profiles of
    /// classes, and euclidean otherwise
    #[arg(long, value_name = "DISTANCE", value_parser = kernel::distance)]
    pub distance: Option<Distance>,
}

#[derive(Debug, Args)]
pub struct KernelArgs {
    #[command(flatten)]
    pub shape: KernelShapeArgs,

    /// Bandwidth of the kernel: a positive number; the median of the distances of all pairs of
    /// different samples (of the predictions before, where two are compared), or of 5000 samples, drawn,
    /// where there are more than 20000; that of so many samples, drawn; or, as in the published results, the median with the distance of each sample to itself
    #[arg(long, default_value = "median", value_name = "NUMBER|median|median:SAMPLES|median-with-diagonal", value_parser = bandwidth)]
    pub bandwidth: BandwidthChoice,
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
