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

/// The scale of the numbers of class predictions, by default probabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct NumberOptions {
    /// Logits.
    pub logits: bool,
    /// Percentages, which may have the sign.
    pub percent: bool,
    /// Logarithms of probabilities.
    pub log_probabilities: bool,
    /// Whether numbers are what is said even if they look like probabilities.
    pub force: bool,
    /// Whether each row is divided by its sum.
    pub normalise: bool,
    /// The number to which smaller probabilities are raised.
    pub clip: Option<f64>,
    /// Whether there is one column: the probability of an event.
    pub positive: bool,
}
