use std::path::Path;

use burn::tensor::Device;

use super::{
    BetaCalibration, DiagonalScaling, DirichletCalibration, EnsembleTemperatureScaling,
    HistogramBinning, IsotonicRegression, MatrixScaling, OrderInvariant, OrderPreserving,
    PlattScaling, Recalibration, SplineCalibration, TemperatureScaling, VectorScaling,
    distribution::is_of_distributions,
    file::{Stored, failure, read, restore},
};
use crate::error::Result;

/// Loads a saved map of logits of any kind, which the file names.
///
/// # Errors
///
/// [`Error::Map`](crate::error::Error::Map) if the file cannot be read, is not a saved map of this
/// library, is truncated, or holds parameters that no map of its kind has.
pub fn load_map(path: impl AsRef<Path>, device: &Device) -> Result<Box<dyn Recalibration>> {
    let path = path.as_ref();
    let reject = |reason: String| failure(path, format!("not a saved map: {reason}"));
    let (kind, parts) = read(path, device).map_err(reject)?;
    macro_rules! restore_any {
        ($($map:ty),*) => {
            match kind.as_str() {
                $(<$map>::KIND => Box::new(restore::<$map>(parts).map_err(reject)?),)*
                kind if is_of_distributions(kind) => {
                    let reason = format!("a {kind} takes distributions; load it by its own type");
                    return Err(failure(path, reason));
                }
                _ => return Err(reject(format!("no kind of map is called {kind}"))),
            }
        };
    }
    Ok(restore_any!(
        TemperatureScaling,
        EnsembleTemperatureScaling,
        DiagonalScaling,
        OrderPreserving,
        OrderInvariant,
        VectorScaling,
        MatrixScaling,
        DirichletCalibration,
        PlattScaling,
        BetaCalibration,
        IsotonicRegression,
        HistogramBinning,
        SplineCalibration
    ))
}
