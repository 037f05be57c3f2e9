//! Saved maps of any kind, and maps of other programs.

use std::path::Path;

use burn::tensor::Device;

use super::{
    ConformalShift, DistributionMap, DistributionMethod, LogitMap, MapKind, MatrixScaling,
    NamedParameter, PriorCorrection, TemperatureScaling, VectorScaling,
    file::{BYTES, SavedMap, failure, parse, read},
};
use crate::error::{Error, Result};

/// Loads a map of logits of any kind.
///
/// A saved map is a file of safetensors, which names its kind: [`FittedMap::save`](super::FittedMap::save). A file of
/// safetensors without a kind is a map of another program, such as PyTorch or scikit-learn:
///
/// - `temperature`, `[1]` or a scalar: `z/T`, a [`TemperatureScaling`]
/// - `weight` and `bias`, `[m]`: `w_c z_c + b_c`, a [`VectorScaling`]
/// - `weight`, `[m, m]`, and `bias`, `[m]`: `Wz + b`, a [`MatrixScaling`], as of `torch.nn.Linear`
///
/// Without a `bias` it is 0. Only the part of a name after the last point counts: `scaling.weight` is a
/// `weight`. The numbers are f64, f32, f16 or bf16.
///
/// # Errors
///
/// [`Error::File`] if the file cannot be read, is not a saved map of logits, was changed or truncated, or holds
/// parameters that no map of its kind has.
pub fn load_map(path: impl AsRef<Path>, device: &Device) -> Result<LogitMap> {
    let path = path.as_ref();
    logit_map(path, read(path, device), device)
}

/// Loads a map of logits from the bytes of a file, see [`load_map`] and [`FittedMap::to_bytes`](super::FittedMap::to_bytes).
///
/// # Errors
///
/// As [`load_map`].
pub fn load_map_bytes(bytes: Vec<u8>, device: &Device) -> Result<LogitMap> {
    logit_map(Path::new(BYTES), parse(bytes, device), device)
}

fn logit_map(path: &Path, saved: Result<SavedMap, String>, device: &Device) -> Result<LogitMap> {
    let reject = |reason: String| failure(path, format!("not a saved map: {reason}"));
    let saved = saved.map_err(reject)?;
    let Some(kind) = saved.kind.clone() else {
        let map = foreign_map(saved.parameters, device);
        return map.map_err(|reason| failure(path, format!("no map of logits: {reason}")));
    };
    match LogitMap::restore(&kind, saved) {
        Some(map) => map.map_err(reject),
        None => Err(other_predictions(path, &kind, "classes")),
    }
}

impl DistributionMap {
    /// Loads a saved map of any kind, which the file names.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the file cannot be read, is not a saved map of distributions (a [`ConformalShift`] is one of
    /// quantile forecasts), was changed or truncated, or holds parameters that no map of its kind has.
    pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<Self> {
        let path = path.as_ref();
        Self::restored(path, read(path, device))
    }

    /// Loads a map from the bytes of a file, see [`FittedMap::to_bytes`](super::FittedMap::to_bytes).
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: Vec<u8>, device: &Device) -> Result<Self> {
        Self::restored(Path::new(BYTES), parse(bytes, device))
    }

    fn restored(path: &Path, saved: Result<SavedMap, String>) -> Result<Self> {
        let reject = |reason: String| failure(path, format!("not a saved map: {reason}"));
        let saved = saved.map_err(reject)?;
        let kind = saved.own_kind().map_err(reject)?;
        let found = Self::restore(&kind, saved);
        let expected = "normal or Laplace predictions";
        let map = found.ok_or_else(|| other_predictions(path, &kind, expected))?;
        map.map_err(reject)
    }
}

/// The error of a file whose map is not of the predictions that are expected: of others, or of a kind that is not known.
fn other_predictions(path: &Path, kind: &str, expected: &str) -> Error {
    let mut methods = DistributionMethod::ALL.iter();
    let (predictions, family) = if kind == ConformalShift::KIND {
        ("quantile forecasts (ConformalShift)", "quantiles")
    } else if methods.any(|method| method.kind() == kind) {
        (
            "normal or Laplace predictions (DistributionMap)",
            "normal or laplace",
        )
    } else if kind == PriorCorrection::KIND || MapKind::ALL.iter().any(|own| own.kind() == kind) {
        ("classes", "categorical")
    } else {
        return failure(
            path,
            format!("not a saved map: no kind of map is called {kind}"),
        );
    };
    let reason = format!(
        "a {kind} is a map of {predictions}, expected one of {expected}: apply it with --family {family}"
    );
    failure(path, reason)
}

/// The map of parameters that another program saved.
fn foreign_map(parameters: Vec<NamedParameter>, device: &Device) -> Result<LogitMap, String> {
    let [mut temperature, mut weight, mut bias] = [None, None, None];
    for parameter in parameters {
        let name = &parameter.name;
        let place = match name.rsplit('.').next() {
            Some("temperature") => &mut temperature,
            Some("weight") => &mut weight,
            Some("bias") => &mut bias,
            _ => {
                let expected = "expected temperature, or weight and bias";
                return Err(format!("it holds {name}, {expected}"));
            }
        };
        if place.is_some() {
            return Err(format!("it holds more than one {name}"));
        }
        *place = Some(parameter);
    }
    let map = match (temperature, weight, bias) {
        (Some(NamedParameter { values, .. }), None, None) => match values[..] {
            [temperature] => {
                TemperatureScaling::from_temperature(temperature, device).map(LogitMap::from)
            }
            _ => return Err(format!("{} temperatures, expected one", values.len())),
        },
        (None, Some(NamedParameter { shape, values, .. }), bias) => {
            let classes = shape.first().copied().unwrap_or(0);
            let bias = bias.map_or_else(|| vec![0.0; classes], |bias| bias.values);
            match shape[..] {
                [_] => VectorScaling::from_parameters(values, bias, device).map(LogitMap::from),
                [rows, columns] if rows == columns => {
                    MatrixScaling::from_parameters(values, bias, device).map(LogitMap::from)
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
