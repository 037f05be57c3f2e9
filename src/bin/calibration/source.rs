//! Predictions and labels of files as checked tensors.

use std::path::Path;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::distribution::{Categorical, Predictive};
use clap::ValueEnum;

use crate::{
    args::{DeviceName, LabelsArgs, LogitsArgs, SourceArgs},
    input::{self, Result},
};

/// The predictions of a file.
pub fn read_predictions(path: &Path, args: &SourceArgs, device: &Device) -> Result<Categorical> {
    let values = read_tensor(path, args.device, device)?;
    let predictions = match args.logits {
        true => Categorical::from_logits(values),
        false => Categorical::from_probabilities(values),
    };
    predictions.map_err(|e| format!("{}: {e}", path.display()))
}

/// The logits of a file, or the logarithms of the probabilities in it.
pub fn read_logits(args: &LogitsArgs, device: &Device) -> Result<Tensor<2>> {
    let path = &args.logits;
    let values = read_tensor(path, args.device, device)?;
    let wrong = |reason: String| format!("{}: {reason}", path.display());
    let checked = match args.probabilities {
        false => Categorical::from_logits(values.clone()),
        true => Categorical::from_probabilities(values.clone()),
    };
    let checked = checked.map_err(|e| wrong(e.to_string()))?;
    if !args.probabilities {
        return Ok(values);
    }
    let classes = checked.classes();
    let numbers: Vec<f64> = (values.try_into_vec_as::<f64>()).map_err(|e| wrong(e.to_string()))?;
    match numbers.iter().position(|p| *p == 0.0) {
        Some(at) => Err(wrong(format!(
            "row {}, column {}: the probability is 0, whose logarithm is infinite; expected logits, or \
             positive probabilities",
            at / classes,
            at % classes
        ))),
        None => Ok(checked.log_probabilities()),
    }
}

pub fn read_tensor(path: &Path, name: DeviceName, device: &Device) -> Result<Tensor<2>> {
    let matrix = input::read_matrix(path)?;
    let dtype = match name {
        DeviceName::Wgpu => DType::F32, // supports f64 in name, but not in all functions
        _ => DType::F64,
    };
    let shape = [matrix.rows(), matrix.columns];
    let values = TensorData::new(matrix.values, shape);
    Ok(Tensor::from_data(values, (device, dtype)))
}

/// The labels of the predictions of a file.
pub fn read_labels(args: &LabelsArgs, (path, rows): (&Path, &Tensor<2>)) -> Result<Tensor<1, Int>> {
    let labels = input::read_labels(&args.labels, args.one_based)?;
    let [samples, classes] = rows.dims();
    if labels.len() != samples {
        return Err(format!(
            "{}: {} labels, expected {samples}, as many as {} has rows",
            args.labels.display(),
            labels.len(),
            path.display()
        ));
    }
    if let Some(row) = labels.iter().position(|&label| label >= classes as i64) {
        let first = i64::from(args.one_based);
        return Err(format!(
            "{}: row {row}: the label is {}, expected a class in {first}..={}",
            args.labels.display(),
            labels[row] + first,
            classes as i64 - 1 + first
        ));
    }
    let labels = TensorData::new(labels, [samples]);
    Ok(Tensor::from_data(labels, &rows.device()))
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

pub fn device(name: DeviceName) -> Result<Device> {
    let missing = |feature: &str| {
        Err(format!(
            "--device {feature}: not compiled in, build with --features cli,{feature}"
        ))
    };
    match name {
        DeviceName::Flex => Ok(Device::flex()),
        #[cfg(feature = "ndarray")]
        #[allow(deprecated)]
        // upstream deprecates the backend; it stays a supported feature here
        DeviceName::Ndarray => Ok(Device::ndarray()),
        #[cfg(feature = "wgpu")]
        DeviceName::Wgpu => Ok(Device::wgpu(Default::default())),
        #[cfg(feature = "cuda")]
        DeviceName::Cuda => Ok(Device::cuda(0)),
        #[allow(unreachable_patterns)] // where all are compiled in
        other => missing(
            other
                .to_possible_value()
                .expect("no device is hidden")
                .get_name(),
        ),
    }
}
