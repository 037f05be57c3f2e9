//! Devices, and numbers of files on them.

use std::path::Path;

use burn::tensor::{DType, Device, Tensor, TensorData};

use crate::{
    args::{DeviceName, LabelsArgs, RowsArgs, YesNo},
    error::{Error, Result, bail, wrong},
    input::{Matrix, Options, WhichLabel},
    words::key,
};

/// Where the labels of a file of predictions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// In a file of their own.
    Elsewhere,
    /// In the same file.
    Here,
    /// In the first of several files of predictions, and perhaps in this one as well.
    InTheFirst,
    /// They are not needed, and left out where they are.
    NotNeeded,
}

/// What the arguments say of a file of predictions.
pub fn options(args: &RowsArgs, labels: Where) -> Options<'_> {
    let name = args.label_column.as_deref();
    let label = match (labels, name) {
        (Where::Elsewhere, _) | (_, None) => WhichLabel::None,
        (Where::InTheFirst, Some(name)) => WhichLabel::IfThere(name),
        (_, Some(name)) => WhichLabel::Named(name),
    };
    let is_known = labels == Where::Elsewhere || name.is_some() || args.positive;
    Options {
        header: args.header.map(|header| header == YesNo::Yes),
        columns: args.columns.as_deref(),
        label,
        index: None,
        is_counted: matches!(labels, Where::Elsewhere | Where::InTheFirst),
        are_probabilities: false,
        correct: None,
        confidence: (args.confidence_correctness || is_known)
            .then_some(args.confidence_correctness),
        words: &[],
    }
}

/// What the arguments say of a file of labels or targets.
pub fn label_options(args: &LabelsArgs) -> Options<'_> {
    Options {
        header: args.labels_header.map(|header| header == YesNo::Yes),
        confidence: Some(false),
        is_counted: true,
        ..Options::default()
    }
}

/// Where the labels of each file of predictions are.
pub fn places(args: &LabelsArgs) -> impl Iterator<Item = Where> {
    let places = match args.labels {
        Some(_) => [Where::Elsewhere; 2],
        None => [Where::Here, Where::InTheFirst],
    };
    places.into_iter().chain(std::iter::repeat(places[1]))
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
pub fn no_labels(path: &Path) -> Error {
    wrong!(
        "no labels: expected --labels FILE, or --label-column COLUMN for a column of {}",
        path.display()
    )
}

pub fn device(name: DeviceName) -> Result<Device> {
    Ok(match name {
        DeviceName::Flex => Device::flex(),
        #[cfg(feature = "ndarray")]
        #[allow(deprecated)]
        // upstream deprecates the backend; it stays a supported feature here
        DeviceName::Ndarray => Device::ndarray(),
        #[cfg(feature = "wgpu")]
        DeviceName::Wgpu => Device::wgpu(Default::default()),
        #[cfg(feature = "cuda")]
        DeviceName::Cuda => Device::cuda(0),
        #[allow(unreachable_patterns)] // where all are compiled in
        other => {
            let name = key(other);
            bail!("--device {name}: not compiled in, build with --features {name}")
        }
    })
}
