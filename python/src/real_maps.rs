//! Recalibration maps of predictions of real numbers: fits, and fitted maps.

use std::{path::PathBuf, sync::Mutex};

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{
        Component, Laplace, Marginals, Normal, Predictive as _, QuantileForecasts, Samples,
    },
    error::{Error, Result},
    recalibration::*,
};
use numpy::PyReadonlyArray2;
use pyo3::{exceptions::PyOSError, prelude::*, types::PyBytes};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Map as Object, Value};

use crate::{
    arrays::{array, device, shaped, value_error},
    maps::{choice_words, configured, json, warnings},
    samples::{Family, RealArrays, Reals, Sample, draws, location_and_scale, matrix},
    work::{self, At},
};

/// A fitted map of any kind.
#[derive(Debug, Clone)]
enum RealMap {
    /// Of normal and Laplace predictions, or of samples.
    Distribution(DistributionMap),
    /// Of quantile forecasts.
    Conformal(Box<ConformalShift>),
}

/// A map that was fitted, and why it was chosen, if it was.
type MapAndChoice = (RealMap, Option<Choice>);

impl RealMap {
    fn conformal(map: ConformalShift) -> Self {
        Self::Conformal(map.into())
    }

    fn any(&self) -> &dyn FittedMap {
        match self {
            Self::Distribution(map) => map,
            Self::Conformal(map) => map.as_ref(),
        }
    }

    fn any_mut(&mut self) -> &mut dyn FittedMap {
        match self {
            Self::Distribution(map) => map,
            Self::Conformal(map) => map.as_mut(),
        }
    }
}

/// The name of the map of quantile forecasts.
const CONFORMAL: &str = "conformal";

/// What a map gives: the family, the parameters side by side, and the levels of quantiles.
struct Rows {
    family: &'static str,
    rows: Tensor<2>,
    levels: Vec<f64>,
}

impl Rows {
    fn new(family: &'static str, rows: Tensor<2>) -> Self {
        Self {
            family,
            rows,
            levels: Vec::new(),
        }
    }
}

/// Fits a map of a kind, with `auto` a choice, to normal or Laplace predictions.
fn fit_scaled<P: ScaleFamily + Component + Marginals>(
    kind: &str,
    options: &Object<String, Value>,
    Sample {
        predictions,
        targets,
    }: &Sample<P>,
    progress: Progress<'_>,
) -> Result<MapAndChoice, String> {
    let (predictions, targets) = (predictions.clone(), targets.clone());
    let words = |error: Error| error.to_string();
    if kind == "auto" {
        let config = configured(&AutoRecalibrationConfig::new(), options)?;
        let chosen: AutoDistributionRecalibration = config
            .fit_with(predictions, targets, FitOptions::new(None, progress))
            .map_err(words)?;
        let choice = chosen.choice().clone();
        return Ok((RealMap::Distribution(chosen.into_map()), Some(choice)));
    }
    let method: DistributionMethod = kind.parse().map_err(words)?;
    let map = method.fit(predictions, targets).map_err(words)?;
    Ok((RealMap::Distribution(map), None))
}

fn fit_kind(
    kind: &str,
    options: &Object<String, Value>,
    data: &Reals,
    progress: Progress<'_>,
) -> Result<MapAndChoice, String> {
    let words = |error: Error| error.to_string();
    match data {
        Reals::Normal(sample) => fit_scaled(kind, options, sample, progress),
        Reals::Laplace(sample) => fit_scaled(kind, options, sample, progress),
        Reals::Samples(sample) if kind == DistributionMethod::Quantile.name() => {
            let (predictions, targets) = (sample.predictions.clone(), sample.targets.clone());
            let config = QuantileRecalibrationConfig::new();
            let map: QuantileRecalibration = config.fit(predictions, targets).map_err(words)?;
            Ok((RealMap::Distribution(map.into()), None))
        }
        Reals::Quantiles(sample) if kind == CONFORMAL => {
            let (forecasts, targets) = (sample.predictions.clone(), sample.targets.clone());
            let map = ConformalShiftConfig::new().fit(forecasts, targets);
            Ok((RealMap::conformal(map.map_err(words)?), None))
        }
        _ => Err(format!("no map {kind} is fitted to such predictions")),
    }
}

/// Fits a map of a kind to predictions with their targets, with options as JSON and a callback
/// `(fit, fits, evaluations, objective)`.
#[pyfunction]
#[pyo3(signature = (kind, options, data, progress=None))]
pub fn fit_real(
    py: Python<'_>,
    kind: String,
    options: &str,
    data: RealArrays<'_>,
    progress: Option<Py<PyAny>>,
) -> PyResult<FittedRealMap> {
    let options: Object<String, Value> = serde_json::from_str(options).map_err(value_error)?;
    let family = data.family().name();
    let rows = data.weighted_rows()?;
    let data = data.owned()?;
    let found = work::run(py, progress, move |reporter| {
        let data = data.checked().map_err(|error| error.to_string())?;
        fit_kind(&kind, &options, &data, &mut |at| reporter.at(At::Fit(at)))
    })?;
    let (mut map, mut choice) = found.map_err(value_error)?;
    choice.iter_mut().for_each(|choice| choice.name_rows(&rows));
    let to = FittedTo {
        family: Some(family.into()),
        ..FittedTo::default()
    };
    let any = map.any_mut();
    any.name_rows(&rows);
    any.set_fitted_to(to);
    Ok(FittedRealMap {
        map: Mutex::new(map),
        choice,
    })
}

/// Loads a map of predictions of real numbers that `save` of this package, the command `calibration fit` or the library
/// wrote.
#[pyfunction]
pub fn load_real(path: PathBuf) -> PyResult<FittedRealMap> {
    let conformal = || ConformalShift::load(&path, &device()).map(RealMap::conformal);
    let map = DistributionMap::load(&path, &device()).map(RealMap::Distribution);
    let map = map.or_else(|error| conformal().map_err(|_| error));
    FittedRealMap::found(map.and_then(check_reals))
}

/// Refuses a map of logits: a temperature is one of both.
fn check_reals(map: RealMap) -> Result<RealMap> {
    match map.any().fitted_to().family.as_deref() {
        Some(family @ ("categorical" | "correctness")) => Err(Error::Unsupported {
            what: format!("a {} of the family {family}", map.any().kind()),
            expected: "a map of predictions of real numbers",
        }),
        _ => Ok(map),
    }
}

/// A fitted map of predictions of real numbers of any kind.
#[pyclass(frozen, module = "burn_calibration._native")]
pub struct FittedRealMap {
    map: Mutex<RealMap>,
    choice: Option<Choice>,
}

impl FittedRealMap {
    fn found(map: Result<RealMap>) -> PyResult<Self> {
        Ok(Self {
            map: Mutex::new(map.map_err(value_error)?),
            choice: None,
        })
    }

    fn map(&self) -> RealMap {
        // nothing that holds the lock leaves half of a map
        let map = self.map.lock();
        map.unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }
}

/// Recalibrates predictions; what has no density becomes so many samples.
fn applied(
    map: &RealMap,
    family: Family,
    rows: Tensor<2>,
    levels: Vec<f64>,
    count: usize,
) -> Result<Rows> {
    match (map, family) {
        (RealMap::Distribution(map), Family::Normal) => {
            scaled::<Normal>(map, "normal", "normal-mixture", &rows, count)
        }
        (RealMap::Distribution(map), Family::Laplace) => {
            scaled::<Laplace>(map, "laplace", "laplace-mixture", &rows, count)
        }
        (RealMap::Distribution(DistributionMap::Quantile(map)), Family::Samples) => {
            let predictions = draws(rows);
            check_width(map.width(), 1)?;
            predictions.check()?;
            Ok(sampled(&map.forward(predictions), count))
        }
        (RealMap::Conformal(map), Family::Quantiles) => {
            let forecasts = QuantileForecasts::new(levels, rows)?;
            forecasts.check()?;
            map.check_levels(&forecasts)?;
            let shifted = map.forward(forecasts);
            Ok(Rows {
                levels: shifted.levels().to_vec(),
                ..Rows::new("quantiles", shifted.values().clone())
            })
        }
        (map, family) => Err(Error::Unsupported {
            what: format!(
                "a {} for predictions of the family {}",
                map.any().kind(),
                family.name()
            ),
            expected: "predictions of the family of the fit",
        }),
    }
}

fn check_width(width: Option<usize>, got: usize) -> Result<()> {
    let expected = width.unwrap_or(got);
    if got == expected {
        return Ok(());
    }
    Err(Error::Width {
        what: "the predictions",
        columns: "coordinate",
        got,
        expected,
    })
}

fn scaled<P: ScaleFamily + Component + Marginals>(
    map: &DistributionMap,
    family: &'static str,
    mixture: &'static str,
    rows: &Tensor<2>,
    count: usize,
) -> Result<Rows> {
    let predictions: P = location_and_scale(rows)?;
    let [_, dimensions] = predictions.means().dims();
    check_width(map.width(), dimensions)?;
    predictions.check()?;
    Ok(match map.forward(predictions) {
        Recalibrated::Family(same) => {
            Rows::new(family, Tensor::cat(same.location_and_scale().into(), 1))
        }
        Recalibrated::Mixture(found) => {
            let shape = found.weights().dims();
            let parts = found.all_components().location_and_scale();
            let [location, scale] = parts.map(|part| part.reshape(shape));
            Rows::new(
                mixture,
                Tensor::cat(vec![found.weights(), location, scale], 1),
            )
        }
        Recalibrated::Quantiles(found) if dimensions == 1 => sampled(&found, count),
        _ => {
            return Err(Error::Unsupported {
                what: format!("{dimensions} coordinates of a {}", map.kind()),
                expected: "one coordinate: the samples have no common order",
            });
        }
    })
}

/// Samples at the levels `(k − ½)/S`: of one coordinate nothing is random.
fn sampled<P: Marginals>(found: &QuantileRecalibrated<P>, count: usize) -> Rows {
    let samples: Samples = found.samples(count, &mut StdRng::seed_from_u64(0));
    let rows = samples.draws().reshape([-1, count as i32]);
    Rows::new("samples", rows)
}

#[pymethods]
impl FittedRealMap {
    /// The kind, in words: "variance scaling".
    #[getter]
    fn kind(&self) -> &'static str {
        self.map().any().kind()
    }

    /// The number of coordinates; None if it takes any.
    #[getter]
    fn width(&self) -> Option<usize> {
        self.map().any().width()
    }

    /// The parameters: names with arrays.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let parameters = self.map().any().named_parameters().into_iter();
        let of = |p: NamedParameter| Ok((p.name, shaped(py, p.values, p.shape)?));
        parameters.map(of).collect()
    }

    /// What the map keeps of predictions, as JSON.
    fn guarantees(&self) -> PyResult<String> {
        json(&self.map().any().guarantees())
    }

    /// How the fit went, as JSON; None where the map does not say it.
    fn report(&self) -> PyResult<Option<String>> {
        self.map().any().report().map(json).transpose()
    }

    /// What to know before the map is used, in words.
    fn warnings(&self) -> Vec<String> {
        warnings(self.map().any().report(), self.choice.as_ref())
    }

    /// What was chosen among maps and why, as JSON and in words; None of a map that was not chosen.
    fn choice(&self) -> PyResult<Option<(String, String)>> {
        self.choice.as_ref().map(choice_words).transpose()
    }

    /// Recalibrates predictions: the family, the rows of parameters, and the levels of quantiles. What has no density
    /// becomes so many samples.
    fn forward<'py>(
        &self,
        py: Python<'py>,
        family: Family,
        rows: PyReadonlyArray2<'_, f64>,
        levels: Vec<f64>,
        draws: usize,
    ) -> PyResult<(&'static str, Bound<'py, PyAny>, Vec<f64>)> {
        let (map, rows) = (self.map(), matrix(&rows)?);
        let made = work::run(py, None, move |_| {
            let made = applied(&map, family, rows, levels, draws)?;
            Ok((made.family, made.rows.into_data(), made.levels))
        })?;
        let (family, rows, levels) = made.map_err(|error: Error| value_error(error))?;
        Ok((family, array(py, rows)?, levels))
    }

    /// Saves the map to a file of the library.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let saved = self.map().any().save(&path);
        saved.map_err(|e| PyOSError::new_err(e.to_string()))
    }

    /// The bytes of the file that `save` writes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.map().any().to_bytes().map_err(value_error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The map of such bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let conformal = || ConformalShift::from_bytes(bytes.to_vec(), &device());
        let map = DistributionMap::from_bytes(bytes.to_vec(), &device());
        let map = map.map(RealMap::Distribution);
        Self::found(map.or_else(|error| conformal().map(RealMap::conformal).map_err(|_| error)))
    }
}
