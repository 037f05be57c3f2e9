//! Saved maps: Burn records whose metadata name the kind of the map.

use std::{collections::BTreeMap, fmt::Display, path::Path};

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{DType, Device, Int, Tensor, TensorData},
};
use burn_pack::{Reader, Writer};

use super::fitted::{Fitted, Form};
use crate::{
    error::{Error, Result},
    file,
    host::finest,
};

/// The key of the kind.
const KEY: &str = "burn-calibration";

/// The parameters of a saved map that were not taken yet: they replace those of a template, checked.
pub struct Parts {
    tensors: BTreeMap<String, TensorData>,
    pub device: Device,
    path: Vec<String>,
    error: Option<String>,
}

impl Parts {
    /// The parameters of a map by their names.
    pub fn new(tensors: BTreeMap<String, TensorData>, device: &Device) -> Self {
        Self {
            tensors,
            device: device.clone().without_autodiff(),
            path: vec![],
            error: None,
        }
    }

    /// A parameter: finite floats.
    fn take<const D: usize>(&mut self) -> Result<Tensor<D>, String> {
        let name = self.path.join(".");
        let data = self.tensors.remove(&name);
        let data = data.ok_or_else(|| format!("the parameter {name} is missing"))?;
        let dimensions = data.shape().num_dims();
        if dimensions != D {
            return Err(format!("{name} has {dimensions} dimensions, expected {D}"));
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
        Ok(Tensor::from_data(
            data,
            (&self.device, finest(&self.device)),
        ))
    }
}

impl ModuleMapper for Parts {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.into());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    /// The shape of a parameter, for records alone: here the numbers say it themselves.
    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        self.tensors.remove(&self.path.join("."));
        param
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        match self.take() {
            Ok(tensor) => param.map(|_| tensor),
            Err(reason) => {
                self.error.get_or_insert(reason);
                param
            }
        }
    }
}

pub(super) fn save<F: Form>(map: &Fitted<F>, path: &Path) -> Result<()> {
    let error = |reason: &dyn Display| failure(path, format!("cannot save: {reason}"));
    let record = map.clone().into_record();
    let bytes = record.into_bytes().map_err(|e| error(&e))?;
    let tensors = Reader::from_bytes(bytes)
        .and_then(Reader::into_tensors)
        .map_err(|e| error(&e))?;
    let writer = Writer::new(tensors).with_metadata(KEY, F::KIND);
    let bytes = writer.into_bytes().map_err(|e| error(&e))?;
    file::write_with(path, |file| file.write_all(&bytes)).map_err(|e| error(&e))
}

pub(super) fn load<F: Form>(path: &Path, device: &Device) -> Result<Fitted<F>> {
    let reject = |reason: String| failure(path, format!("not a saved {}: {reason}", F::KIND));
    let (kind, parts) = read(path, device).map_err(reject)?;
    match kind == F::KIND {
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

/// The map of saved parameters, or what is wrong with them.
pub(super) fn restore<F: Form>(mut parts: Parts) -> Result<Fitted<F>, String> {
    let map = Fitted::<F>::template(&parts.device).map(&mut parts);
    if let Some(reason) = parts.error {
        return Err(reason);
    }
    if let Some(name) = parts.tensors.keys().next() {
        return Err(format!("the file holds {name}, which no {} has", F::KIND));
    }
    map.form.check()?;
    Ok(map)
}

pub(super) fn failure(path: &Path, reason: String) -> Error {
    Error::File {
        path: path.display().to_string(),
        reason,
    }
}
