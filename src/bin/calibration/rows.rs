//! Rows of classes: probabilities, or logits with `--logits`, checked to be what they are said to be.

use std::path::Path;

use burn::tensor::{Device, Tensor};
use burn_calibration::distribution::{Categorical, Predictive};
use rayon::prelude::*;

use crate::{
    args::RowsArgs,
    input::{Cells, Lines, Matrix, Options, Resolution, Result, Table, read_table, say},
    source::{Where, no_labels, options, tensor},
};

/// Sums of rows that nobody takes for those of logits are as near to 1.
const NEAR: f64 = 1e-3;
/// The distance from 1 of a sum that is taken as it is.
const EXACT: f64 = 1e-5;
/// The logarithm that stands for that of 0 where only the order counts: its exponential is 0.
const LOG_OF_ZERO: f64 = -800.0;

/// The logarithm of a probability that is far from underflow.
const LEAST_LOG: f64 = -600.0;

/// What is computed from the predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Their logits, where the file has them.
    Logits,
    /// The probabilities and their logarithms: logits are left out where nothing is lost with them.
    Probabilities,
}

/// The predictions of a file, with what it says of classes and labels.
pub struct Rows {
    pub predictions: Categorical,
    /// The names of the classes; empty if the file has none.
    pub names: Vec<String>,
    pub labels: Option<(Cells, Lines)>,
}

/// Reads the predictions of a file, and its labels if they are there.
pub fn read_rows(
    path: &Path,
    args: &RowsArgs,
    (place, wanted): (Where, Wanted),
    device: &Device,
) -> Result<Rows> {
    let options = Options {
        index: Some(if args.positive { 1 } else { 2 }),
        ..options(args, place)
    };
    let table = read_table(path, &options)?;
    let Table {
        names,
        mut numbers,
        labels,
        lines,
        resolution,
        is_confidence,
        ..
    } = table;
    if place == Where::Here && labels.is_none() {
        return Err(no_labels(path));
    }
    let wrong = |reason: String| format!("{}: {}", path.display(), lines.add_to(&reason));
    let is_binary = args.positive || is_confidence;
    match (is_binary, numbers.columns) {
        (true, 1) => {}
        (true, columns) => {
            return Err(wrong(format!(
                "{columns} columns, expected one with --positive"
            )));
        }
        (false, 1) => {
            return Err(wrong(
                "one column, expected one for each class; --positive takes it for the probability of class 1, \
                 and for its log-odds with --logits"
                    .into(),
            ));
        }
        (false, _) => {}
    }
    if is_confidence {
        say(
            path,
            "confidence in a class, and whether it was right (class 1) or not (class 0)",
        );
    }
    let predictions = match args.logits {
        true => {
            if !args.force && are_probabilities(&numbers, &resolution) {
                let what = match is_binary {
                    true => "the column holds probabilities, each in [0, 1]",
                    false => "the rows are probabilities, each in [0, 1] and of sum 1",
                };
                return Err(wrong(format!(
                    "{what}: leave --logits out, or add --force if they are logits"
                )));
            }
            if is_binary {
                numbers = beside(&numbers, |_| 0.0);
            }
            match wanted == Wanted::Probabilities && became_probabilities(&mut numbers) {
                true => Categorical::from_probabilities(tensor(numbers, args.device, device)),
                false => Categorical::from_logits(tensor(numbers, args.device, device)),
            }
        }
        false => {
            if is_binary {
                for (row, p) in numbers.values.chunks(1).enumerate() {
                    check_row(p, (row, 1), 1.0).map_err(wrong)?;
                }
                numbers = beside(&numbers, |p| 1.0 - p);
            }
            if let Some(note) = settle(&mut numbers, args, &resolution).map_err(wrong)? {
                say(path, &note);
            }
            Categorical::from_probabilities(tensor(numbers, args.device, device))
        }
    };
    Ok(Rows {
        predictions: predictions.map_err(|e| wrong(e.to_string()))?,
        names: if is_binary { Vec::new() } else { names },
        labels: labels.map(|labels| (labels, lines)),
    })
}

/// A column for class 0 before that for class 1.
fn beside(column: &Matrix, of_class_0: impl Fn(f64) -> f64) -> Matrix {
    let rows = column.values.iter();
    Matrix {
        columns: 2,
        values: rows.flat_map(|&value| [of_class_0(value), value]).collect(),
    }
}

fn are_probabilities(matrix: &Matrix, resolution: &Resolution) -> bool {
    let is_one = |row: &[f64]| {
        row.iter().all(|p| (0.0..=1.0).contains(p))
            && (row.len() == 1
                || (row.iter().sum::<f64>() - 1.0).abs() < NEAR.max(resolution.tolerance(row)))
    };
    matrix.values.chunks(matrix.columns).all(is_one)
}

/// Makes probabilities of logits in their place. Leaves them as they are where one is not finite, or a
/// probability is so small that its logarithm might be lost.
fn became_probabilities(logits: &mut Matrix) -> bool {
    let greatest = |row: &[f64]| row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_plain = |row: &[f64]| {
        let least = greatest(row) + LEAST_LOG;
        row.iter().all(|z| z.is_finite() && *z >= least)
    };
    let is_plain = logits.values.par_chunks(logits.columns).all(is_plain);
    if is_plain {
        let rows = logits.values.par_chunks_mut(logits.columns);
        rows.for_each(|row| {
            let greatest = greatest(row);
            row.iter_mut().for_each(|z| *z = (*z - greatest).exp());
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        });
    }
    is_plain
}

/// Does to probabilities what `--clip` and `--normalise` say. Divides them by their sums too where these are
/// 1 but for rounding, which it says in a note.
fn settle(matrix: &mut Matrix, args: &RowsArgs, resolution: &Resolution) -> Result<Option<String>> {
    let columns = matrix.columns;
    let mut worst = 0.0f64;
    for (row, values) in matrix.values.chunks(columns).enumerate() {
        let most = if args.normalise { f64::MAX } else { 1.0 };
        check_row(values, (row, 0), most)?;
        let sum: f64 = values.iter().sum();
        if args.normalise {
            if !(sum > 0.0 && sum.is_finite()) {
                return Err(format!(
                    "row {row}: the sum is {sum}, expected a positive number"
                ));
            }
            continue;
        }
        let distance = (sum - 1.0).abs();
        if distance <= EXACT {
            continue;
        }
        let tolerance = resolution.tolerance(values);
        if distance > tolerance {
            let advice = match distance > 0.5 {
                true => "did you mean --logits? (--normalise divides each row by its sum)",
                false => "--normalise divides each row by its sum",
            };
            return Err(format!(
                "row {row}: the probabilities sum to {sum}, expected 1 within {tolerance:.0e}; {advice}"
            ));
        }
        worst = worst.max(distance);
    }
    if args.normalise || args.clip.is_some() || worst > 0.0 {
        for values in matrix.values.chunks_mut(columns) {
            let least = args.clip.unwrap_or(0.0);
            let sum: f64 = values.iter().sum();
            values
                .iter_mut()
                .for_each(|value| *value = (*value / sum).max(least));
            let sum: f64 = values.iter().sum();
            values.iter_mut().for_each(|value| *value /= sum);
        }
    }
    Ok((worst > 0.0).then(|| {
        let words = resolution.words();
        format!("the rows sum to 1 within {worst:.0e}, as {words}: each is divided by its sum")
    }))
}

/// Checks the probabilities of a row from a class on.
fn check_row(values: &[f64], (row, first): (usize, usize), most: f64) -> Result<()> {
    let Some(class) = values
        .iter()
        .position(|value| !(0.0..=most).contains(value))
    else {
        return Ok(());
    };
    let (value, class) = (values[class], class + first);
    let (expected, advice) = match most {
        _ if !value.is_finite() => ("a finite number", ""),
        1.0 => ("a number in [0, 1]", "; did you mean --logits?"),
        _ => ("a number of at least 0", "; did you mean --logits?"),
    };
    Err(format!(
        "row {row}, class {class}: the probability is {value}, expected {expected}{advice}"
    ))
}

/// The logits of predictions, or the logarithms of their probabilities; zeros have one only where they
/// are taken.
pub fn logits(path: &Path, predictions: &Categorical, takes_zeros: bool) -> Result<Tensor<2>> {
    if let Some(logits) = predictions.logits() {
        return Ok(logits);
    }
    let wrong = |reason: String| format!("{}: {reason}", path.display());
    let logits = predictions.log_probabilities();
    if takes_zeros {
        return Ok(logits.clamp_min(LOG_OF_ZERO));
    }
    if logits.clone().min().into_scalar::<f64>().is_finite() {
        return Ok(logits);
    }
    let classes = predictions.classes();
    let numbers: Vec<f64> =
        (logits.clone().try_into_vec_as::<f64>()).map_err(|e| wrong(e.to_string()))?;
    match numbers.iter().position(|number| number.is_infinite()) {
        Some(at) => Err(wrong(format!(
            "row {}, column {}: the probability is 0, whose logarithm is infinite; --clip EPS raises it \
             to EPS (1e-7, say), and --method isotonic, venn-abers or histogram take zeros",
            at / classes,
            at % classes
        ))),
        None => Ok(logits),
    }
}

/// Checks that the predictions of one file are of as many samples and classes as those of another.
pub fn check_sizes(
    (path, predictions): (&Path, &Categorical),
    (expected_path, expected): (&Path, &Categorical),
) -> Result<()> {
    let sizes = [
        ("rows", predictions.len(), expected.len()),
        ("columns", predictions.classes(), expected.classes()),
    ];
    match sizes.iter().find(|(_, got, expected)| got != expected) {
        Some((what, got, expected)) => Err(format!(
            "{}: {got} {what}, expected {expected}, as many as {} has",
            path.display(),
            expected_path.display()
        )),
        None => Ok(()),
    }
}
