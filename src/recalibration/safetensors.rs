//! Exchange of maps with PyTorch and scikit-learn as safetensors.

use std::{collections::BTreeMap, path::Path};

use ::safetensors::{Dtype, SafeTensors, serialize, tensor::TensorView};
use burn::tensor::{DType, Device, TensorData};

use super::{
    LogitMap, MatrixScaling, NamedParameter, Recalibration, TemperatureScaling, VectorScaling,
    file::{SavedParameters, failure},
};
use crate::{error::Result, file};

/// The key of the kind in the metadata.
const KEY: &str = "burn-calibration";

/// Loads a map of logits from a file of safetensors, as PyTorch or scikit-learn may save it:
///
/// - `temperature`, `[1]` or a scalar: `z/T`, a [`TemperatureScaling`]
/// - `weight` and `bias`, `[m]`: `w_c z_c + b_c`, a [`VectorScaling`]
/// - `weight`, `[m, m]`, and `bias`, `[m]`: `Wz + b`, a [`MatrixScaling`], as of `torch.nn.Linear`
///
/// What [`save_safetensors`] wrote is the map that it was, of any kind.
///
/// Without a `bias` it is 0. Only the part of a name after the last point counts: `scaling.weight` is a
/// `weight`. The numbers are f64, f32, f16 or bf16.
///
/// # Errors
///
/// [`Error::File`](crate::error::Error::File) if the file cannot be read or holds something else.
pub fn load_safetensors(path: impl AsRef<Path>, device: &Device) -> Result<LogitMap> {
    let path = path.as_ref();
    let bytes = file::read(path).map_err(|e| file::error(path, e))?;
    read(&bytes, device).map_err(|reason| failure(path, format!("no map of logits: {reason}")))
}

fn read(bytes: &[u8], device: &Device) -> Result<LogitMap, String> {
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| e.to_string())?;
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| e.to_string())?;
    let kind = header.metadata().as_ref().and_then(|said| said.get(KEY));
    if let Some(kind) = kind {
        return own(kind, &tensors, device);
    }
    let mut found = BTreeMap::new();
    for (name, view) in tensors.tensors() {
        let last = name.rsplit('.').next().unwrap_or_default().to_owned();
        if !["temperature", "weight", "bias"].contains(&&*last) {
            return Err(format!(
                "it holds {name}, expected temperature, or weight and bias"
            ));
        }
        let parameter = (view.shape().to_vec(), numbers(&name, &view)?);
        if found.insert(last, parameter).is_some() {
            return Err(format!("it holds more than one {name}"));
        }
    }
    let [temperature, weight, bias] =
        ["temperature", "weight", "bias"].map(|name| found.remove(name));
    let map = match (temperature, weight, bias) {
        (Some((_, numbers)), None, None) => match numbers[..] {
            [temperature] => {
                TemperatureScaling::from_temperature(temperature, device).map(LogitMap::from)
            }
            _ => return Err(format!("{} temperatures, expected one", numbers.len())),
        },
        (None, Some((shape, weight)), bias) => {
            let classes = shape.first().copied().unwrap_or(0);
            let bias = bias.map_or_else(|| vec![0.0; classes], |(_, bias)| bias);
            match shape[..] {
                [_] => VectorScaling::from_parameters(weight, bias, device).map(LogitMap::from),
                [rows, columns] if rows == columns => {
                    MatrixScaling::from_parameters(weight, bias, device).map(LogitMap::from)
                }
                _ => {
                    let found = format!("a weight of shape {shape:?}");
                    return Err(format!("{found}, expected [m] or [m, m]"));
                }
            }
        }
        _ => return Err("expected temperature alone, or weight and bias".into()),
    };
    map.map_err(|e| e.to_string())
}

/// A map of this library, whose kind the file names.
fn own(kind: &str, tensors: &SafeTensors, device: &Device) -> Result<LogitMap, String> {
    let parameter = |(name, view): (String, TensorView)| {
        let data = TensorData::new(numbers(&name, &view)?, view.shape().to_vec());
        Ok((name, data))
    };
    let parameters: Result<_, String> = tensors.tensors().into_iter().map(parameter).collect();
    let map = LogitMap::restore(kind, SavedParameters::new(parameters?, device));
    map.unwrap_or_else(|| Err(format!("no kind of map of logits is called {kind}")))
}

fn numbers(name: &str, view: &TensorView) -> Result<Vec<f64>, String> {
    let dtype = match view.dtype() {
        Dtype::F64 => DType::F64,
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        other => return Err(format!("{name} is {other:?}, expected floats")),
    };
    let shape = vec![view.shape().iter().product::<usize>()];
    let data = TensorData::from_bytes_vec(view.data().to_vec(), shape, dtype);
    Ok(data.iter::<f64>().collect())
}

/// Saves the parameters of a map as safetensors in f64 under their names, with its kind in the metadata.
/// [`load_safetensors`] restores the map without the report of its fit, which such a file does not have.
///
/// # Errors
///
/// [`Error::File`](crate::error::Error::File) if the file cannot be written.
pub fn save_safetensors(map: &dyn Recalibration, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let parameters = map.named_parameters();
    let bytes = |parameter: &NamedParameter| -> Vec<u8> {
        let numbers = parameter.values.iter();
        numbers.flat_map(|number| number.to_le_bytes()).collect()
    };
    let bytes: Vec<Vec<u8>> = parameters.iter().map(bytes).collect();
    let mut tensors = Vec::new();
    for (NamedParameter { name, shape, .. }, bytes) in parameters.iter().zip(&bytes) {
        let tensor = TensorView::new(Dtype::F64, shape.clone(), bytes);
        tensors.push((name, tensor.map_err(|e| file::error(path, e))?));
    }
    let metadata = [(KEY.to_owned(), map.kind().to_owned())];
    let content = serialize(tensors, Some(metadata.into()));
    file::write(path, &content.map_err(|e| file::error(path, e))?)
}
