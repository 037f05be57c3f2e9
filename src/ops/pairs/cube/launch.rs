//! The launch of the kernel.

use burn::{
    backend::cubecl::dtype_to_elem_type,
    tensor::{DType, Shape},
};
use burn_cubecl::{
    CubeDevice,
    kernel::into_contiguous,
    ops::numeric::{empty_device_dtype, zeros_client},
    tensor::CubeTensor,
};
use cubecl::prelude::*;

use super::{
    kernel::tile_sums,
    pair::Form,
    plan::{Plan, SIDE},
};

/// What is summed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) form: Form,
    /// Samples in a block.
    pub(super) size: usize,
    /// What multiplies the sum over coordinates, or its root.
    pub(super) scale: f64,
    /// What multiplies the sums.
    pub(super) factor: f64,
}

/// Whether the device can run the kernel in this dtype. CubeCL's processor has a thread for each unit, which
/// waits for the others without rest.
pub(in crate::ops) fn is_able(device: &CubeDevice, dtype: DType) -> bool {
    let client = device.client();
    let hardware = &client.properties().hardware;
    matches!(dtype, DType::F32 | DType::F64)
        && hardware.num_cpu_cores.is_none()
        && hardware.max_units_per_cube as usize >= SIDE * SIDE
        && hardware.max_shared_memory_size >= shared_memory(dtype)
}

/// The bytes of two tiles of points and residuals, and of two numbers of each pair.
fn shared_memory(dtype: DType) -> usize {
    (4 * SIDE * (SIDE + 1) + 2 * SIDE * SIDE) * dtype.size()
}

/// Sums over the ordered pairs within blocks, times the factor: partial sums of the statistic `½ Σ h` and
/// of `½ Σ ν ∂h/∂ν` by cube, `[2, cubes]`, and partial gradients with respect to the points,
/// `[parts, n, m]`, a single 0 if not asked for.
pub(super) fn pair_sums(
    points: CubeTensor,
    labels: CubeTensor,
    bandwidth: CubeTensor,
    request: Request,
) -> (CubeTensor, CubeTensor) {
    let (points, labels) = (into_contiguous(points), into_contiguous(labels));
    let bandwidth = into_contiguous(bandwidth);
    let (client, device, dtype) = (points.client.clone(), points.device.clone(), points.dtype);
    let plan = Plan::new(&points, request.size);
    let sums = empty_device_dtype(
        client.clone(),
        device.clone(),
        Shape::new([2, plan.cubes]),
        dtype,
    );
    let shape = if request.form.gradient {
        Shape::new([plan.parts, plan.samples, plan.m])
    } else {
        Shape::new([1, 1, 1])
    };
    let gradient = zeros_client(client.clone(), device, shape, dtype);
    let tensors = [&points, &labels, &bandwidth, &sums, &gradient];
    let addresses = tensors.map(CubeTensor::required_address_type);
    let dtypes = [dtype_to_elem_type(dtype), dtype_to_elem_type(labels.dtype)];
    tile_sums::launch(
        &client,
        plan.cube_count(&client),
        Plan::units(),
        addresses.into_iter().max().unwrap_or_default(),
        points.into_buffer_arg(),
        labels.into_buffer_arg(),
        bandwidth.into_buffer_arg(),
        sums.clone().into_buffer_arg(),
        gradient.clone().into_buffer_arg(),
        plan.grid(),
        InputScalar::new(request.scale, dtypes[0]),
        InputScalar::new(request.factor, dtypes[0]),
        request.form,
        SIDE,
        dtypes,
    );
    (sums, gradient)
}
