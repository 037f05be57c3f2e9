//! Devices, and numbers of files on them.

use std::path::Path;

use burn::tensor::{DType, Device, Tensor, TensorData};
use clap::ValueEnum;

use crate::{
    args::{DeviceName, RowsArgs, YesNo},
    input::{Matrix, Options, Result, WhichLabel},
};

/// What the arguments say of a file of predictions; with its own labels, if they are in no other file, of
/// which those of the first count.
pub fn options(args: &RowsArgs, has_own_labels: bool, is_first: bool) -> Options<'_> {
    let label = args.label_column.as_deref().filter(|_| has_own_labels);
    Options {
        header: args.header.map(|header| header == YesNo::Yes),
        columns: args.columns.as_deref(),
        label: match label {
            None => WhichLabel::None,
            Some(name) if is_first => WhichLabel::Named(name),
            Some(name) => WhichLabel::IfThere(name),
        },
        index: None,
        confidence: match args.confidence_correctness {
            true => Some(true),
            false => Some(false).filter(|_| !has_own_labels || label.is_some() || args.positive),
        },
        words: &[],
    }
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

/// Says where labels are expected that are nowhere.
pub fn no_labels(path: &Path) -> String {
    format!(
        "no labels: expected --labels FILE, or --label-column COLUMN for a column of {}",
        path.display()
    )
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
