//! NumPy arrays as tensors, and tensors as NumPy arrays.

use std::fmt::Display;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use numpy::{
    Element, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::{exceptions::PyValueError, prelude::*};

/// The device that everything is computed on: the processor.
pub fn device() -> Device {
    Device::flex()
}

/// What is wrong with data, for Python.
pub fn value_error(reason: impl Display) -> PyErr {
    PyValueError::new_err(reason.to_string())
}

/// An array of two dimensions, `[n, m]`, in double or single precision.
#[derive(FromPyObject)]
pub enum FloatRows<'py> {
    /// float64
    Double(PyReadonlyArray2<'py, f64>),
    /// float32
    Single(PyReadonlyArray2<'py, f32>),
}

/// Numbers of a row-major array on the host, and their dtype.
pub struct FloatNumbers {
    data: TensorData,
    dtype: DType,
}

impl FloatRows<'_> {
    /// Copies the numbers once, into memory that a tensor takes.
    pub fn numbers(&self) -> PyResult<FloatNumbers> {
        Ok(match self {
            Self::Double(array) => FloatNumbers {
                data: data(array.as_slice().map_err(value_error)?, array.shape()),
                dtype: DType::F64,
            },
            Self::Single(array) => FloatNumbers {
                data: data(array.as_slice().map_err(value_error)?, array.shape()),
                dtype: DType::F32,
            },
        })
    }
}

fn data<E: burn::tensor::Element>(values: &[E], shape: &[usize]) -> TensorData {
    TensorData::new(values.to_vec(), shape.to_vec())
}

impl FloatNumbers {
    /// The numbers as a tensor in their dtype: `[n, m]`.
    pub fn tensor(self, device: &Device) -> Tensor<2> {
        Tensor::from_data(self.data, (device, self.dtype))
    }
}

/// Labels on the host.
pub fn labels(array: &PyReadonlyArray1<i64>) -> PyResult<Vec<i64>> {
    Ok(array.as_slice().map_err(value_error)?.to_vec())
}

/// Labels as a tensor: `[n]`.
pub fn label_tensor(labels: Vec<i64>, device: &Device) -> Tensor<1, Int> {
    let shape = [labels.len()];
    Tensor::from_data(TensorData::new(labels, shape), device)
}

/// Weights as a tensor: `[n]`, in double precision.
pub fn weight_tensor(weights: Vec<f64>, device: &Device) -> Tensor<1> {
    let shape = [weights.len()];
    Tensor::from_data(TensorData::new(weights, shape), (device, DType::F64))
}

/// The numbers of a tensor as an array of its dtype and shape.
pub fn array<'py>(py: Python<'py>, data: TensorData) -> PyResult<Bound<'py, PyAny>> {
    let shape = data.shape().to_vec();
    if data.dtype() == DType::F32 {
        shaped(py, data.try_into_vec::<f32>().map_err(value_error)?, shape)
    } else {
        let data = data.convert::<f64>();
        shaped(py, data.try_into_vec::<f64>().map_err(value_error)?, shape)
    }
}

/// Numbers as an array of a shape.
pub fn shaped<E: Element>(
    py: Python<'_>,
    values: Vec<E>,
    shape: Vec<usize>,
) -> PyResult<Bound<'_, PyAny>> {
    Ok(PyArray1::from_vec(py, values).reshape(shape)?.into_any())
}
