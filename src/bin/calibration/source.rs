//! Numbers and labels of files as tensors.

use std::path::Path;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use clap::ValueEnum;

use crate::{
    args::{DeviceName, LabelsArgs},
    input::{self, Matrix, Result},
};

/// The numbers of a file.
pub fn read_tensor(path: &Path, name: DeviceName, device: &Device) -> Result<Tensor<2>> {
    Ok(tensor(input::read_matrix(path)?, name, device))
}

/// Numbers on a device.
pub fn tensor(matrix: Matrix, name: DeviceName, device: &Device) -> Tensor<2> {
    let dtype = match name {
        DeviceName::Wgpu => DType::F32, // supports f64 in name, but not in all functions
        _ => DType::F64,
    };
    let shape = [matrix.rows(), matrix.columns];
    let values = TensorData::new(matrix.values, shape);
    Tensor::from_data(values, (device, dtype))
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
