//! Predictions and labels from files, checked.

use std::path::Path;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::distribution::Categorical;

use crate::{
    args::Source,
    input::{self, Result},
};

/// The predictions and labels of the files.
pub fn read(
    source: &Source,
    device: &Device,
    dtype: DType,
) -> Result<(Categorical, Tensor<1, Int>)> {
    let predictions = read_predictions(&source.predictions, source.logits, device, dtype)?;
    let labels = input::read_labels(&source.labels, source.one_based)?;
    let (rows, columns) = (predictions.samples(), predictions.classes());
    if labels.len() != rows {
        return Err(format!(
            "{}: {} labels, expected {rows}, as many as {} has rows",
            source.labels.display(),
            labels.len(),
            source.predictions.display()
        ));
    }
    if let Some(row) = labels.iter().position(|&label| label >= columns as i64) {
        let first = i64::from(source.one_based);
        return Err(format!(
            "{}: row {row}: the label is {}, expected a class in {first}..={}",
            source.labels.display(),
            labels[row] + first,
            columns as i64 - 1 + first
        ));
    }
    let labels = TensorData::new(labels, [rows]);
    Ok((predictions, Tensor::from_data(labels, device)))
}

/// The predictions of a file.
pub fn read_predictions(
    path: &Path,
    logits: bool,
    device: &Device,
    dtype: DType,
) -> Result<Categorical> {
    let matrix = input::read_matrix(path)?;
    let (rows, columns) = (matrix.rows(), matrix.columns);
    let values = Tensor::<2>::from_data(
        TensorData::new(matrix.values, [rows, columns]),
        (device, dtype),
    );
    let predictions = match logits {
        true => Categorical::from_logits(values),
        false => Categorical::from_probabilities(values),
    };
    predictions.map_err(|e| format!("{}: {e}", path.display()))
}
