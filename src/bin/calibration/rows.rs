//! Rows of classes: probabilities, or logits with `--logits`, checked to be what they are said to be.

use std::path::Path;

use burn::tensor::{Device, Tensor};
use burn_calibration::{
    distribution::{Categorical, Predictive},
    error::Error,
};

use crate::{
    args::RowsArgs,
    input::{Matrix, Result, read_matrix},
    source::tensor,
};

/// Sums of rows that nobody takes for those of logits are as near to 1.
const NEAR: f64 = 1e-3;
/// The logarithm that stands for that of 0 where only the order counts: its exponential is 0.
const LOG_OF_ZERO: f64 = -800.0;

/// The predictions of a file.
pub fn read_predictions(path: &Path, args: &RowsArgs, device: &Device) -> Result<Categorical> {
    let mut matrix = read_matrix(path)?;
    let wrong = |reason: String| format!("{}: {reason}", path.display());
    if args.logits {
        if !args.force && are_probabilities(&matrix) {
            return Err(wrong(
                "the rows are probabilities, each in [0, 1] and of sum 1: leave --logits out, or add \
                 --force if they are logits"
                    .into(),
            ));
        }
        let logits = tensor(matrix, args.device, device);
        return Categorical::from_logits(logits).map_err(|e| wrong(e.to_string()));
    }
    prepare(&mut matrix, args).map_err(wrong)?;
    let probabilities = tensor(matrix, args.device, device);
    Categorical::from_probabilities(probabilities).map_err(|e| wrong(with_advice(e)))
}

fn are_probabilities(matrix: &Matrix) -> bool {
    let is_one = |row: &[f64]| {
        row.iter().all(|p| (0.0..=1.0).contains(p)) && (row.iter().sum::<f64>() - 1.0).abs() < NEAR
    };
    matrix.columns > 1 && matrix.values.chunks(matrix.columns).all(is_one)
}

/// Does to probabilities what `--clip` and `--normalise` say.
fn prepare(matrix: &mut Matrix, args: &RowsArgs) -> Result<()> {
    if args.clip.is_none() && !args.normalise {
        return Ok(());
    }
    for (row, values) in matrix.values.chunks_mut(matrix.columns).enumerate() {
        if !values.iter().all(|value| *value >= 0.0) {
            continue; // the check of probabilities names it
        }
        if let Some(least) = args.clip {
            values
                .iter_mut()
                .for_each(|value| *value = value.max(least));
        }
        let sum: f64 = values.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(format!(
                "row {row}: the sum is {sum}, expected a positive number"
            ));
        }
        values.iter_mut().for_each(|value| *value /= sum);
    }
    Ok(())
}

/// What is wrong with probabilities, and the option that may have been meant.
fn with_advice(error: Error) -> String {
    const NORMALISE: &str = "--normalise divides each row by its sum";
    match &error {
        Error::Value { value, .. } if value.is_finite() => {
            format!("{error}; did you mean --logits?")
        }
        Error::Sum { sum, .. } if (sum - 1.0).abs() > 0.5 => {
            format!("{error}; did you mean --logits? ({NORMALISE})")
        }
        Error::Sum { .. } => format!("{error}; {NORMALISE}"),
        _ => error.to_string(),
    }
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
