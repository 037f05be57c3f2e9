//! Predictions with what occurred, from arrays of Python: what metrics are computed of.

use burn::tensor::{DType, Tensor, TensorData};
use burn_calibration::{
    distribution::{
        Categorical, Component, Laplace, Marginals, Mixture, Normal, Predictive, QuantileForecasts,
        Samples, Subject,
    },
    error::{Error, Result, checks::check_count},
    estimator::{Estimator, Event},
    hypothesis::{CalibrationTest, TestOutcome},
    recalibration::ScaleFamily,
    score::{ErrorSize, Quantify, Score},
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    arrays::{device, label_tensor, labels, value_error, weight_tensor},
    metrics::Estimate,
    work,
};

/// Predictions, what occurred, and the weights of the samples, which the predictions carry.
pub struct Sample<P: Predictive> {
    pub predictions: P,
    pub targets: P::Targets,
}

impl<P: Predictive> Sample<P> {
    /// Checks the data, of which quantities check the targets unless rows of weight 0 are left out before.
    fn new(predictions: P, targets: P::Targets, weights: Option<Tensor<1>>) -> Result<Self> {
        predictions.check()?;
        let Some(weights) = weights else {
            return Ok(Self {
                predictions,
                targets,
            });
        };
        predictions.check_targets(&targets)?;
        let (predictions, targets) = predictions.weighted(&weights, &targets)?;
        Ok(Self {
            predictions,
            targets,
        })
    }

    pub fn estimate(&self, estimator: &impl Estimator<P>) -> Result<f64> {
        estimator.estimate(&self.predictions, &self.targets)
    }

    pub fn size(&self, error: &impl Quantify<P>) -> Result<ErrorSize> {
        error.size(&self.predictions, &self.targets)
    }

    pub fn score(&self, score: &impl Score<P>, level: Option<f64>) -> Result<Estimate> {
        let mean = score.mean(&self.predictions, &self.targets)?;
        Estimate::new(mean.estimate, level, |level| {
            score.interval(&self.predictions, &self.targets, level)
        })
    }

    pub fn test(&self, test: &impl CalibrationTest<P>, seed: u64) -> Result<TestOutcome> {
        let mut rng = StdRng::seed_from_u64(seed);
        test.outcome(&self.predictions, &self.targets, &mut rng)
    }
}

impl Sample<Categorical> {
    /// The event of the predictions, or that the top label is right.
    pub fn event(&self) -> Event {
        Event::of(&self.predictions)
    }

    /// The event of the predictions, class 1 of two classes, or that the top label is right.
    pub fn one_event(&self) -> Event {
        Event::one_of(&self.predictions)
    }
}

/// Predictions of classes with labels, as attributes of an object.
#[derive(FromPyObject)]
pub struct ClassArrays<'py> {
    /// `[n, m]`
    rows: PyReadonlyArray2<'py, f64>,
    is_logits: bool,
    /// Whether class 1 of two is an event.
    is_event: bool,
    /// `[n]`
    labels: PyReadonlyArray1<'py, i64>,
    /// `[n]`
    weights: Option<PyReadonlyArray1<'py, f64>>,
    /// A class that is looked at against the rest.
    pos_label: Option<usize>,
}

impl ClassArrays<'_> {
    /// Computes a quantity on a thread of its own, without the interpreter's lock.
    pub fn compute<T: Send + 'static>(
        &self,
        py: Python<'_>,
        quantity: impl FnOnce(&Sample<Categorical>) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let (rows, weights) = (matrix(&self.rows)?, column(self.weights.as_ref())?);
        let kept = weighted_rows(self.weights.as_ref())?;
        let labels = label_tensor(labels(&self.labels)?, &device());
        let (is_logits, is_event, pos_label) = (self.is_logits, self.is_event, self.pos_label);
        let computed = work::run(py, None, move |_| {
            let predictions = if is_logits {
                Categorical::from_logits(rows)?
            } else {
                Categorical::from_probabilities(rows)?
            };
            let subject = if is_event {
                Subject::Event
            } else {
                Subject::Classes
            };
            let data = (predictions.about(subject)?, labels);
            let (predictions, labels) = match pos_label {
                None => data,
                Some(class) => data.0.class_wise(class, &data.1)?,
            };
            quantity(&Sample::new(predictions, labels, weights)?)
        })?;
        computed.map_err(|error| error_of(error, "y_prob", &kept))
    }
}

/// The kinds of predictions of real numbers.
#[pyclass(
    eq,
    eq_int,
    frozen,
    from_py_object,
    module = "burn_calibration._native"
)]
#[derive(Clone, Copy, PartialEq)]
pub enum Family {
    Normal,
    Laplace,
    NormalMixture,
    LaplaceMixture,
    Samples,
    Quantiles,
}

impl Family {
    /// The name, as at the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Laplace => "laplace",
            Self::NormalMixture => "normal-mixture",
            Self::LaplaceMixture => "laplace-mixture",
            Self::Samples => "samples",
            Self::Quantiles => "quantiles",
        }
    }
}

/// Predictions of real numbers with targets, as attributes of an object.
#[derive(FromPyObject)]
pub struct RealArrays<'py> {
    family: Family,
    /// The parameters side by side: locations, scales; weights, locations, scales; draws; quantiles.
    rows: PyReadonlyArray2<'py, f64>,
    /// The levels of quantiles.
    levels: Vec<f64>,
    /// `[n, d]`
    targets: PyReadonlyArray2<'py, f64>,
    /// `[n]`
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

/// Predictions of real numbers with targets, by their kind.
pub enum Reals {
    Normal(Sample<Normal>),
    Laplace(Sample<Laplace>),
    NormalMixture(Sample<Mixture<Normal>>),
    LaplaceMixture(Sample<Mixture<Laplace>>),
    Samples(Sample<Samples>),
    Quantiles(Sample<QuantileForecasts>),
}

impl RealArrays<'_> {
    /// Computes a quantity on a thread of its own, without the interpreter's lock.
    pub fn compute<T: Send + 'static>(
        &self,
        py: Python<'_>,
        quantity: impl FnOnce(&Reals) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let (data, kept) = (self.owned()?, self.weighted_rows()?);
        let computed = work::run(py, None, move |_| quantity(&data.checked()?))?;
        computed.map_err(|error| error_of(error, "prediction", &kept))
    }

    pub fn family(&self) -> Family {
        self.family
    }

    /// The rows of positive weight; empty where these are all.
    pub fn weighted_rows(&self) -> PyResult<Vec<usize>> {
        weighted_rows(self.weights.as_ref())
    }

    /// The data as tensors, which are still to be checked.
    pub fn owned(&self) -> PyResult<RealTensors> {
        Ok(RealTensors {
            family: self.family,
            rows: matrix(&self.rows)?,
            levels: self.levels.clone(),
            targets: matrix(&self.targets)?,
            weights: column(self.weights.as_ref())?,
        })
    }
}

/// Predictions of real numbers with targets, as tensors.
pub struct RealTensors {
    family: Family,
    rows: Tensor<2>,
    levels: Vec<f64>,
    targets: Tensor<2>,
    weights: Option<Tensor<1>>,
}

impl RealTensors {
    /// The predictions with their targets, where they are valid.
    pub fn checked(self) -> Result<Reals> {
        let Self {
            family,
            rows,
            levels,
            targets,
            weights,
        } = self;
        Ok(match family {
            Family::Normal => {
                let predictions = location_and_scale(&rows)?;
                Reals::Normal(Sample::new(predictions, targets, weights)?)
            }
            Family::Laplace => {
                let predictions = location_and_scale(&rows)?;
                Reals::Laplace(Sample::new(predictions, targets, weights)?)
            }
            Family::NormalMixture => {
                let predictions = mixture(&rows, Normal::new)?;
                Reals::NormalMixture(Sample::new(predictions, targets, weights)?)
            }
            Family::LaplaceMixture => {
                let predictions = mixture(&rows, Laplace::new)?;
                Reals::LaplaceMixture(Sample::new(predictions, targets, weights)?)
            }
            Family::Samples => Reals::Samples(Sample::new(draws(rows), targets, weights)?),
            Family::Quantiles => {
                let predictions = QuantileForecasts::new(levels, rows)?;
                Reals::Quantiles(Sample::new(predictions, targets, weights)?)
            }
        })
    }
}

/// Predictions of normal or Laplace distributions: locations and scales, side by side.
pub fn location_and_scale<P: ScaleFamily>(rows: &Tensor<2>) -> Result<P> {
    let [location, scale] = parts(rows)?;
    Ok(P::with_location_and_scale(location, scale))
}

/// Samples of one number each.
pub fn draws(rows: Tensor<2>) -> Samples {
    let [n, draws] = rows.dims();
    Samples::new(rows.reshape([n, draws, 1]))
}

/// Parameters that are side by side, each `[n, columns / N]`.
fn parts<const N: usize>(rows: &Tensor<2>) -> Result<[Tensor<2>; N]> {
    let [n, columns] = rows.dims();
    let width = columns / N;
    check_count("the number of parameters", width)?;
    if width * N != columns {
        return Err(Error::Width {
            what: "the parameters",
            columns: "column",
            got: columns,
            expected: width * N,
        });
    }
    Ok(std::array::from_fn(|part| {
        rows.clone().slice([0..n, part * width..(part + 1) * width])
    }))
}

/// A mixture of components, compared by kernels as the command does.
fn mixture<C: Component + Marginals>(
    rows: &Tensor<2>,
    component: fn(Tensor<2>, Tensor<2>) -> C,
) -> Result<Mixture<C>> {
    let [weights, location, scale] = parts(rows)?;
    let count = weights.shape().num_elements();
    let components = component(location.reshape([count, 1]), scale.reshape([count, 1]));
    Ok(Mixture::new(weights, components).compared_by_quantiles())
}

/// `[n, m]` in double precision.
pub fn matrix(array: &PyReadonlyArray2<f64>) -> PyResult<Tensor<2>> {
    let values = array.as_slice().map_err(value_error)?.to_vec();
    let data = TensorData::new(values, array.shape().to_vec());
    Ok(Tensor::from_data(data, (&device(), DType::F64)))
}

/// What is wrong with data: of a score, whose row is one of those of positive weight, with the parameter that the
/// prediction is from. Python checks everything else about rows before.
fn error_of(error: Error, parameter: &str, kept: &[usize]) -> PyErr {
    match error {
        Error::Score { .. } => value_error(format!("{parameter}, {}", error.at_rows(kept))),
        error => value_error(error),
    }
}

/// The rows of positive weight, which are kept; empty where these are all.
pub fn weighted_rows(weights: Option<&PyReadonlyArray1<f64>>) -> PyResult<Vec<usize>> {
    let Some(weights) = weights else {
        return Ok(Vec::new());
    };
    let weights = weights.as_slice().map_err(value_error)?;
    let mut rows: Vec<usize> = (0..weights.len())
        .filter(|&row| weights[row] != 0.0)
        .collect();
    if rows.len() == weights.len() {
        rows.clear();
    }
    Ok(rows)
}

/// `[n]`, if there is one.
fn column(array: Option<&PyReadonlyArray1<f64>>) -> PyResult<Option<Tensor<1>>> {
    let Some(array) = array else {
        return Ok(None);
    };
    let values = array.as_slice().map_err(value_error)?.to_vec();
    Ok(Some(weight_tensor(values, &device())))
}
