//! What is said of the files of one call.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};

/// Texts of tables in the place of files, by the names that stand for their paths.
pub type Texts = Arc<BTreeMap<PathBuf, String>>;

/// The options of reading files of predictions and labels.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The columns of the predictions: names, numbers from 0, or ranges of these; `None` for all columns of
    /// numbers that nothing else names.
    pub columns: Option<String>,
    /// The column of the labels, or several of one-hot labels or targets.
    pub label_column: Option<String>,
    /// The column by which the rows of all files are matched.
    pub id: Option<String>,
    /// A file with labels or targets.
    pub labels: Option<PathBuf>,
    /// A file of weights, or a column of the predictions.
    pub weights: Option<String>,
    /// Labels whose rows are left out.
    pub ignore_label: Vec<String>,
    /// Whether labels are frequencies, from which one is drawn for each row.
    pub soft_labels: bool,
    /// The seed of drawn labels.
    pub seed: u64,
    /// Whether labels count from 1.
    pub one_based: bool,
    /// Whether the first line of the predictions is a header, if it is not to be found out.
    pub header: Option<bool>,
    /// The same of the labels.
    pub labels_header: Option<bool>,
    /// The delimiter of text, if it is not to be found out.
    pub delimiter: Option<u8>,
    /// Whether rows without a value are left out.
    pub skip_missing: bool,
    /// Whether columns are taken in their order, and those that files share need not agree.
    pub by_position: bool,
    /// Whether the columns are a confidence and whether it was right.
    pub confidence_correctness: bool,
    /// The scale of the numbers of class predictions.
    pub numbers: NumberOptions,
    /// Texts in the place of files.
    pub texts: Texts,
}

/// What the numbers of class predictions are. By default they are probabilities. With the feature `clap` these are the
/// options of a command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Input"))]
pub struct NumberOptions {
    /// The predictions are logits, not probabilities
    #[cfg_attr(feature = "clap", arg(long, conflicts_with_all = ["normalise", "clip"]))]
    pub logits: bool,

    /// Read rows as logits or percentages even if they look like probabilities, in [0, 1] and with sum 1
    #[cfg_attr(feature = "clap", arg(long, hide_short_help = true))]
    pub force: bool,

    /// The predictions are percentages, with or without the sign %
    #[cfg_attr(
        feature = "clap",
        arg(long, conflicts_with = "logits", hide_short_help = true)
    )]
    pub percent: bool,

    /// The predictions are logarithms of probabilities
    ///
    /// Rows whose probabilities sum to less than 1, such as the choices of a language model, are divided by their sum,
    /// with a note
    #[cfg_attr(
        feature = "clap",
        arg(long, conflicts_with_all = ["logits", "percent"], hide_short_help = true)
    )]
    pub log_probabilities: bool,

    /// Divide each row of probabilities by its sum
    #[cfg_attr(
        feature = "clap",
        arg(long, visible_alias = "normalize", hide_short_help = true)
    )]
    pub normalise: bool,

    /// Raise probabilities below EPS to EPS and divide each row by its sum, because zeros have no logarithm
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "EPS", value_parser = least_probability, hide_short_help = true)
    )]
    pub clip: Option<f64>,

    /// The predictions are one column: the probability of class 1 of two classes, or its log-odds with --logits
    #[cfg_attr(feature = "clap", arg(long))]
    pub positive: bool,
}

/// The least probability that an option names.
#[cfg(feature = "clap")]
fn least_probability(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (f64::MIN_POSITIVE..0.5).contains(number));
    number.ok_or_else(|| "expected a number above 0 and below 0.5".into())
}
