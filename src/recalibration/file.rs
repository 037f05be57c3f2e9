//! Saved maps: one writer and one reader of safetensors.
//!
//! The tensors are the parameters under their names, in F64. The metadata of the header are `format`, `version`, `kind`,
//! `fit` and `fitted_to`, both JSON, and `checksum`: the [`Digest`] of the file with zeros in the place of the checksum.
//! A file without such metadata is one of another program.

use std::{collections::BTreeMap, path::Path};

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{DType, Device, Tensor, TensorData},
};
use safetensors::{Dtype, SafeTensorError, SafeTensors, tensor::TensorView};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{FitRecord, FittedMap, NamedParameter, parameter::parameter};
use crate::{
    error::{Error, Result},
    file::{self, Digest},
};

/// The version of the layout of files.
const VERSION: u32 = 2;
/// The keys of the metadata that each saved map has.
const FORMAT: &str = "format";
const VERSION_KEY: &str = "version";
const KIND: &str = "kind";
const CHECKSUM: &str = "checksum";
/// The value of the format.
const OWN_FORMAT: &str = "burn-calibration map";

/// The parameters of a saved map, and what the file says of it.
///
/// A map of your own is loaded by [`load`](Self::load) and [`fill`](Self::fill).
#[derive(Debug, Clone)]
pub struct SavedMap {
    /// The kind; none in a file of another program.
    pub(super) kind: Option<String>,
    pub(super) parameters: Vec<NamedParameter>,
    record: FitRecord,
    device: Device,
}

impl SavedMap {
    /// Parameters of which no file says how they were fitted.
    pub(super) fn new(parameters: Vec<NamedParameter>, device: &Device) -> Self {
        Self {
            kind: None,
            parameters,
            record: FitRecord::default(),
            device: device.clone().without_autodiff(),
        }
    }

    /// Returns the device of the map.
    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// The kind of a map of this library, or what is wrong with a file of another program.
    pub(super) fn own_kind(&self) -> Result<String, String> {
        let kind = self.kind.clone();
        kind.ok_or_else(|| "the file does not say that it holds a map of burn-calibration".into())
    }

    /// Takes the parameter of a name.
    pub(super) fn take(&mut self, name: &str) -> Option<NamedParameter> {
        let at = self.parameters.iter().position(|found| found.name == name);
        at.map(|at| self.parameters.remove(at))
    }

    /// Takes the parameters whose names begin with a prefix, as those of a map of their own.
    pub(super) fn split_off(&mut self, prefix: &str) -> Self {
        let mut own = Vec::new();
        self.parameters.retain(|parameter| {
            let name = parameter.name.strip_prefix(prefix);
            own.extend(name.map(|name| NamedParameter {
                name: name.to_owned(),
                ..parameter.clone()
            }));
            name.is_none()
        });
        Self::new(own, &self.device)
    }

    /// Puts the parameters, of any size, in the place of those of a module, and gives it with the record of the fit.
    ///
    /// # Errors
    ///
    /// A parameter that is missing or that the module does not have, in words.
    pub fn fill<M: Module>(mut self, module: M) -> Result<(M, FitRecord), String> {
        let mut filler = Filler {
            saved: &mut self,
            path: vec![],
            wrong: None,
        };
        let module = module.map(&mut filler);
        match filler.wrong {
            Some(wrong) => Err(wrong),
            None => Ok((module, self.into_record()?)),
        }
    }

    /// The record of the fit, once all parameters were taken.
    pub(super) fn into_record(self) -> Result<FitRecord, String> {
        match self.parameters.first() {
            Some(NamedParameter { name, .. }) => Err(format!("{name}: no such map has it")),
            None => Ok(self.record),
        }
    }

    /// Reads the file of a map of a kind, which a function makes of the saved parameters or says what is wrong with them.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the file cannot be read, is not a saved map, was changed or truncated, holds another kind of
    /// map, or parameters that the function refuses.
    pub fn load<M>(
        path: &Path,
        kind: &str,
        device: &Device,
        restore: impl FnOnce(Self) -> Result<M, String>,
    ) -> Result<M> {
        Self::restored(path, read(path, device), kind, restore)
    }

    /// Reads the bytes of such a file, see [`FittedMap::to_bytes`].
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn from_bytes<M>(
        bytes: Vec<u8>,
        kind: &str,
        device: &Device,
        restore: impl FnOnce(Self) -> Result<M, String>,
    ) -> Result<M> {
        Self::restored(Path::new(BYTES), parse(bytes, device), kind, restore)
    }

    fn restored<M>(
        place: &Path,
        saved: Result<Self, String>,
        kind: &str,
        restore: impl FnOnce(Self) -> Result<M, String>,
    ) -> Result<M> {
        let map = saved.and_then(|saved| match saved.own_kind()? {
            found if found == kind => restore(saved),
            found => Err(format!("the file holds a {found}")),
        });
        map.map_err(|reason| failure(place, format!("not a saved {kind}: {reason}")))
    }
}

/// Puts saved parameters, of any size, in the place of those of a form.
struct Filler<'a> {
    saved: &'a mut SavedMap,
    path: Vec<String>,
    wrong: Option<String>,
}

impl Filler<'_> {
    /// The saved parameter at the path.
    fn parameter<const D: usize>(&mut self) -> Result<Param<Tensor<D>>, String> {
        let name = self.path.join(".");
        let found = self.saved.take(&name);
        let NamedParameter { shape, values, .. } =
            found.ok_or_else(|| format!("{name} is missing"))?;
        if values.is_empty() || values.len() != shape.iter().product::<usize>() {
            let count = values.len();
            return Err(format!(
                "{name} has {count} numbers and the shape {shape:?}"
            ));
        }
        let shape = <[usize; D]>::try_from(shape);
        let shape = shape
            .map_err(|shape| format!("{name} has the shape {shape:?}, expected {D} dimensions"))?;
        Ok(parameter(values, shape, &self.saved.device))
    }
}

impl ModuleMapper for Filler<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        self.parameter().unwrap_or_else(|wrong| {
            self.wrong.get_or_insert(wrong);
            param
        })
    }
}

/// The place that errors name for bytes that are in no file.
pub(super) const BYTES: &str = "bytes";

/// The bytes that [`save`] writes.
pub(super) fn bytes<M: FittedMap + ?Sized>(map: &M) -> Result<Vec<u8>> {
    encode(map).map_err(|e| failure(Path::new(BYTES), format!("cannot save: {e}")))
}

/// Writes a map.
pub(super) fn save<M: FittedMap + ?Sized>(map: &M, path: &Path) -> Result<()> {
    let error = |reason: String| failure(path, format!("cannot save: {reason}"));
    let bytes = encode(map).map_err(|e| error(e.to_string()))?;
    file::write_with(path, |file| file.write_all(&bytes)).map_err(|e| error(e.to_string()))
}

/// The bytes of the file of a map. They are written here, because the order of metadata in `safetensors` is random.
fn encode<M: FittedMap + ?Sized>(map: &M) -> serde_json::Result<Vec<u8>> {
    let no_checksum = Digest::ZERO.to_string();
    let mut metadata = BTreeMap::from([
        (FORMAT, OWN_FORMAT.to_owned()),
        (VERSION_KEY, VERSION.to_string()),
        (KIND, map.kind().to_owned()),
        ("fitted_to", serde_json::to_string(map.fitted_to())?),
        (CHECKSUM, no_checksum.clone()),
    ]);
    if let Some(report) = map.report() {
        metadata.insert("fit", serde_json::to_string(report)?);
    }
    let mut header = BTreeMap::from([("__metadata__".to_owned(), json!(metadata))]);
    let mut data = Vec::new();
    for NamedParameter {
        name,
        shape,
        values,
        ..
    } in map.named_parameters()
    {
        let start = data.len();
        data.extend(values.iter().flat_map(|number| number.to_le_bytes()));
        let offsets = [start, data.len()];
        header.insert(
            name,
            json!({"dtype": "F64", "shape": shape, "data_offsets": offsets}),
        );
    }
    let mut header = serde_json::to_vec(&header)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    let length = (header.len() as u64).to_le_bytes();
    let mut bytes = [&length[..], &header, &data].concat();
    let checksum = Digest::of(&bytes).to_string();
    let place = checksum_place(&bytes, &no_checksum).expect("a checksum");
    bytes[place].copy_from_slice(checksum.as_bytes());
    Ok(bytes)
}

/// The place of a checksum in the bytes of a file.
fn checksum_place(bytes: &[u8], checksum: &str) -> Option<std::ops::Range<usize>> {
    let entry = format!("\"{CHECKSUM}\":\"{checksum}");
    let mut windows = bytes.windows(entry.len());
    let end = windows.position(|window| window == entry.as_bytes())? + entry.len();
    Some(end - checksum.len()..end)
}

/// Whether the bytes of a file are those of its checksum.
fn is_whole(mut bytes: Vec<u8>, checksum: &str) -> bool {
    let zero = Digest::ZERO.to_string();
    let Some(place) = checksum_place(&bytes, checksum).filter(|place| place.len() == zero.len())
    else {
        return false;
    };
    bytes[place].copy_from_slice(zero.as_bytes());
    Digest::of(&bytes).to_string() == checksum
}

/// Reads the file of a map, of this library or of another program.
pub(super) fn read(path: &Path, device: &Device) -> Result<SavedMap, String> {
    parse(file::read(path).map_err(|e| e.to_string())?, device)
}

/// Reads the bytes of the file of a map.
pub(super) fn parse(bytes: Vec<u8>, device: &Device) -> Result<SavedMap, String> {
    let reject = |error: SafeTensorError| unreadable(&bytes, &error.to_string());
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(reject)?;
    let metadata = header.metadata().clone().unwrap_or_default();
    let tensors = SafeTensors::deserialize(&bytes).map_err(reject)?;
    let mut parameters = Vec::new();
    for (name, view) in tensors.tensors() {
        let values = numbers(&name, &view)?;
        parameters.push(NamedParameter::new(name, view.shape().to_vec(), values));
    }
    let mut saved = SavedMap::new(parameters, device);
    let own = [VERSION_KEY, KIND, CHECKSUM].map(|key| metadata.get(key));
    if own.iter().all(Option::is_none) {
        return Ok(saved);
    }
    let version = own[0].and_then(|version| version.parse::<u32>().ok());
    if version.is_some_and(|version| version > VERSION) {
        return Err("it was saved by a later version of burn-calibration".into());
    }
    if !own[2].is_some_and(|checksum| is_whole(bytes, checksum)) {
        return Err("it was changed after it was saved: its checksum differs".into());
    }
    saved.kind = own[1].cloned();
    saved.record.report = said(metadata.get("fit"))?;
    saved.record.fitted_to = said(metadata.get("fitted_to"))?.unwrap_or_default();
    Ok(saved)
}

/// The value of an entry of the metadata, which is JSON.
fn said<T: DeserializeOwned>(entry: Option<&String>) -> Result<Option<T>, String> {
    let value = entry.map(|text| serde_json::from_str(text).map_err(|e| e.to_string()));
    value.transpose()
}

/// The numbers of a tensor of floats.
fn numbers(name: &str, view: &TensorView) -> Result<Vec<f64>, String> {
    let dtype = match view.dtype() {
        Dtype::F64 => DType::F64,
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        other => return Err(format!("{name} is {other:?}, expected floats")),
    };
    let count = view.shape().iter().product::<usize>();
    let data = TensorData::from_bytes_vec(view.data().to_vec(), vec![count], dtype);
    Ok(data.iter::<f64>().collect())
}

/// Why a file is not safetensors: what its first bytes look like, or else the error.
fn unreadable(bytes: &[u8], error: &str) -> String {
    const KNOWN: [(&[u8], &str); 4] = [
        (b"\x93NUMPY", "an array of NumPy"),
        (b"PK\x03\x04", "an archive, such as NPZ"),
        (b"\x1f\x8b", "a file packed by gzip"),
        (b"NRUB", "a record of Burn"),
    ];
    let known = KNOWN.iter().find(|(first, _)| bytes.starts_with(first));
    let look = if let Some((_, name)) = known {
        name
    } else if bytes.get(8) == Some(&b'{') {
        return format!("it is cut or was changed: {error}");
    } else if let Ok(text) = str::from_utf8(bytes) {
        match text.trim_start().chars().next() {
            None => "an empty file",
            Some('{' | '[') => "JSON",
            Some('<') => "HTML or XML",
            Some(_) => "text, such as a table",
        }
    } else {
        "a file of an unknown format"
    };
    format!("it looks like {look}, expected the file of a saved map")
}

pub(super) fn failure(path: &Path, reason: String) -> Error {
    Error::File {
        path: path.display().to_string(),
        reason,
    }
}
