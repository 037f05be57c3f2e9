//! The kinds of maps of logits, in one list for files and for the command line.

use std::path::Path;

use burn::tensor::{Device, Int, Tensor};

use super::{
    data::FitData,
    file::{self, SavedParameters, failure, read},
    fit::{FitOutcome, LogitFit, Task, fit_with_warnings},
    fitted::{Apply, Form},
    *,
};
use crate::error::Result;

/// A fitted map of whatever kind.
pub(super) type AnyMap = Box<dyn Recalibration>;

/// A kind of map of logits.
#[derive(Debug, Clone, Copy)]
pub struct MapKind {
    name: &'static str,
    about: &'static str,
    kind: &'static str,
    fit: fn(u64, Task) -> Result<AnyMap>,
    candidate: fn(u64, Task) -> Result<FitOutcome<AnyMap>>,
    restore: fn(SavedParameters) -> Result<AnyMap, String>,
}

/// All kinds: a new one is added here.
static KINDS: [MapKind; 17] = [
    MapKind::of::<TemperatureScalingConfig>(),
    MapKind::of::<EnsembleTemperatureScalingConfig>(),
    MapKind::of::<DiagonalScalingConfig>(),
    MapKind::of::<OrderPreservingConfig>(),
    MapKind::of::<OrderInvariantConfig>(),
    MapKind::of::<VectorScalingConfig>(),
    MapKind::of::<MatrixScalingConfig>(),
    MapKind::of::<DirichletCalibrationConfig>(),
    MapKind::of::<StructuredVectorScalingConfig>(),
    MapKind::of::<StructuredMatrixScalingConfig>(),
    MapKind::of::<PlattScalingConfig>(),
    MapKind::of::<BetaCalibrationConfig>(),
    MapKind::of::<QuadraticScalingConfig>(),
    MapKind::of::<IsotonicRegressionConfig>(),
    MapKind::of::<VennAbersConfig>(),
    MapKind::of::<HistogramBinningConfig>(),
    MapKind::of::<SplineCalibrationConfig>(),
];

impl MapKind {
    pub(super) const fn of<C>() -> Self
    where
        C: LogitFit<Form: Apply<Tensor<2>> + 'static>,
    {
        Self {
            name: C::NAME,
            about: C::ABOUT,
            kind: C::Form::KIND,
            fit: |seed, task| Ok(Box::new(fit_with_warnings(&(C::DEFAULT)(seed), task)?)),
            candidate: |seed, task| {
                let found = (C::DEFAULT)(seed).find(task)?;
                let map = Fitted::checked(found.form, found.report.clone())?;
                Ok(FitOutcome {
                    form: Box::new(map),
                    report: found.report,
                    left_out: found.left_out,
                })
            },
            restore: |parts| Ok(Box::new(file::restore::<C::Form>(parts)?)),
        }
    }

    /// Lists all kinds of maps of logits, simple ones first.
    pub fn all() -> &'static [Self] {
        &KINDS
    }

    /// Gives a short name without spaces, as at the command line: "diagonal".
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Describes the map in a few words.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Names the kind as in a saved file: "diagonal scaling".
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Fits a map of this kind as it is by default; see [`Fit::fit_observed`].
    ///
    /// # Errors
    ///
    /// As of [`Fit::fit_by`].
    pub fn fit(
        &self,
        seed: u64,
        criterion: Option<&dyn Objective>,
        logits: Tensor<2>,
        labels: Tensor<1, Int>,
        progress: Progress<'_>,
    ) -> Result<Box<dyn Recalibration>> {
        let task = Task::new(FitData::new(&logits, &labels)?, progress);
        (self.fit)(seed, Task { criterion, ..task })
    }

    /// The map of saved parameters, or what is wrong with them.
    pub(super) fn restore(&self, parts: SavedParameters) -> Result<AnyMap, String> {
        (self.restore)(parts)
    }

    /// Fits a map to all rows, for a choice among maps.
    pub(super) fn fit_candidate(&self, seed: u64, task: Task) -> Result<FitOutcome<AnyMap>> {
        (self.candidate)(seed, task)
    }
}

/// Loads a saved map of logits of any kind, which the file names; of a file whose name ends in
/// `.safetensors`, with the feature of that name, what `load_safetensors` loads.
///
/// # Errors
///
/// [`Error::File`](crate::error::Error::File) if the file cannot be read, is not a saved map of this
/// library, is truncated, or holds parameters that no map of its kind has.
pub fn load_map(path: impl AsRef<Path>, device: &Device) -> Result<Box<dyn Recalibration>> {
    let path = path.as_ref();
    if path.extension().is_some_and(|end| end == "safetensors") {
        return load_safetensors(path, device);
    }
    let reject = |reason: String| failure(path, format!("not a saved map: {reason}"));
    let (kind, parts) = read(path, device).map_err(reject)?;
    let known = KINDS.iter().find(|known| known.kind == kind);
    if known.is_none()
        && DistributionMethod::ALL
            .iter()
            .any(|method| method.kind() == kind)
    {
        let reason = format!(
            "a {kind} is a map of normal or Laplace predictions (DistributionMap), expected one of classes: \
             apply it with --family normal or laplace"
        );
        return Err(failure(path, reason));
    }
    if kind == MapMixture::KIND {
        return Ok(Box::new(MapMixture::restore(parts).map_err(reject)?));
    }
    let known = known.ok_or_else(|| reject(format!("no kind of map is called {kind}")))?;
    known.restore(parts).map_err(reject)
}
