//! The numbers of predictions of classes, in the order of the classes.

use std::mem;

use crate::{
    File, Matrix, Notes, ReadOptions, Resolution, Table, clipped,
    error::{Context, Error, Result, ensure, wrong},
    names::{Names, OPTION, check_distinct, columns, in_order, numbered, say_by_name},
    probabilities::{
        TOLERANCE, became_probabilities, check_logits, check_percentages, settle, settle_logarithms,
    },
};

/// Probabilities or logits of classes, checked to be what they are said to be.
#[derive(Debug, Clone)]
pub struct ClassNumbers {
    /// A column for each class. Of an event they are two: that of class 1 stands after that of its complement.
    pub numbers: Matrix,
    /// Whether they are probabilities, and not logits.
    pub are_probabilities: bool,
    /// The names of the columns in their order; empty if the file has none.
    pub names: Vec<String>,
    /// The resolution of the probabilities.
    pub resolution: Resolution,
}

impl File {
    /// Takes the numbers out of the table, with the columns in the order of expected names.
    ///
    /// - `wants_probabilities`: whether logits are made probabilities where nothing is lost with them
    ///
    /// # Errors
    ///
    /// Another number of columns than the options say; names of columns that differ from those that are expected; numbers
    /// that are not what the options say, with the row.
    pub fn take_class_numbers(
        &mut self,
        options: &ReadOptions,
        like: Names,
        wants_probabilities: bool,
        notes: &mut Notes,
    ) -> Result<ClassNumbers> {
        let names = mem::take(&mut self.table.names);
        let numbers = mem::take(&mut self.table.numbers);
        let made = self.class_numbers((names, numbers), options, like, wants_probabilities, notes);
        made.on(&self.path, &self.table.lines)
    }

    fn class_numbers(
        &self,
        (mut names, mut numbers): (Vec<String>, Matrix),
        options: &ReadOptions,
        like: Names,
        wants_probabilities: bool,
        notes: &mut Notes,
    ) -> Result<ClassNumbers> {
        let Self { path, table } = self;
        let kind = &options.numbers;
        let is_confidence = table.is_confidence;
        let is_binary = kind.positive || is_confidence;
        let columns = numbers.columns;
        ensure!(
            !is_binary || columns == 1,
            "{columns} columns, expected one with --positive"
        );
        ensure!(
            is_binary || columns > 1,
            "one column, expected one for each class; add --positive if it is the probability of class 1, or \
             --positive --logits if it is its log-odds"
        );
        if !is_binary
            && !options.by_position
            && let Some(order) = class_order(&names, like)?
        {
            numbers = numbers.with_columns(&order);
            names = in_order(&names, &order);
            say_by_name(notes, path, "columns", &names);
        }
        if is_confidence {
            let note = "the columns are the confidence in a class, and whether the class was right (1) or wrong (0)";
            notes.say(path, note);
        }
        let mut resolution = table.resolution;
        if kind.percent {
            if !kind.force {
                check_percentages(&numbers)?;
            }
            numbers.values.iter_mut().for_each(|value| *value /= 100.0);
            resolution = resolution.of_percent();
        }
        let mut are_logits = kind.logits;
        if kind.log_probabilities {
            if let Some(note) = settle_logarithms(&mut numbers, kind)? {
                notes.say(path, note);
            }
            resolution = Resolution::default();
            // finite logarithms are logits, also of probabilities that underflow
            are_logits = !is_binary && numbers.values.iter().all(|value| value.is_finite());
            if !are_logits {
                let values = numbers.values.iter_mut();
                values.for_each(|value| *value = value.exp());
            }
        }
        let mut are_probabilities = !are_logits;
        if are_logits {
            if kind.logits && !kind.force {
                check_logits(&numbers, is_confidence)?;
            }
            if is_binary {
                numbers = beside(&numbers, |_| 0.0);
            }
            are_probabilities = wants_probabilities && became_probabilities(&mut numbers);
            resolution = Resolution::default();
        } else {
            let note = settle(&mut numbers, kind);
            let better = |error| column_too_many(table, &names, &numbers).unwrap_or(error);
            let note = note.map_err(better)?;
            if is_binary {
                numbers = beside(&numbers, |p| 1.0 - p);
            }
            if let Some(note) = note.filter(|_| !kind.log_probabilities) {
                notes.say(path, note);
            }
        }
        Ok(ClassNumbers {
            numbers,
            are_probabilities,
            names,
            resolution,
        })
    }
}

/// A column for class 0 before that for class 1.
fn beside(column: &Matrix, of_class_0: impl Fn(f64) -> f64) -> Matrix {
    let rows = column.values.iter();
    Matrix {
        columns: 2,
        values: rows.flat_map(|&value| [of_class_0(value), value]).collect(),
    }
}

/// The error of a column beside others that sum to 1 without it, such as that of the predicted class, where no option
/// names the columns.
fn column_too_many(table: &Table, names: &[String], numbers: &Matrix) -> Option<Error> {
    let columns = numbers.columns;
    let is_without = |left_out: usize| {
        numbers.values.chunks(columns).all(|row| {
            let mut others = row.iter().enumerate().filter(|(at, _)| *at != left_out);
            let is_within = others.clone().all(|(_, p)| (0.0..=1.0).contains(p));
            let sum: f64 = others.by_ref().map(|(_, p)| p).sum();
            is_within && (sum - 1.0).abs() <= TOLERANCE
        })
    };
    if !table.is_default || columns < 3 {
        return None;
    }
    let column = (0..columns).find(|&column| is_without(column))?;
    let name = |at: usize| match names.get(at) {
        Some(name) => name.clone(),
        None => at.to_string(),
    };
    let others = (0..columns).filter(|at| *at != column).map(name);
    Some(wrong!(
        "with the column {} rows do not sum to 1, and without it all of them do, expected --columns {}",
        clipped(&name(column)),
        others.collect::<Vec<_>>().join(",")
    ))
}

/// The columns in the order of the classes; none where they are in it. Columns whose names count, as p0, p1,
/// p2, are classes of these numbers.
fn class_order(names: &[String], expected: Names) -> Result<Option<Vec<usize>>> {
    check_distinct(names)?;
    let numbered = numbered(names);
    let is_known = |name: &String| names.contains(name);
    if expected.names.is_empty() {
        let order = numbered.filter(|numbered| !numbered.is_sorted());
        return Ok(order.map(|numbered| numbered.order));
    }
    // names of classes that the file does not have are those of its columns in their order
    if expected.of == OPTION && !expected.names.iter().any(is_known) {
        ensure!(
            numbered.is_none_or(|numbered| numbered.is_sorted()),
            "the columns are named {}, expected the names of {OPTION} or the columns in the order of their \
             numbers; --by-position takes columns in their order",
            clipped(&names.join(", "))
        );
        return Ok(None);
    }
    columns(expected, names)
        .map_err(|reason| wrong!("{reason}; --by-position takes columns in their order"))
}
