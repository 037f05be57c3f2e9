//! Arrays in the place of the files of a command.

use std::sync::Arc;

use burn_calibration_reader::{
    File, Files, Matrix, Notes, NumberOptions, ReadOptions, RowLines, Table, TextColumn,
};

use crate::{
    args::{FamilyName, OrderArgs, ReadingArgs, RowsArgs, SourceArgs},
    error::Result,
    progress::Watcher,
};

/// Numbers in rows of equal length.
#[derive(Debug, Clone)]
pub struct Array {
    /// The number of columns.
    pub columns: usize,
    /// The numbers, row by row.
    pub values: Vec<f64>,
}

/// Predictions under the name that errors and notes have for them.
#[derive(Debug, Clone)]
pub struct NamedPredictions {
    /// The name.
    pub name: String,
    /// The kind of the predictions.
    pub family: FamilyName,
    /// Their parameters, one row per sample: the columns of the command's files.
    pub rows: Array,
}

/// A variable of each sample.
#[derive(Debug, Clone)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The values, one per sample.
    pub values: VariableValues,
}

/// The values of a variable.
#[derive(Debug, Clone)]
pub enum VariableValues {
    /// Finite numbers.
    Numbers(Vec<f64>),
    /// The group of each sample, by its name.
    Groups(Vec<String>),
}

/// Predictions, what occurred, and what else is known of each sample.
#[derive(Debug, Clone)]
pub struct Data {
    /// The predictions.
    pub predictions: NamedPredictions,
    /// Other predictions of the same samples, for [`compare()`](crate::compare()) and [`report()`](crate::report()).
    pub after: Option<NamedPredictions>,
    /// Whether predictions of classes are logits.
    pub are_logits: bool,
    /// Whether predictions of classes are one column, the probability or the log-odds of an event.
    pub is_event: bool,
    /// Whether predictions of classes have an order, that of the columns.
    pub are_ordered: bool,
    /// The levels of quantiles.
    pub levels: Vec<f64>,
    /// The outcomes: classes from 0, or targets.
    pub outcomes: Array,
    /// The weights of the samples.
    pub weights: Option<Vec<f64>>,
    /// Variables to test calibration given these, for [`evaluate()`](crate::evaluate()).
    pub given: Vec<Variable>,
    /// The names of the classes; none where they are numbers.
    pub class_names: Vec<String>,
    /// The number of each row where the arrays are, from 0, where others were left out before; else empty. Errors and
    /// answers name these.
    pub rows: Vec<usize>,
}

/// The names of arrays besides predictions.
const OUTCOMES: &str = "y_true";
const WEIGHTS: &str = "sample_weight";
const GIVEN: &str = "given";

impl Data {
    /// Predictions with what occurred, and nothing else; those of classes are probabilities.
    pub fn new(predictions: NamedPredictions, outcomes: Array) -> Self {
        Self {
            predictions,
            after: None,
            are_logits: false,
            is_event: false,
            are_ordered: false,
            levels: Vec::new(),
            outcomes,
            weights: None,
            given: Vec::new(),
            class_names: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Returns the option for the order of the classes.
    pub(super) fn order(&self) -> OrderArgs {
        let ordered = self.are_ordered;
        OrderArgs { ordered }
    }

    /// The arrays in the place of the files of a command.
    pub(super) fn source(
        self,
        seed: u64,
        progress: impl Fn(&str, u64, u64) + Send + Sync + 'static,
    ) -> SourceArgs {
        SourceArgs {
            rows: RowsArgs {
                reading: ReadingArgs {
                    numbers: NumberOptions {
                        logits: self.are_logits,
                        force: true, // programs say what their arrays are
                        positive: self.is_event,
                        ..NumberOptions::default()
                    },
                    levels: self.levels.clone(),
                    ..ReadingArgs::default()
                },
                ..RowsArgs::default()
            },
            seed,
            arrays: Some(Arc::new(self)),
            watcher: Watcher::new(progress),
            ..SourceArgs::default()
        }
    }

    /// The arrays as the reader returns files.
    pub(crate) fn files(&self, are_classes: bool, notes: &mut Notes) -> Result<Files> {
        let lines = RowLines::default().select(&self.rows);
        let file = |name: &str, mut table: Table| {
            table.lines = lines.clone();
            File {
                path: name.into(),
                table,
            }
        };
        let numbers = |name: &str, Array { columns, values }: &Array| {
            let (columns, values) = (*columns, values.clone());
            file(name, Table::of_numbers(Matrix { columns, values }))
        };
        let sets = std::iter::once(&self.predictions).chain(&self.after);
        let outcomes = &self.outcomes;
        let labels = if are_classes {
            let column = |at| outcomes.values.iter().skip(at).step_by(outcomes.columns);
            let columns = (0..outcomes.columns).map(|at| text("", at, column(at)));
            file(OUTCOMES, Table::of_texts(columns.collect()))
        } else {
            numbers(OUTCOMES, outcomes)
        };
        let weights = |weights: &Vec<f64>| {
            let column = text("", 0, weights.iter());
            file(WEIGHTS, Table::of_texts(vec![column]))
        };
        let variable = |(at, Variable { name, values }): (usize, &Variable)| match values {
            VariableValues::Numbers(numbers) => text(name, at, numbers.iter()),
            VariableValues::Groups(groups) => TextColumn {
                name: name.clone(),
                at,
                cells: groups.iter().collect(),
                are_groups: true,
            },
        };
        let given = self.given.iter().enumerate().map(variable).collect();
        let files = Files {
            sets: sets.map(|set| numbers(&set.name, &set.rows)).collect(),
            labels: Some(labels),
            weights: self.weights.as_ref().map(weights),
            given: (!self.given.is_empty()).then(|| file(GIVEN, Table::of_texts(given))),
            ..Files::default()
        };
        files.joined(&ReadOptions::default(), are_classes, &[], notes)
    }
}

/// Numbers as a column of text.
fn text<'a>(name: &str, at: usize, numbers: impl Iterator<Item = &'a f64>) -> TextColumn {
    TextColumn {
        name: name.to_owned(),
        at,
        cells: numbers.map(f64::to_string).collect(),
        are_groups: false,
    }
}
