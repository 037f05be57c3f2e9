//! Calibration penalties of a batch: a value, and its gradient with respect to the logits.

use burn::tensor::{Tensor, TensorData};
use burn_calibration::{
    distribution::{Categorical, Predictive},
    error::{self, Error},
    estimator::{MmceForm, SkceForm},
    kernel::{Bandwidth, Kernel},
    loss::{Criterion, MmceLossConfig, SkceLossConfig, SkceScale},
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::arrays::{FloatNumbers, FloatRows, array, device, label_tensor, labels, value_error};

/// A value, and its gradient.
type Penalty<'py> = (f64, Bound<'py, PyAny>);

/// The squared kernel calibration error of logits `[n, m]` and labels `[n]`, and its gradient, `[n, m]`.
#[pyfunction]
#[pyo3(signature = (logits, labels, kernel, distance, bandwidth, form, scale))]
#[allow(clippy::too_many_arguments)]
pub fn skce<'py>(
    py: Python<'py>,
    logits: FloatRows<'_>,
    labels: PyReadonlyArray1<'_, i64>,
    kernel: &str,
    distance: Option<&str>,
    bandwidth: f64,
    form: &str,
    scale: &str,
) -> PyResult<Penalty<'py>> {
    let kernel = kernel_of(kernel, distance, bandwidth).map_err(value_error)?;
    let (form, needed) = match form {
        "biased" => (SkceForm::Biased, SkceScale::Root),
        "unbiased" => (SkceForm::Unbiased, SkceScale::Standardised),
        _ => return Err(one_of("form", form, "biased, unbiased")),
    };
    let scale = match scale {
        "squared" => SkceScale::Squared,
        "root" => SkceScale::Root,
        "standardized" => SkceScale::Standardised,
        _ => return Err(one_of("scale", scale, "squared, root, standardized")),
    };
    if scale != SkceScale::Squared && scale != needed {
        let reason = "root is of the form biased, and standardized of the form unbiased";
        return Err(value_error(format!("scale: {reason}")));
    }
    let config = SkceLossConfig::new().with_kernel(kernel);
    penalty(
        py,
        config.with_form(form).with_scale(scale).init(),
        (logits, labels),
    )
}

/// The maximum mean calibration error of logits `[n, m]` and labels `[n]`, and its gradient, `[n, m]`.
#[pyfunction]
#[pyo3(signature = (logits, labels, bandwidth, form, squared))]
pub fn mmce<'py>(
    py: Python<'py>,
    logits: FloatRows<'_>,
    labels: PyReadonlyArray1<'_, i64>,
    bandwidth: f64,
    form: &str,
    squared: bool,
) -> PyResult<Penalty<'py>> {
    let form = match form {
        "unweighted" => MmceForm::Unweighted,
        "weighted" => MmceForm::Weighted,
        "unbiased" => MmceForm::Unbiased,
        _ => return Err(one_of("form", form, "unweighted, weighted, unbiased")),
    };
    if form == MmceForm::Unbiased && !squared {
        let reason = "the unbiased form can be negative and has no root, expected squared=True";
        return Err(value_error(reason));
    }
    if !(bandwidth.is_finite() && bandwidth > 0.0) {
        let reason = format!("the bandwidth is {bandwidth}, expected a positive finite number");
        return Err(value_error(reason));
    }
    let config = MmceLossConfig::new().with_form(form).with_squared(squared);
    penalty(
        py,
        config.with_bandwidth(bandwidth).init(),
        (logits, labels),
    )
}

/// A kernel on probabilities of a fixed bandwidth.
fn kernel_of(profile: &str, distance: Option<&str>, bandwidth: f64) -> error::Result<Kernel> {
    let profile = profile.parse()?;
    let usual = if profile == Kernel::exponential().profile {
        Kernel::exponential()
    } else {
        Kernel::wasserstein()
    };
    let distance = distance.map_or(Ok(usual.distance), str::parse)?;
    let kernel = usual.with_profile(profile).with_distance(distance);
    let kernel = kernel.with_bandwidth(Bandwidth::Fixed(bandwidth));
    kernel.validate()?;
    Ok(kernel)
}

fn one_of(name: &str, value: &str, names: &str) -> PyErr {
    value_error(format!("{name} is {value:?}, expected one of {names}"))
}

/// Computes a criterion and its gradient without the interpreter's lock.
fn penalty<'py>(
    py: Python<'py>,
    criterion: impl Criterion + Send,
    (logits, labels): (FloatRows<'_>, PyReadonlyArray1<'_, i64>),
) -> PyResult<Penalty<'py>> {
    let (numbers, labels) = (logits.numbers()?, self::labels(&labels)?);
    let computed = py.detach(move || value_and_gradient(&criterion, numbers, labels));
    let (value, gradient) = computed.map_err(value_error)?;
    Ok((value, array(py, gradient)?))
}

fn value_and_gradient(
    criterion: &impl Criterion,
    numbers: FloatNumbers,
    labels: Vec<i64>,
) -> error::Result<(f64, TensorData)> {
    let device = device();
    let labels = label_tensor(labels, &device);
    let logits = numbers.tensor(&device.autodiff()).require_grad();
    let [_, columns] = logits.dims();
    if columns < 2 {
        return Err(Error::Width {
            what: "the logits",
            columns: "classes",
            got: columns,
            expected: 2,
        });
    }
    let predictions = Categorical::from_logits_unchecked(logits.clone());
    predictions.check_targets(&labels)?;
    let labels = Tensor::from_inner(labels);
    let value = criterion.value(&predictions, &labels);
    let gradient = logits.grad(&value.backward());
    let gradient = gradient.unwrap_or_else(|| logits.clone().inner().zeros_like());
    Ok((value.into_scalar::<f64>(), gradient.into_data()))
}
