//! Reading tensors back to the host, and the checks of data that need it.

use std::{
    ops::Deref,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{Mutex, PoisonError},
};

#[cfg(feature = "flex")]
use burn::backend::{Flex, tensor::FloatTensor};
use burn::{
    backend::DispatchDevice,
    tensor::{DType, Device, Element, Int, Tensor, TensorData},
};
use pulp::bytemuck::Pod;

use crate::error::{Result, check_classes, check_finite, check_labels, check_samples};

/// The elements in row-major order, in f64 whatever the dtype.
///
/// For large tensors on the host some rows at a time: a backend may copy what it gives several times.
pub(crate) fn to_vec<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    let read = |tensor: Tensor<D>| {
        let numbers = tensor.try_into_vec_as::<f64>();
        numbers.expect("a float tensor that can be read back")
    };
    let (shape, count) = (tensor.dims(), tensor.shape().num_elements());
    if count <= AT_ONCE || shape[0] < 2 || !is_host(&tensor.device()) {
        return read(tensor);
    }
    let rows = (AT_ONCE / (count / shape[0])).max(1);
    let mut numbers = Vec::with_capacity(count);
    for first in (0..shape[0]).step_by(rows) {
        let part = first..shape[0].min(first + rows);
        numbers.extend(read(tensor.clone().slice_dim(0, part)));
    }
    numbers
}

/// Numbers that are read at once.
const AT_ONCE: usize = 1 << 22;

/// The memory of a tensor, in its dtype and in row-major order: its own on Flex, where it is in one piece,
/// otherwise a copy.
#[derive(Debug)]
pub(crate) enum Memory {
    Copy(TensorData),
    #[cfg(feature = "flex")]
    Own(FloatTensor<Flex>),
}

// as tensors are: nothing in it is changed
impl UnwindSafe for Memory {}
impl RefUnwindSafe for Memory {}

impl Memory {
    pub fn of<const D: usize>(tensor: Tensor<D>) -> Self {
        let tensor = tensor.without_autodiff();
        #[cfg(feature = "flex")]
        if let Ok(own) = tensor.clone().try_into_primitive::<Flex>()
            && own.layout().contiguous_offsets().is_some()
        {
            return Self::Own(own);
        }
        Self::Copy(tensor.into_data())
    }

    /// The elements.
    ///
    /// # Panics
    ///
    /// If they are of another type.
    pub fn slice<T: Element + Pod>(&self) -> &[T] {
        match self {
            Self::Copy(data) => data.as_slice().expect("of this dtype"),
            #[cfg(feature = "flex")]
            Self::Own(tensor) => tensor.as_slice().expect("of this dtype, in one piece"),
        }
    }
}

/// The elements of a tensor in row-major order, in f64 whatever the dtype: its own memory where they are
/// there as such.
#[derive(Debug)]
pub(crate) enum HostNumbers {
    Copy(Vec<f64>),
    Own(Memory),
}

impl HostNumbers {
    pub fn of<const D: usize>(tensor: Tensor<D>) -> Self {
        #[cfg(feature = "flex")]
        if tensor.dtype() == DType::F64
            && let own @ Memory::Own(_) = Memory::of(tensor.clone())
        {
            return Self::Own(own);
        }
        Self::Copy(to_vec(tensor))
    }

    pub fn into_vec(self) -> Vec<f64> {
        match self {
            Self::Copy(numbers) => numbers,
            Self::Own(memory) => memory.slice().to_vec(),
        }
    }
}

impl Deref for HostNumbers {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Copy(numbers) => numbers,
            Self::Own(memory) => memory.slice(),
        }
    }
}

/// The single element, in f64 whatever the dtype.
pub(crate) fn to_scalar(tensor: Tensor<1>) -> f64 {
    to_vec(tensor)[0]
}

/// Returns whether tensors of a device are in the memory of this process, so that reading them waits for
/// nothing.
#[allow(deprecated)] // upstream deprecates the NdArray backend; it stays a supported feature here
pub(crate) fn is_host(device: &Device) -> bool {
    match device.clone().without_autodiff().as_dispatch() {
        #[cfg(feature = "flex")]
        DispatchDevice::Flex(_) => true,
        #[cfg(feature = "ndarray")]
        DispatchDevice::NdArray(_) => true,
        #[allow(unreachable_patterns)] // where there is no other backend
        _ => false,
    }
}

/// Whole numbers on a device: labels or rows.
pub(crate) fn int_tensor(
    numbers: impl IntoIterator<Item = usize>,
    device: &Device,
) -> Tensor<1, Int> {
    let numbers: Vec<i64> = numbers.into_iter().map(|number| number as i64).collect();
    let n = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [n]), device)
}

/// Numbers in rows on the device and in the dtype of others.
pub(crate) fn tensor_like(values: Vec<f64>, shape: [usize; 2], like: &Tensor<2>) -> Tensor<2> {
    let options = (&like.device(), like.dtype());
    Tensor::from_data(TensorData::new(values, shape), options)
}

/// Sets the diagonal of a square matrix to 0.
pub(crate) fn without_diagonal(square: Tensor<2>) -> Tensor<2> {
    let diagonal = Tensor::<2>::eye(square.dims()[0], &square.device()).bool();
    square.mask_fill(diagonal, 0.0)
}

/// Casts to f64 where the device has it.
pub(crate) fn widened<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
    let dtype = finest(&tensor.device());
    tensor.cast(dtype)
}

/// The labels on the host, each a class in `0..classes`, as many as there are predictions.
pub(crate) fn checked_labels(
    labels: &Tensor<1, Int>,
    predictions: usize,
    classes: usize,
) -> Result<Vec<usize>> {
    let labels = labels.clone().try_into_vec_as::<i64>();
    let labels = labels.expect("an int tensor that can be read back");
    check_labels(&labels, predictions, classes)
}

/// The rows of a tensor of shape `[n, m]` on the host, all finite, `n ≥ 1` and `m ≥ 2`.
pub(crate) fn checked_rows(tensor: &Tensor<2>, what: &'static str) -> Result<HostNumbers> {
    let [rows, classes] = tensor.dims();
    check_samples("a set of predictions", 1, rows)?;
    check_classes(classes)?;
    let values = HostNumbers::of(tensor.clone());
    check_finite(&values, classes, what)?;
    Ok(values)
}

/// The relative difference of numbers that are equal except for rounding in a dtype of floats: a few ulps.
pub(crate) fn rounding(dtype: DType) -> f64 {
    16.0 * dtype.finfo().expect("a float tensor").epsilon
}

/// f64 where the device computes in it, otherwise f32; each device is asked once.
///
/// It is not enough that a device supports a dtype: on wgpu over Mesa's software Vulkan, Burn 0.22.1
/// stores and multiplies f64, but its exponential function gives garbage.
pub(crate) fn finest(device: &Device) -> DType {
    static KNOWN: Mutex<Vec<(Device, DType)>> = Mutex::new(Vec::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let device = device.clone().without_autodiff();
    let found = known().iter().find(|(other, _)| *other == device).cloned();
    if let Some((_, dtype)) = found {
        return dtype;
    }
    let has_f64 = || {
        let one = Tensor::<1>::from_data([1.0f64], (&device, DType::F64));
        (to_scalar(one.exp()) - 1f64.exp()).abs() < 1e-14
    };
    let dtype = if device.supports_dtype(DType::F64) && has_f64() {
        DType::F64
    } else {
        DType::F32
    };
    known().push((device, dtype));
    dtype
}
