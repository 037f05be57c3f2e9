//! Calibration penalties of a batch: a value, and its gradient with respect to the logits.

use burn::tensor::{Int, Tensor, TensorData};
use burn_calibration::{
    distribution::{Categorical, Given, Predictive},
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

/// The squared kernel calibration error of logits `[n, m]` and labels `[n]`, and its gradient, `[n, m]`: the kernel
/// compares the predictions, or inputs `[n, d]`. Without a bandwidth it is the median distance.
#[pyfunction]
#[pyo3(signature = (logits, labels, inputs, kernel, distance, bandwidth, form, scale))]
#[allow(clippy::too_many_arguments)]
pub fn skce<'py>(
    py: Python<'py>,
    logits: FloatRows<'_>,
    labels: PyReadonlyArray1<'_, i64>,
    inputs: Option<FloatRows<'_>>,
    kernel: &str,
    distance: Option<&str>,
    bandwidth: Option<f64>,
    form: &str,
    scale: &str,
) -> PyResult<Penalty<'py>> {
    let are_inputs = inputs.is_some();
    let kernel = kernel_of(kernel, distance, bandwidth, are_inputs).map_err(value_error)?;
    let (form, needed) = match (form, block_of(form)) {
        ("biased", _) => (SkceForm::Biased, SkceScale::Root),
        ("unbiased", _) => (SkceForm::Unbiased, SkceScale::Standardised),
        (_, Some(block)) => (SkceForm::Block(block), SkceScale::Squared),
        _ => return Err(one_of("form", form, "biased, unbiased, block:SIZE")),
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
    let criterion = config.with_form(form).with_scale(scale).init();
    let Some(inputs) = inputs else {
        return penalty(py, (logits, labels), move |logits, labels| {
            value_of(
                &criterion,
                Categorical::from_logits_unchecked(logits),
                labels,
            )
        });
    };
    let inputs = inputs.numbers()?;
    penalty(py, (logits, labels), move |logits, labels| {
        let inputs = inputs.tensor(&device()).cast(logits.dtype());
        let inputs = Tensor::from_inner(inputs);
        value_of(&criterion, Given::logits(logits, inputs), labels)
    })
}

/// The size of the blocks that a form names.
fn block_of(form: &str) -> Option<usize> {
    let size = form.strip_prefix("block:")?.parse().ok();
    size.filter(|size| *size >= 2)
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
    let criterion = config.with_bandwidth(bandwidth).init();
    penalty(py, (logits, labels), move |logits, labels| {
        value_of(
            &criterion,
            Categorical::from_logits_unchecked(logits),
            labels,
        )
    })
}

/// A kernel on probabilities, or on inputs, of a fixed bandwidth or the median one.
fn kernel_of(
    profile: &str,
    distance: Option<&str>,
    bandwidth: Option<f64>,
    are_inputs: bool,
) -> error::Result<Kernel> {
    let profile = profile.parse()?;
    let usual = if profile == Kernel::exponential().profile && !are_inputs {
        Kernel::exponential()
    } else {
        Kernel::wasserstein()
    };
    let distance = distance.map_or(Ok(usual.distance), str::parse)?;
    let kernel = usual.with_profile(profile).with_distance(distance);
    let kernel = kernel.with_bandwidth(bandwidth.map_or(Bandwidth::Median, Bandwidth::Fixed));
    kernel.validate()?;
    Ok(kernel)
}

fn one_of(name: &str, value: &str, names: &str) -> PyErr {
    value_error(format!("{name} is {value:?}, expected one of {names}"))
}

/// Computes a criterion and its gradient without the interpreter's lock.
fn penalty<'py>(
    py: Python<'py>,
    (logits, labels): (FloatRows<'_>, PyReadonlyArray1<'_, i64>),
    value: impl FnOnce(Tensor<2>, Tensor<1, Int>) -> error::Result<Tensor<1>> + Send,
) -> PyResult<Penalty<'py>> {
    let (numbers, labels) = (logits.numbers()?, self::labels(&labels)?);
    let computed = py.detach(move || value_and_gradient(numbers, labels, value));
    let (value, gradient) = computed.map_err(value_error)?;
    Ok((value, array(py, gradient)?))
}

fn value_and_gradient(
    numbers: FloatNumbers,
    labels: Vec<i64>,
    value: impl FnOnce(Tensor<2>, Tensor<1, Int>) -> error::Result<Tensor<1>>,
) -> error::Result<(f64, TensorData)> {
    let device = device();
    let labels = label_tensor(labels, &device);
    let logits = numbers.tensor(&device.autodiff()).require_grad();
    let [_, columns] = logits.dims();
    if columns < 2 {
        return Err(Error::Width {
            what: "the logits",
            columns: "class",
            got: columns,
            expected: 2,
        });
    }
    let value = value(logits.clone(), labels)?;
    let gradient = logits.grad(&value.backward());
    let gradient = gradient.unwrap_or_else(|| logits.clone().inner().zeros_like());
    Ok((value.into_scalar::<f64>(), gradient.into_data()))
}

/// A criterion of predictions with labels, which are checked.
fn value_of<P: Predictive<Targets = Tensor<1, Int>>>(
    criterion: &impl Criterion<P>,
    predictions: P,
    labels: Tensor<1, Int>,
) -> error::Result<Tensor<1>> {
    predictions.check_targets(&labels)?;
    Ok(criterion.value(&predictions, &Tensor::from_inner(labels)))
}
