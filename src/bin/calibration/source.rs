//! Predictions and labels of files as checked tensors.

use std::path::Path;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::distribution::Categorical;
use clap::ValueEnum;

use crate::{
    args::{DeviceName, SourceArgs},
    input::{self, Result},
};

/// The predictions of a file.
pub fn read_predictions(path: &Path, args: &SourceArgs, device: &Device) -> Result<Categorical> {
    let matrix = input::read_matrix(path)?;
    let dtype = match args.device {
        DeviceName::Wgpu => DType::F32, // supports f64 in name, but not in all functions
        _ => DType::F64,
    };
    let shape = [matrix.rows(), matrix.columns];
    let values = TensorData::new(matrix.values, shape);
    let values = Tensor::<2>::from_data(values, (device, dtype));
    let predictions = match args.logits {
        true => Categorical::from_logits(values),
        false => Categorical::from_probabilities(values),
    };
    predictions.map_err(|e| format!("{}: {e}", path.display()))
}

/// The labels of the predictions of a file.
pub fn read_labels(
    args: &SourceArgs,
    (path, predictions): (&Path, &Categorical),
) -> Result<Tensor<1, Int>> {
    let labels = input::read_labels(&args.labels, args.one_based)?;
    let (rows, classes) = (predictions.samples(), predictions.classes() as i64);
    if labels.len() != rows {
        return Err(format!(
            "{}: {} labels, expected {rows}, as many as {} has rows",
            args.labels.display(),
            labels.len(),
            path.display()
        ));
    }
    if let Some(row) = labels.iter().position(|&label| label >= classes) {
        let first = i64::from(args.one_based);
        return Err(format!(
            "{}: row {row}: the label is {}, expected a class in {first}..={}",
            args.labels.display(),
            labels[row] + first,
            classes - 1 + first
        ));
    }
    let labels = TensorData::new(labels, [rows]);
    let device = predictions.probabilities().device();
    Ok(Tensor::from_data(labels, &device))
}

/// Whether the predictions of one file are of as many samples and classes as those of another.
pub fn check_sizes(
    (path, predictions): (&Path, &Categorical),
    (expected_path, expected): (&Path, &Categorical),
) -> Result<()> {
    let sizes = [
        ("rows", predictions.samples(), expected.samples()),
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
