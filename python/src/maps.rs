//! Recalibration maps of logits: fits, and fitted maps.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard},
};

use burn::{
    config::Config,
    tensor::{Int, Tensor, TensorData, activation::softmax},
};
use burn_calibration::{
    distribution::{Categorical, Weighted as _},
    error::{self, Error},
    recalibration::{FittedMap as _, *},
};
use burn_calibration_export::{Formula, to_onnx};
use numpy::PyReadonlyArray1;
use pyo3::{exceptions::PyOSError, prelude::*, types::PyBytes};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map as Object, Value};

use crate::{
    arrays::{
        FloatNumbers, FloatRows, array, device, label_tensor, labels, shaped, value_error,
        weight_tensor,
    },
    samples::weighted_rows,
    work::{self, At},
};

/// The kind of a choice among maps, which is no kind of map.
const AUTO: &str = "auto";

/// Data that a map is fitted to.
struct FitSamples {
    logits: Tensor<2>,
    labels: Tensor<1, Int>,
    weights: Option<Tensor<1>>,
}

/// A map that was fitted, and why it was chosen, if it was.
type MapAndChoice = (LogitMap, Option<Choice>);

/// Lists the configuration of each kind of map: of [`MapKind::ALL`] each needs a line here.
macro_rules! configurations {
    ($($kind:ident: $config:ident;)*) => {
        /// The options of a kind with their defaults, if it has a line in the list.
        fn defaults(kind: MapKind) -> Option<Result<Object<String, Value>, String>> {
            match kind {
                $(MapKind::$kind => Some(options_of(&$config::new())),)*
                _ => None,
            }
        }

        /// Fits a map of a kind with options.
        fn fit_kind(
            kind: MapKind,
            options: &Object<String, Value>,
            samples: &FitSamples,
            progress: Progress<'_>,
        ) -> Result<LogitMap, String> {
            match kind {
                $(MapKind::$kind => {
                    let config = configured(&$config::new(), options)?;
                    let map = fit_by(&config, samples, progress);
                    map.map(Into::into).map_err(|e| e.to_string())
                })*
                _ => Err(format!("{kind}: this package does not know its options")),
            }
        }
    };
}

configurations! {
    Temperature: TemperatureScalingConfig;
    Shift: LogitShiftConfig;
    Ensemble: EnsembleTemperatureScalingConfig;
    Diagonal: DiagonalScalingConfig;
    OrderPreserving: OrderPreservingConfig;
    OrderInvariant: OrderInvariantConfig;
    Vector: VectorScalingConfig;
    Matrix: MatrixScalingConfig;
    Dirichlet: DirichletCalibrationConfig;
    StructuredVector: StructuredVectorScalingConfig;
    StructuredMatrix: StructuredMatrixScalingConfig;
    Platt: PlattScalingConfig;
    Beta: BetaCalibrationConfig;
    Quadratic: QuadraticScalingConfig;
    Isotonic: IsotonicRegressionConfig;
    VennAbers: VennAbersConfig;
    Histogram: HistogramBinningConfig;
    Spline: SplineCalibrationConfig;
}

/// The options of a configuration by their names.
pub fn options_of(config: &impl Serialize) -> Result<Object<String, Value>, String> {
    match serde_json::to_value(config) {
        Ok(Value::Object(options)) => Ok(options),
        Ok(_) => Ok(Object::new()), // of a configuration without options
        Err(reason) => Err(reason.to_string()),
    }
}

/// A configuration with some options in the place of those by default.
pub fn configured<C: Config + Serialize + DeserializeOwned>(
    default: &C,
    options: &Object<String, Value>,
) -> Result<C, String> {
    let mut all = options_of(default)?;
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    if let Some(unknown) = options.keys().find(|name| !all.contains_key(*name)) {
        let names = names.join(", ");
        return Err(format!("{unknown}: no option, expected one of {names}"));
    }
    all.extend(options.clone());
    serde_json::from_value(Value::Object(all)).map_err(|e| format!("the options: {e}"))
}

/// Fits by the log loss: to logits, or to predictions with their weights.
fn fit_by<C, M>(config: &C, samples: &FitSamples, progress: Progress<'_>) -> error::Result<M>
where
    C: Fit<Map = M> + Fit<Categorical, Tensor<1, Int>, Map = M>,
{
    let (logits, labels) = (samples.logits.clone(), samples.labels.clone());
    let Some(weights) = &samples.weights else {
        return Fit::<Tensor<2>>::fit_with(config, logits, labels, FitOptions::new(None, progress));
    };
    let predictions = Categorical::from_logits(logits)?;
    predictions.check_labels(&labels)?; // before rows of weight 0 are left out
    let (predictions, labels) = predictions.weighted(weights, &labels)?;
    Fit::<Categorical, _>::fit_with(config, predictions, labels, FitOptions::new(None, progress))
}

/// Fits a map of the kind that a name says, or chooses one.
fn fit_named(
    kind: &str,
    options: &Object<String, Value>,
    samples: &FitSamples,
    progress: Progress<'_>,
) -> Result<MapAndChoice, String> {
    if kind == AUTO {
        let config = configured(&AutoRecalibrationConfig::new(), options)?;
        let chosen: AutoRecalibration =
            fit_by(&config, samples, progress).map_err(|e| e.to_string())?;
        let choice = chosen.choice().clone();
        return Ok((chosen.into_map(), Some(choice)));
    }
    let kind: MapKind = kind.parse().map_err(|e: Error| e.to_string())?;
    Ok((fit_kind(kind, options, samples, progress)?, None))
}

/// Lists the kinds of maps: the name, a few words, and the options with their defaults as JSON. The last is "auto", a
/// choice among the others.
#[pyfunction]
pub fn map_kinds() -> PyResult<Vec<(&'static str, &'static str, String)>> {
    let json = |options: Object<String, Value>| Value::Object(options).to_string();
    let of_kind = |&kind: &MapKind| {
        let options = defaults(kind)?.map(json).map_err(value_error);
        Some(options.map(|options| (kind.name(), kind.about(), options)))
    };
    let auto = options_of(&AutoRecalibrationConfig::new()).map(json);
    let auto = auto.map_err(value_error)?;
    let mut kinds: Vec<_> = MapKind::ALL
        .iter()
        .filter_map(of_kind)
        .collect::<PyResult<_>>()?;
    kinds.push((AUTO, "A choice among maps by cross-validation", auto));
    Ok(kinds)
}

/// Fits a map of a kind to logits `[n, m]` and labels `[n]`, with options as JSON, weights `[n]`, the probability to which
/// smaller ones were raised, and a callback `(fit, fits, evaluations, objective)`.
#[pyfunction]
#[pyo3(signature = (kind, options, logits, labels, weights=None, clip=None, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn fit(
    py: Python<'_>,
    kind: String,
    options: &str,
    logits: FloatRows<'_>,
    labels: PyReadonlyArray1<'_, i64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    clip: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<FittedMap> {
    let options: Object<String, Value> = serde_json::from_str(options).map_err(value_error)?;
    let numbers = logits.numbers()?;
    let classes = self::labels(&labels)?;
    let rows = weighted_rows(weights.as_ref())?;
    let weights = weights.map(|weights| {
        let weights = weights.as_slice().map_err(value_error);
        weights.map(<[f64]>::to_vec)
    });
    let weights = weights.transpose()?;
    let found = work::run(py, progress, move |reporter| {
        let device = device();
        let samples = FitSamples {
            logits: numbers.tensor(&device),
            labels: label_tensor(classes, &device),
            weights: weights.map(|weights| weight_tensor(weights, &device)),
        };
        fit_named(&kind, &options, &samples, &mut |at| {
            reporter.at(At::Fit(at))
        })
    })?;
    let (mut map, mut choice) = found.map_err(value_error)?;
    map.name_rows(&rows);
    choice.iter_mut().for_each(|choice| choice.name_rows(&rows));
    map.set_fitted_to(FittedTo {
        family: Some("categorical".into()),
        logits: Some(clip.is_none()),
        clip,
        ..FittedTo::default()
    });
    Ok(FittedMap {
        map: Mutex::new(map),
        choice,
    })
}

/// Loads a map of logits that `save` of this package, the command `calibration fit` or the library wrote, or a
/// `temperature`, or `weight` and `bias`, that PyTorch saved as safetensors.
#[pyfunction]
pub fn load(path: PathBuf) -> PyResult<FittedMap> {
    let map = load_map(&path, &device()).map_err(value_error)?;
    Ok(FittedMap {
        map: Mutex::new(map),
        choice: None,
    })
}

/// A fitted map of logits of any kind.
#[pyclass(frozen, module = "burn_calibration._native")]
pub struct FittedMap {
    map: Mutex<LogitMap>,
    choice: Option<Choice>,
}

impl FittedMap {
    fn map(&self) -> MutexGuard<'_, LogitMap> {
        // nothing that holds the lock leaves half of a map
        self.map
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What a function makes of the recalibrated logits, once these are checked.
    fn mapped<'py>(
        &self,
        py: Python<'py>,
        logits: FloatRows<'_>,
        make: fn(Tensor<2>) -> Tensor<2>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (map, numbers) = (self.map().clone(), logits.numbers()?);
        let mapped = work::run(py, None, move |_| forward(&map, numbers, make))?;
        array(py, mapped.map_err(value_error)?)
    }
}

/// Applies a map to logits of as many classes as it is of, all of which are finite.
fn forward(
    map: &LogitMap,
    numbers: FloatNumbers,
    make: fn(Tensor<2>) -> Tensor<2>,
) -> error::Result<TensorData> {
    let logits = numbers.tensor(&device());
    Categorical::from_logits(logits.clone())?;
    let got = logits.dims()[1];
    let expected = map.width().unwrap_or(got);
    if got != expected {
        return Err(Error::Width {
            what: "the logits",
            columns: "class",
            got,
            expected,
        });
    }
    Ok(make(map.forward(logits)).into_data())
}

#[pymethods]
impl FittedMap {
    /// The kind, in words: "temperature scaling".
    #[getter]
    fn kind(&self) -> &'static str {
        self.map().kind()
    }

    /// The number of classes; None if it takes any.
    #[getter]
    fn width(&self) -> Option<usize> {
        self.map().width()
    }

    /// The parameters: names with arrays.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let parameters = self.map().named_parameters().into_iter();
        let of = |p: NamedParameter| Ok((p.name, shaped(py, p.values, p.shape)?));
        parameters.map(of).collect()
    }

    /// What the map keeps of predictions, as JSON.
    fn guarantees(&self) -> PyResult<String> {
        json(&self.map().guarantees())
    }

    /// How the fit went, as JSON; None where the map does not say it.
    fn report(&self) -> PyResult<Option<String>> {
        self.map().report().map(json).transpose()
    }

    /// What to know before the map is used, in words.
    fn warnings(&self) -> Vec<String> {
        warnings(self.map().report(), self.choice.as_ref())
    }

    /// What was chosen among maps and why, as JSON and in words; None of a map that was not chosen.
    fn choice(&self) -> PyResult<Option<(String, String)>> {
        self.choice.as_ref().map(choice_words).transpose()
    }

    /// What the map computes, with its numbers, line by line; None of a map without a formula.
    fn formula(&self) -> Option<String> {
        Formula::for_classes(&self.map()).map(|formula| formula.to_string())
    }

    /// The ONNX model of the map, as bytes of a file; None of a map without a formula.
    fn to_onnx<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let map = self.map();
        let formula = Formula::for_classes(&map)?;
        Some(PyBytes::new(py, &to_onnx(&formula, map.width())))
    }

    /// Recalibrates logits `[n, m]`: logits in their dtype.
    fn forward<'py>(&self, py: Python<'py>, logits: FloatRows<'_>) -> PyResult<Bound<'py, PyAny>> {
        self.mapped(py, logits, |logits| logits)
    }

    /// Recalibrates logits `[n, m]`: probabilities in their dtype.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        logits: FloatRows<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.mapped(py, logits, |logits| softmax(logits, 1))
    }

    /// Saves the map to a file of the library.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.map()
            .save(&path)
            .map_err(|e| PyOSError::new_err(e.to_string()))
    }

    /// The bytes of the file that `save` writes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.map().to_bytes().map_err(value_error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The map of such bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let map = load_map_bytes(bytes.to_vec(), &device()).map_err(value_error)?;
        Ok(Self {
            map: Mutex::new(map),
            choice: None,
        })
    }
}

/// The warnings of a fit and of a choice in words, without the maps that were not tried, which the words of the choice list.
pub fn warnings(report: Option<&FitReport>, choice: Option<&Choice>) -> Vec<String> {
    let of_fit = report.map_or(&[][..], |report| &report.warnings);
    let of_choice = choice.map_or(&[][..], |choice| &choice.warnings);
    let is_told = |warning: &&FitWarning| {
        !of_fit.contains(warning) && !matches!(warning, FitWarning::TooFew { .. })
    };
    let all = of_fit.iter().chain(of_choice.iter().filter(is_told));
    all.map(ToString::to_string).collect()
}

/// A choice among maps as JSON and in words.
pub fn choice_words(choice: &Choice) -> PyResult<(String, String)> {
    Ok((json(choice)?, choice.to_string()))
}

/// A value as JSON.
pub fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(value_error)
}
