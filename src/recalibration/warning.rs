//! Warnings of a fit about its data, worded in one place.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{data::FitData, scalar::event::EventOutcomes};
use crate::{
    distribution::Weights,
    hypothesis::Unrelated,
    numbers::{counted, significant},
};

/// A reason for care with a fitted map.
///
/// [`Display`](fmt::Display) words it, with the numbers of rows and classes; [`words`](Self::words) takes the
/// names of classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FitWarning {
    /// Every row of logits is in `[0, 1]` and sums to 1 within 0.005: the logits may be probabilities.
    ProbabilitiesAsLogits,
    /// Rows that the fit leaves out: with them, the mean loss of the others would have become worse.
    SetAside {
        /// The rows, from 0.
        rows: Vec<usize>,
    },
    /// Rows that would each decide the fit alone, and are too many to leave out: the predictions stay
    /// unchanged.
    NoMap {
        /// The rows, from 0.
        rows: Vec<usize>,
    },
    /// Classes with no label, or with one.
    FewLabels {
        /// Each class with the number of its labels.
        classes: Vec<ClassCount>,
        /// The number of labels.
        samples: usize,
        /// Whether there are two classes: then the slope is not identified without labels of both.
        binary: bool,
    },
    /// Every prediction is right: the data do not limit how sharp predictions may be.
    AllRight {
        /// The number of predictions.
        samples: usize,
    },
    /// The probability of a class separates the samples of the class from the others: the data do not bound a
    /// slope for it alone.
    Separated {
        /// The classes.
        classes: Vec<usize>,
    },
    /// A class is rarer where it is predicted to be more likely: labels may be swapped.
    Reversed {
        /// The classes.
        classes: Vec<usize>,
    },
    /// Labels that have no higher probability than those of other rows, though the predictions are sure, by the test of
    /// [`Unrelated`]: rows may not match.
    Unrelated {
        /// The mean probability of the labels.
        found: f64,
        /// The same for labels that are permuted.
        permuted: f64,
    },
    /// Rows that each decide the fit alone, and are too many to leave out: the fit is to all rows.
    Ruled {
        /// The rows, from 0.
        rows: Vec<usize>,
    },
    /// The mean log loss of the data of the fit is higher than before.
    Worse {
        /// The rise of the mean.
        change: f64,
    },
    /// The mean score of samples that five fits leave out in turn is higher with the map.
    NoGain {
        /// The rise of the mean.
        change: f64,
        /// Its standard error, over the samples.
        standard_error: f64,
    },
    /// Maps that were not tried.
    TooFew {
        /// The number of samples.
        samples: usize,
        /// The short names of the maps.
        names: Vec<String>,
    },
}

/// A class with the number of its labels. It is serialized as an array of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(usize, usize)", into = "(usize, usize)")]
pub struct ClassCount {
    /// The class.
    pub class: usize,
    /// The number of its labels.
    pub labels: usize,
}

impl From<(usize, usize)> for ClassCount {
    fn from((class, labels): (usize, usize)) -> Self {
        Self { class, labels }
    }
}

impl From<ClassCount> for (usize, usize) {
    fn from(ClassCount { class, labels }: ClassCount) -> Self {
        (class, labels)
    }
}

impl From<Unrelated> for FitWarning {
    fn from(
        Unrelated {
            found, permuted, ..
        }: Unrelated,
    ) -> Self {
        Self::Unrelated { found, permuted }
    }
}

/// Numbers that a sentence lists.
const LISTED: usize = 5;

/// The first of many, and how many more.
fn list(words: impl ExactSizeIterator<Item = String>) -> String {
    let more = words.len().saturating_sub(LISTED);
    let first: Vec<String> = words.take(LISTED).collect();
    match more {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

fn row_list(rows: &[usize]) -> String {
    let noun = if rows.len() == 1 { "row" } else { "rows" };
    format!("{noun} {}", list(rows.iter().map(usize::to_string)))
}

impl FitWarning {
    /// The rows that a fit left out.
    pub(super) fn rows(&self) -> &[usize] {
        match self {
            Self::SetAside { rows } | Self::NoMap { rows } => rows,
            _ => &[],
        }
    }

    /// Names the rows of the data, where the samples of the fit are some of them: `rows[k]` is the row of sample `k`.
    /// Without rows they stay as they are.
    ///
    /// ```
    /// use burn_calibration::recalibration::FitWarning;
    ///
    /// let warning = FitWarning::SetAside { rows: vec![1] };
    /// let rows = [0, 2, 3]; // row 1 of the data is left out
    /// assert!(warning.at_rows(&rows).to_string().starts_with("the fit leaves out row 2,"));
    /// ```
    ///
    /// # Panics
    ///
    /// If there are rows, but fewer than samples.
    pub fn at_rows(mut self, rows: &[usize]) -> Self {
        if let Self::SetAside { rows: named }
        | Self::NoMap { rows: named }
        | Self::Ruled { rows: named } = &mut self
            && !rows.is_empty()
        {
            named.iter_mut().for_each(|row| *row = rows[*row]);
        }
        self
    }

    /// Returns the sentence, with a name for each class: "class 2", or what the data call it.
    pub fn words(&self, name: impl Fn(usize) -> String) -> String {
        let named = |classes: &[usize]| list(classes.iter().map(|&class| name(class)));
        match self {
            Self::ProbabilitiesAsLogits => {
                "every row of logits is in [0, 1] and sums to 1, as probabilities do: if they are probabilities, fit \
                 the map to their logarithms"
                    .into()
            }
            Self::SetAside { rows } => format!(
                "the fit leaves out {}, which would make the loss of the other rows worse: {}?",
                row_list(rows),
                if rows.len() == 1 {
                    "is its prediction right"
                } else {
                    "are their predictions right"
                }
            ),
            Self::NoMap { rows } => format!(
                "the predictions stay unchanged: {} would each decide the fit alone",
                row_list(rows)
            ),
            Self::FewLabels {
                classes,
                samples,
                binary,
            } => {
                let count = |&ClassCount { class, labels }: &ClassCount| {
                    format!("{} has {}", name(class), counted(labels, "label"))
                };
                let counts = list(classes.iter().map(count));
                let absent = classes.iter().any(|class| class.labels == 0);
                let so = match (*binary, absent) {
                    (true, true) => "labels of one class do not identify the slope",
                    (true, false) => "one label of a class does not identify the slope",
                    (false, _) => "the data say little about the probability of such classes",
                };
                format!("{counts} of {samples}: {so}")
            }
            Self::AllRight { samples } => format!(
                "all {samples} predictions are right, so these data do not limit how sharp they may be"
            ),
            Self::Separated { classes } if classes.len() == 1 => format!(
                "the probability of {} separates its samples from all others: a slope for it alone would have \
                 no bound",
                named(classes)
            ),
            Self::Separated { classes } => format!(
                "the probabilities of {} separate the samples of each from all others: slopes for them alone \
                 would have no bound",
                named(classes)
            ),
            Self::Reversed { classes } if classes.len() == 1 => format!(
                "{} is rarer where it is predicted to be more likely: are labels or columns swapped?",
                named(classes)
            ),
            Self::Reversed { classes } => format!(
                "{} are rarer where they are predicted to be more likely: are labels or columns swapped?",
                named(classes)
            ),
            &Self::Unrelated { found, permuted } => Unrelated::new(found, permuted).to_string(),
            Self::Ruled { rows } => format!(
                "the map increases the loss of most rows to decrease that of {}",
                row_list(rows)
            ),
            Self::Worse { change } => format!(
                "the map raises the mean log loss of the data of its own fit by {change:.4}: without it the \
                 predictions are better"
            ),
            Self::NoGain {
                change,
                standard_error,
            } => format!(
                "samples that were left out of five fits, each to four fifths of the data, show no gain: the map \
                 raises their mean score by {} ± {}",
                significant(*change, 2),
                significant(*standard_error, 2)
            ),
            Self::TooFew { samples, names } => {
                let are = if *samples == 1 { "is" } else { "are" };
                let samples = counted(*samples, "sample");
                format!("{samples} {are} too few to try {}", names.join(", "))
            }
        }
    }
}

impl fmt::Display for FitWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(|class| format!("class {class}")))
    }
}

/// Most logits whose classes are each checked.
const MOST: usize = 5_000_000;

impl FitWarning {
    /// Names the rows of the data in some warnings.
    pub(super) fn name_rows(warnings: &mut Vec<Self>, rows: &[usize]) {
        let all = std::mem::take(warnings).into_iter();
        warnings.extend(all.map(|warning| warning.at_rows(rows)));
    }

    /// Returns whether it is about the fit of one map, and not about the data.
    pub(super) fn is_of_map(&self) -> bool {
        matches!(
            self,
            Self::Worse { .. } | Self::NoGain { .. } | Self::Ruled { .. } | Self::NoMap { .. }
        )
    }

    /// The warnings about labels and logits, which do not depend on the map.
    pub(super) fn of_data(data: &FitData) -> Vec<Self> {
        let (samples, m) = (data.samples(), data.classes);
        let mut counts = vec![0; m];
        data.labels.iter().for_each(|&label| counts[label] += 1);
        let counts = counts.into_iter().enumerate().map(ClassCount::from);
        let classes: Vec<ClassCount> = counts.filter(|class| class.labels <= 1).collect();
        let mut warnings = Vec::new();
        if data.rows().all(is_distribution) {
            warnings.push(Self::ProbabilitiesAsLogits);
        }
        if !classes.is_empty() {
            let binary = m == 2;
            warnings.push(Self::FewLabels {
                classes,
                samples,
                binary,
            });
        }
        if all_right(data) {
            warnings.push(Self::AllRight { samples });
        }
        if samples * m > MOST {
            return warnings;
        }
        // of the samples as they are, whatever their weights
        let events = EventOutcomes::weighted(data, &Weights::default());
        let class = |event: usize| if m == 2 { 1 } else { event };
        let of = |holds: fn(&EventOutcomes) -> bool| -> Vec<usize> {
            let found = events.iter().enumerate().filter(|(_, event)| holds(event));
            found.map(|(event, _)| class(event)).collect()
        };
        let classes = of(EventOutcomes::is_separated);
        if !classes.is_empty() {
            warnings.push(Self::Separated { classes });
        }
        let classes = of(|event| event.rank_statistic() < -REVERSED);
        if classes.is_empty() {
            let unrelated = Unrelated::of(&data.probabilities(), m, &data.labels);
            warnings.extend(unrelated.map(Self::from));
        } else {
            warnings.push(Self::Reversed { classes });
        }
        warnings
    }
}

/// Standard errors below chance from which the ranks of a class are called reversed: a chance of 10⁻⁵ each.
const REVERSED: f64 = 4.3;

/// The distance from 1 that the sum of probabilities may have: those of a file are rounded, four of three decimals to 0.002.
const ROUNDED: f64 = 5e-3;

/// Whether a row is in `[0, 1]` and sums to 1.
fn is_distribution(row: &[f64]) -> bool {
    row.iter().all(|value| (0.0..=1.0).contains(value))
        && (row.iter().sum::<f64>() - 1.0).abs() <= ROUNDED
}

/// Whether the label of each row has the largest logit, and no other class has it too.
pub(super) fn all_right(data: &FitData) -> bool {
    data.rows().zip(&data.labels).all(|(row, &y)| {
        let mut others = row.iter().enumerate().filter(|(class, _)| *class != y);
        others.all(|(_, z)| *z < row[y])
    })
}
