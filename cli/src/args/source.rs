//! Files of predictions and labels: what they hold, and where to compute with it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::number;

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

    /// Whether line 1 of the labels is a header, if it is not to be found out
    #[arg(long, value_enum)]
    pub labels_header: Option<YesNo>,
}

/// What the rows of predictions are, and where to compute with them.
#[derive(Debug, Args)]
pub struct RowsArgs {
    /// The predictions are logits, not probabilities
    #[arg(long, conflicts_with_all = ["normalise", "clip"])]
    pub logits: bool,

    /// Take rows as logits though they look like probabilities: in [0, 1] and of sum 1
    #[arg(long, requires = "logits")]
    pub force: bool,

    /// The predictions are percentages, which are divided by 100
    #[arg(long, conflicts_with = "logits")]
    pub percent: bool,

    /// The predictions are logarithms of probabilities
    #[arg(long, conflicts_with_all = ["logits", "percent", "normalise"])]
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
    #[arg(long, conflicts_with_all = ["positive", "label_column", "columns"])]
    pub confidence_correctness: bool,

    /// The columns of the predictions, by name or by number from 0: cat,dog or p0..p9 or 1-10
    #[arg(long)]
    pub columns: Option<String>,

    /// The column of the labels, by name or by number from 0: of the file of labels if there is one, else of
    /// the predictions
    #[arg(long, value_name = "COLUMN")]
    pub label_column: Option<String>,

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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceName {
    Flex,
    Ndarray,
    Wgpu,
    Cuda,
}

fn clip(text: &str) -> Result<f64, String> {
    let is_clip = |value: &f64| (f64::MIN_POSITIVE..0.5).contains(value);
    number(text, is_clip, "a number above 0 and below 0.5")
}
