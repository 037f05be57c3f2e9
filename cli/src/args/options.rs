//! Options that several subcommands have.

use std::{path::PathBuf, sync::Arc};

use burn_calibration::kernel::{Distance, Profile};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::values::*;
use burn_calibration_reader::{NumberOptions, ReadOptions, Texts, delimiter};

use crate::{calls::Data, kernel, progress::Watcher};

/// The kind of predictions in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FamilyName {
    /// One column per class, with its probability or logit
    Categorical,
    /// Means, then standard deviations, with one column of each per dimension of the targets
    Normal,
    /// Locations, then scales, with one column of each per dimension of the targets
    Laplace,
    /// Weights, means, standard deviations, with one column of each per component; targets have one
    /// dimension
    NormalMixture,
    /// The same for Laplace distributions: weights, locations, scales
    LaplaceMixture,
    /// Monte Carlo samples, one per column; targets have one dimension
    Samples,
    /// Quantiles, with one column per level. The level is in the column name (0.9, q0.9, quantile_0.9) or
    /// in --quantile-levels; targets have one dimension
    Quantiles,
    /// One column per event, with its probability or log-odds; several events can happen at once. Labels
    /// have the same number of columns, of 0 and 1; only for evaluate
    Multilabel,
}

/// A file of predictions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct PredictionsArgs {
    /// Predictions, one row per sample; the columns depend on --family
    ///
    /// Formats: text such as CSV, JSON Lines, Parquet, NPY, NPZ (FILE.npz:ARRAY) or safetensors
    /// (FILE.safetensors:TENSOR), also compressed by gzip; - is standard input
    #[arg(long, value_name = "FILE")]
    pub predictions: PathBuf,

    /// Kind of the predictions
    #[arg(long, value_enum, default_value_t = FamilyName::Categorical)]
    pub family: FamilyName,
}

/// Options of the sizes of errors.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is asked")]
pub struct SizeArgs {
    /// Also test whether the overconfidence and the debiased ECE are larger than this tolerated error, a probability
    /// (0.02 is two points)
    #[arg(long, value_name = "ERROR", value_parser = TOLERANCE.parser())]
    pub tolerance: Option<f64>,

    /// Level of the confidence intervals, between 0 and 1; that of the verdict is 1 - LEVEL
    #[arg(long, default_value_t = 0.95, value_parser = LEVEL.parser(), help_heading = "Numbers")]
    pub level: f64,

    /// Also compute a lower bound of the Lp calibration error of this order (1 or more), by maps that are fitted to
    /// four fifths of the samples and applied to the others; for families of classes
    #[arg(long, value_name = "ORDER", value_parser = ORDER.parser(), hide_short_help = true)]
    pub lp_error: Option<f64>,
}

/// Options that make an answer an exit code.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What is asked")]
pub struct GateArgs {
    /// Exit with code 3 if the verdict is that the model is not calibrated, or not given a column of --given
    #[arg(long)]
    pub fail_if_rejected: bool,

    /// Exit with code 3 if an error that --tolerance tests is above this one with the confidence of --level, a
    /// probability (0.02 is two points)
    #[arg(long, value_name = "ERROR", value_parser = TOLERANCE.parser(), conflicts_with = "tolerance")]
    pub fail_above: Option<f64>,
}

/// What is said of the classes.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "What is asked")]
pub struct OrderArgs {
    /// The classes have an order, that of the columns, such as grades: also the ranked probability score
    #[arg(
        long,
        conflicts_with_all = ["positive", "confidence_correctness"],
        hide_short_help = true
    )]
    pub ordered: bool,
}

/// The bins of the probability of an event, and the norm of its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args, Serialize)]
#[command(next_help_heading = "Numbers")]
pub struct BinArgs {
    /// Number of bins of the ECE, its tests and the reliability diagrams; for families of classes
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub bins: u32,

    /// Bins of equal width, or of equal mass, with about the same number of samples in each
    #[arg(long, value_enum, default_value_t = BinningName::Width, hide_short_help = true)]
    pub binning: BinningName,

    /// Also print the error by another norm of the gaps of the bins: 1 is the ECE, 2 the root mean square, max the
    /// largest gap
    #[arg(long, value_enum, default_value_t = Norm::One, hide_short_help = true)]
    pub norm: Norm,
}

/// Options of the files and of random draws.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Numbers")]
pub struct SourceArgs {
    #[command(flatten)]
    pub labels: LabelsArgs,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Seed of all random draws: redraws, subsamples, folds and networks of fits, labels of --soft-labels
    #[arg(
        long,
        default_value_t = 0,
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    pub seed: u64,

    /// Arrays of a program in the place of the files
    #[arg(skip)]
    pub arrays: Option<Arc<Data>>,

    /// What is called at each step of the work
    #[arg(skip)]
    pub watcher: Watcher,
}

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct LabelsArgs {
    /// Labels, one per row, or the targets of another family, in the same formats
    ///
    /// Not needed with --label-column, or if the predictions are confidence and correctness
    #[arg(
        long,
        visible_alias = "targets",
        value_name = "FILE",
        conflicts_with = "confidence_correctness"
    )]
    pub labels: Option<PathBuf>,

    /// The labels are frequencies over several annotators, one column per class
    ///
    /// One label is drawn for each row, so tests of calibration stay exact
    #[arg(long, requires = "labels", hide_short_help = true)]
    pub soft_labels: bool,

    /// The classes of the labels count from 1, not from 0
    #[arg(long, hide_short_help = true)]
    pub one_based: bool,

    /// Names of the classes in the order of the columns, if labels are names: a,b,c, or a file with one name per line
    ///
    /// By default the names in the header of the predictions
    #[arg(long, value_name = "NAMES|FILE", allow_hyphen_values = true)]
    pub classes: Option<String>,

    /// Weights of the samples: a column of the predictions, or a file with one weight per row
    ///
    /// Rows of weight 0 are left out
    #[arg(long, value_name = "COLUMN|FILE", hide_short_help = true)]
    pub weights: Option<String>,

    /// Leave out the rows with this label, and print their number; repeatable
    ///
    /// In segmentation 255 often means no class
    #[arg(
        long,
        value_name = "LABEL",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    pub ignore_label: Vec<String>,

    /// Whether line 1 of the labels is a header; by default this is detected
    #[arg(long, value_parser = yes_or_no(), hide_short_help = true)]
    pub labels_header: Option<bool>,
}

/// Options of the numbers in rows of predictions, which all calls of a monitor have in common.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Input")]
#[serde(deny_unknown_fields)]
pub struct ReadingArgs {
    #[command(flatten)]
    pub numbers: NumberOptions,

    /// Levels of the quantiles in the order of the columns, if their names do not contain them: 0.1,0.5,0.9
    #[arg(
        long = "quantile-levels",
        alias = "levels", // its name before
        value_name = "LEVELS",
        value_delimiter = ',',
        hide_short_help = true
    )]
    #[serde(rename = "quantile_levels")]
    pub levels: Vec<f64>,

    /// Sort the quantiles of rows in which they cross, as they can if each level has a model of its own
    #[arg(long, hide_short_help = true)]
    pub sort_quantiles: bool,

    /// Match columns by their order, and do not compare columns that files share
    ///
    /// By default columns are matched by names
    #[arg(long, hide_short_help = true)]
    pub by_position: bool,
}

/// Options of the rows of predictions.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct RowsArgs {
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// The predictions are two columns: the confidence in a class, and whether the class was right
    ///
    /// They are detected by their names in a header
    #[arg(long, conflicts_with_all = ["positive", "label_column"], hide_short_help = true)]
    pub confidence_correctness: bool,

    /// The columns of the predictions, by name or by number from 0: cat,dog or p0..p9 or 1-10
    ///
    /// In JSON Lines the fields: probs, doc.probs or resps.*.0
    #[arg(long)]
    pub columns: Option<String>,

    /// The column of the labels, by name or by number from 0, or several columns of one-hot labels or targets
    ///
    /// It is a column of the file of labels if there is one, otherwise of the predictions
    #[arg(long, value_name = "COLUMN")]
    pub label_column: Option<String>,

    /// Match the rows of all files by this column, which each of them has
    ///
    /// Otherwise rows are in their order, and columns that files share must agree
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,

    /// Leave out the rows with a missing value: an empty cell, NA, null or NaN
    ///
    /// They are left out of all files, and their number is printed on standard error. apply writes empty rows in their
    /// place
    #[arg(long)]
    pub skip_missing: bool,

    /// Whether line 1 of the predictions is a header; by default this is detected
    #[arg(long, value_parser = yes_or_no(), hide_short_help = true)]
    pub header: Option<bool>,

    /// The delimiter of text files: one character, or tab
    ///
    /// By default a comma, a semicolon or a tab is detected
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter, hide_short_help = true)]
    pub delimiter: Option<u8>,

    /// Texts in the place of files
    #[arg(skip)]
    pub texts: Texts,
}

impl SourceArgs {
    /// Returns the options of the reader for the files.
    pub fn options(&self) -> ReadOptions {
        let labels = self.labels.clone();
        ReadOptions {
            labels: labels.labels,
            weights: labels.weights,
            ignore_label: labels.ignore_label,
            soft_labels: labels.soft_labels,
            one_based: labels.one_based,
            labels_header: labels.labels_header,
            seed: self.seed,
            ..self.rows.options()
        }
    }
}

impl RowsArgs {
    /// Returns the options of the reader for a file of predictions.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            columns: self.columns.clone(),
            label_column: self.label_column.clone(),
            id: self.id.clone(),
            header: self.header,
            delimiter: self.delimiter,
            skip_missing: self.skip_missing,
            by_position: self.reading.by_position,
            confidence_correctness: self.confidence_correctness,
            numbers: self.reading.numbers,
            texts: self.texts.clone(),
            ..ReadOptions::default()
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Numbers")]
pub struct KernelShapeArgs {
    /// Profile of the kernel: exponential, gaussian, matern32, matern52, rational-quadratic:ALPHA or
    /// generalised-exponential:EXPONENT
    #[arg(
        long = "kernel",
        value_name = "PROFILE",
        default_value = "exponential",
        hide_short_help = true
    )]
    pub profile: Profile,

    /// Distance of the kernel: total-variation (tv), l1 or euclidean (l2; for families other than categorical the
    /// 2-Wasserstein distance)
    ///
    /// By default total-variation for classes with an exponential profile, and euclidean otherwise
    #[arg(long, value_name = "DISTANCE", value_parser = kernel::distance, hide_short_help = true)]
    pub distance: Option<Distance>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Numbers")]
pub struct KernelArgs {
    #[command(flatten)]
    pub shape: KernelShapeArgs,

    /// Bandwidth of the kernel. median: the median distance of all pairs of different samples, or of a fixed subsample
    /// if there are more than 4096; compare uses the first predictions. median-with-diagonal: as in the published
    /// results, the median with the distance of each sample to itself
    #[arg(long, default_value = "median", value_name = "NUMBER|median|median-with-diagonal", value_parser = bandwidth, hide_short_help = true)]
    pub bandwidth: BandwidthChoice,
}

/// The kernel on real targets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Numbers")]
pub struct TargetKernelArgs {
    /// Profile of the kernel on targets; for families other than categorical
    #[arg(long, value_enum, default_value_t = TargetKernelName::Gaussian, hide_short_help = true)]
    pub target_kernel: TargetKernelName,

    /// Length scale of the kernel on targets: a positive number, or the median distance of all pairs of targets
    #[arg(long, default_value = "median", value_name = "NUMBER|median", value_parser = length_scale, hide_short_help = true)]
    pub length_scale: LengthScale,
}
