//! Saved maps: Burn records whose metadata name the kind of the map.

use std::{collections::BTreeMap, fmt::Display, path::Path};

use burn::{
    module::{Module, Param},
    tensor::{DType, Device, Tensor, TensorData},
};
use burn_pack::{Reader, Writer};

use crate::{
    error::{Error, Result},
    host::finest,
};

/// The key of the kind.
const KEY: &str = "burn-calibration";

/// A map that is saved with its kind.
pub(super) trait Stored: Module {
    /// The kind, in words.
    const KIND: &'static str;

    /// The map from its parameters, or what is wrong with them.
    fn restore(parts: &mut Parts) -> Result<Self, String>;
}

/// The parameters of a saved map that were not taken yet.
pub(super) struct Parts {
    tensors: BTreeMap<String, TensorData>,
    pub device: Device,
}

impl Parts {
    /// The parameters of a map by their names.
    pub fn new(tensors: BTreeMap<String, TensorData>, device: &Device) -> Self {
        let device = device.clone().without_autodiff();
        Self { tensors, device }
    }

    /// A parameter: finite floats.
    pub fn take<const D: usize>(&mut self, name: &str) -> Result<Param<Tensor<D>>, String> {
        let data = self
            .tensors
            .remove(name)
            .ok_or_else(|| format!("the parameter {name} is missing"))?;
        if data.shape().num_dims() != D {
            let got = data.shape().num_dims();
            return Err(format!("{name} has {got} dimensions, expected {D}"));
        }
        if !matches!(data.dtype(), DType::F64 | DType::F32) {
            return Err(format!("{name} is {:?}, expected floats", data.dtype()));
        }
        if data.num_elements() == 0 {
            return Err(format!("{name} holds no numbers"));
        }
        if let Some(value) = data.iter::<f64>().find(|value| !value.is_finite()) {
            return Err(format!("{name} holds {value}, expected finite numbers"));
        }
        let tensor = Tensor::from_data(data, (&self.device, finest(&self.device)));
        Ok(Param::from_tensor(tensor))
    }

    /// A parameter of the given shape.
    pub fn take_shaped<const D: usize>(
        &mut self,
        name: &str,
        shape: [usize; D],
    ) -> Result<Param<Tensor<D>>, String> {
        let param = self.take(name)?;
        match param.dims() == shape {
            true => Ok(param),
            false => Err(format!(
                "{name} has the shape {:?}, expected {shape:?}",
                param.dims()
            )),
        }
    }
}

/// A fitted parameter, in f64 where the device computes in it.
pub(super) fn parameter<const D: usize>(
    values: Vec<f64>,
    shape: [usize; D],
    device: &Device,
) -> Param<Tensor<D>> {
    let device = device.clone().without_autodiff();
    let data = TensorData::new(values, shape);
    Param::from_tensor(Tensor::from_data(data, (&device, finest(&device))))
}

pub(super) fn save<M: Stored>(map: &M, path: &Path) -> Result<()> {
    let error = |reason: &dyn Display| failure(path, format!("cannot save: {reason}"));
    let record = map.clone().into_record();
    let bytes = record.into_bytes().map_err(|e| error(&e))?;
    let tensors = Reader::from_bytes(bytes)
        .and_then(Reader::into_tensors)
        .map_err(|e| error(&e))?;
    Writer::new(tensors)
        .with_metadata(KEY, M::KIND)
        .auto_extension(false)
        .write_to_file(path)
        .map_err(|e| error(&e))
}

pub(super) fn load<M: Stored>(path: &Path, device: &Device) -> Result<M> {
    let reject = |reason: String| failure(path, format!("not a saved {}: {reason}", M::KIND));
    let (kind, parts) = read(path, device).map_err(reject)?;
    match kind == M::KIND {
        true => restore(parts).map_err(reject),
        false => Err(reject(format!("the file holds a {kind}"))),
    }
}

/// The kind of the map in a file, and its parameters.
pub(super) fn read(path: &Path, device: &Device) -> Result<(String, Parts), String> {
    let reader = Reader::from_file_exact(path).map_err(|e| e.to_string())?;
    let kind = reader.metadata().get(KEY).cloned();
    let kind = kind.ok_or("the file does not say that it holds a map of burn-calibration")?;
    let mut tensors = BTreeMap::new();
    for tensor in reader.into_tensors().map_err(|e| e.to_string())? {
        let (name, dtype, shape, _, bytes) = tensor.into_parts().map_err(|e| e.to_string())?;
        tensors.insert(name, TensorData::from_bytes(bytes, shape, dtype));
    }
    Ok((kind, Parts::new(tensors, device)))
}

pub(super) fn restore<M: Stored>(mut parts: Parts) -> Result<M, String> {
    let map = M::restore(&mut parts)?;
    match parts.tensors.keys().next() {
        Some(name) => Err(format!("the file holds {name}, which no {} has", M::KIND)),
        None => Ok(map),
    }
}

pub(super) fn failure(path: &Path, reason: String) -> Error {
    Error::Map {
        path: path.display().to_string(),
        reason,
    }
}
