//! Saved maps: Burn records with an [`MapEnvelope`] in their metadata, and a digest of all of it at the end, where
//! Burn does not look.

use std::{collections::BTreeMap, fmt::Display, io::Write, path::Path};

use burn::{
    module::Module,
    store::ModuleRecord,
    tensor::{DType, Device, TensorData},
};
use burn_pack::{Bytes, Reader, Writer};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{FitReport, Fitted, FittedMap, FittedTo, NamedParameter, fitted::Form};
use crate::{
    error::{Error, Result},
    file::{self, Digest},
};

/// The key of the envelope in the metadata.
const KEY: &str = "burn-calibration";
/// The version of the layout of files.
const VERSION: u32 = 1;
/// Bytes of the digest at the end of a file, in hexadecimal digits.
const DIGEST: usize = 32;

/// What a file says of the map whose parameters it holds.
#[derive(Serialize, Deserialize)]
struct MapEnvelope {
    kind: String,
    version: u32,
    fit: Option<FitReport>,
    fitted_to: FittedTo,
}

/// The parameters of a saved map by their names, and what the file says of its fit.
pub struct SavedParameters {
    pub tensors: BTreeMap<String, TensorData>,
    report: Option<FitReport>,
    fitted_to: FittedTo,
    device: Device,
}

impl SavedParameters {
    /// Parameters of which no file says how they were fitted.
    pub fn new(tensors: BTreeMap<String, TensorData>, device: &Device) -> Self {
        Self {
            tensors,
            report: None,
            fitted_to: FittedTo::default(),
            device: device.clone().without_autodiff(),
        }
    }

    /// Takes the parameters whose names begin with a prefix, as those of a map of their own.
    pub fn split_off(&mut self, prefix: &str) -> Self {
        let (taken, left) = std::mem::take(&mut self.tensors)
            .into_iter()
            .partition(|(name, _)| name.starts_with(prefix));
        self.tensors = left;
        let own = |(name, data): (String, _)| (name[prefix.len()..].to_owned(), data);
        let taken: BTreeMap<_, _> = taken;
        Self::new(taken.into_iter().map(own).collect(), &self.device)
    }

    /// What a saved map says of its fit, where all parameters were taken.
    pub fn into_said(self) -> Result<(Option<FitReport>, FittedTo), String> {
        match self.tensors.keys().next() {
            Some(name) => Err(format!("the file holds {name}, which no such map has")),
            None => Ok((self.report, self.fitted_to)),
        }
    }

    /// The parameters of a form, finite floats, and what the file says of its fit; or what is wrong with them.
    pub fn into_form<F: Form>(self) -> Result<(F, Option<FitReport>, FittedTo), String> {
        let mut tensors = Vec::new();
        for (name, data) in self.tensors {
            if !matches!(data.dtype(), DType::F64 | DType::F32) {
                return Err(format!("{name} is {:?}, expected floats", data.dtype()));
            }
            if data.num_elements() == 0 {
                return Err(format!("{name} holds no numbers"));
            }
            let lengths: Vec<i32> = data.shape().iter().map(|&length| length as i32).collect();
            let rank = lengths.len();
            tensors.push(packed(
                format!("{name}.shape"),
                TensorData::new(lengths, [rank]),
            ));
            tensors.push(packed(name, data));
        }
        let bytes = Writer::new(tensors)
            .into_bytes()
            .map_err(|e| e.to_string())?;
        let record = ModuleRecord::from_bytes(bytes).map_err(|e| e.to_string())?;
        let record = record.cast_to_module_dtype();
        let form = F::template(&self.device).try_load_record(record);
        let form = form.map_err(|e| e.to_string())?;
        form.checked()?;
        Ok((form, self.report, self.fitted_to))
    }
}

fn packed(name: String, data: TensorData) -> burn_pack::Tensor {
    let (bytes, shape, dtype) = data.into_parts();
    burn_pack::Tensor::new(name, dtype, shape, None, bytes)
}

/// Writes the parameters of a map with what it tells of itself.
pub(super) fn save<M: FittedMap + ?Sized>(map: &M, path: &Path) -> Result<()> {
    let saved = |parameter: NamedParameter| {
        let data = TensorData::new(parameter.values, parameter.shape);
        packed(parameter.name, data)
    };
    let tensors = map.named_parameters().into_iter().map(saved);
    write(map, tensors.collect(), path)
}

/// Writes a map as the record of a module, which Burn loads as well, with what it tells of itself.
pub(super) fn save_record<F: Form>(map: &Fitted<F>, path: &Path) -> Result<()> {
    let error = |reason: &dyn Display| failure(path, format!("cannot save: {reason}"));
    let bytes = map.clone().into_record().into_bytes();
    let tensors = Reader::from_bytes(bytes.map_err(|e| error(&e))?);
    let tensors = tensors.and_then(Reader::into_tensors);
    let mut tensors = tensors.map_err(|e| error(&e))?;
    // random ones: the same map is the same file
    tensors.iter_mut().for_each(|tensor| tensor.param_id = None);
    write(map, tensors, path)
}

/// Writes parameters with what a map tells of itself.
fn write<M: FittedMap + ?Sized>(
    map: &M,
    tensors: Vec<burn_pack::Tensor>,
    path: &Path,
) -> Result<()> {
    let error = |reason: &dyn Display| failure(path, format!("cannot save: {reason}"));
    let envelope = MapEnvelope {
        kind: map.kind().into(),
        version: VERSION,
        fit: map.report().cloned(),
        fitted_to: map.fitted_to().clone(),
    };
    let envelope = serde_json::to_string(&envelope).map_err(|e| error(&e))?;
    let writer = Writer::new(tensors).with_metadata(KEY, &envelope);
    let bytes = writer.into_bytes().map_err(|e| error(&e))?;
    let digest = Digest::of(&bytes).to_string();
    let write = |file: &mut dyn Write| {
        file.write_all(&bytes)?;
        file.write_all(digest.as_bytes())
    };
    file::write_with(path, write).map_err(|e| error(&e))
}

/// The kind of the map in a file, and its parameters.
pub(super) fn read(path: &Path, device: &Device) -> Result<(String, SavedParameters), String> {
    let bytes = file::read(path).map_err(|e| e.to_string())?;
    let own = bytes.split_last_chunk::<DIGEST>();
    let is_whole =
        own.is_some_and(|(own, digest)| Digest::of(own).to_string().as_bytes() == digest);
    let found = look(&bytes);
    let reader = Reader::from_bytes(Bytes::from_bytes_vec(bytes)).map_err(|error| match error {
        burn_pack::Error::InvalidMagicNumber | burn_pack::Error::InvalidHeader => {
            format!("it looks like {found}, expected the file of a saved map")
        }
        error => error.to_string(),
    })?;
    let envelope = reader.metadata().get(KEY);
    let envelope =
        envelope.ok_or("the file does not say that it holds a map of burn-calibration")?;
    let envelope = if !envelope.starts_with('{') {
        before_versions(envelope, &reader)?
    } else if is_whole {
        serde_json::from_str(envelope).map_err(|e| e.to_string())?
    } else {
        return Err("it was changed after it was saved: its checksum differs".into());
    };
    if envelope.version > VERSION {
        return Err("it was saved by a later version of burn-calibration".into());
    }
    let mut tensors = BTreeMap::new();
    for tensor in reader.into_tensors().map_err(|e| e.to_string())? {
        let (name, dtype, shape, _, bytes) = tensor.into_parts().map_err(|e| e.to_string())?;
        let name = name.strip_prefix("form.").unwrap_or(&name); // of the record of a module
        let name = name.strip_prefix("affine.").unwrap_or(name); // of structured maps before 0.1
        if name.ends_with(".shape") {
            continue; // for Burn: here the numbers say it
        }
        tensors.insert(name.to_owned(), TensorData::from_bytes(bytes, shape, dtype));
    }
    let parts = SavedParameters {
        report: envelope.fit,
        fitted_to: envelope.fitted_to,
        ..SavedParameters::new(tensors, device)
    };
    Ok((envelope.kind, parts))
}

/// What a file looks like that is no record of Burn.
fn look(bytes: &[u8]) -> &'static str {
    const KNOWN: [(&[u8], &str); 6] = [
        (b"\x93NUMPY", "an array of NumPy"),
        (
            b"PK\x03\x04",
            "an archive, as NPZ and the files of PyTorch are",
        ),
        (b"\x1f\x8b", "a file packed by gzip"),
        (b"\x89HDF", "HDF5"),
        (b"PAR1", "Parquet"),
        (b"ARROW1", "Arrow IPC"),
    ];
    let known = KNOWN.iter().find(|(first, _)| bytes.starts_with(first));
    if let Some((_, name)) = known {
        name
    } else if bytes.get(8) == Some(&b'{') && bytes[4..8] == [0; 4] {
        "safetensors, whose names end in .safetensors"
    } else if let Ok(text) = str::from_utf8(bytes) {
        match text.trim_start().chars().next() {
            None => "an empty file",
            Some('{' | '[') => "JSON",
            Some('<') => "HTML or XML",
            Some(_) => "text, such as a table",
        }
    } else {
        "a file of an unknown format"
    }
}

/// What a file says that has no envelope: the kind, and the rest under keys of their own.
fn before_versions(kind: &str, reader: &Reader) -> Result<MapEnvelope, String> {
    fn said<T: DeserializeOwned>(reader: &Reader, key: &str) -> Result<Option<T>, String> {
        let text = reader.metadata().get(key);
        let value = text.map(|text| serde_json::from_str(text).map_err(|e| e.to_string()));
        value.transpose()
    }
    Ok(MapEnvelope {
        kind: kind.into(),
        version: 0,
        fit: said(reader, "fit")?,
        fitted_to: said(reader, "fitted to")?.unwrap_or_default(),
    })
}

pub(super) fn failure(path: &Path, reason: String) -> Error {
    Error::File {
        path: path.display().to_string(),
        reason,
    }
}
