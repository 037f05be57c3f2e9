//! The operation on a device of CubeCL: launches the kernel, and makes means of its partial sums.

use burn::{
    backend::{
        TensorMetadata,
        cubecl::dtype_to_elem_type,
        ops::FloatTensorOps,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::{DType, Shape, Slice},
};
use burn_cubecl::{
    CubeBackend, CubeDevice,
    kernel::into_contiguous,
    ops::numeric::{empty_device_contiguous_dtype, zeros_client},
    tensor::CubeTensor,
};
use cubecl::prelude::*;

use super::{
    curve::Compiled,
    kernel::tile_sums,
    pair::Specialisation,
    plan::{Plan, SIDE},
};
use crate::{
    ops::pairs::{MeanFactors, PairMean, Pairing, backend::WithGradients},
    radial::CoordinateSum,
};

type B = CubeBackend;

/// Whether the device can run the kernel in this dtype. CubeCL's processor has a thread for each unit, which
/// waits for the others without rest.
pub(in crate::ops::pairs) fn is_able(device: &CubeDevice, dtype: DType) -> bool {
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

/// The operation on labels, where the device [is able](is_able).
pub(in crate::ops::pairs) fn run(
    points: FloatTensor<B>,
    labels: IntTensor<B>,
    bandwidth: FloatTensor<B>,
    mean: PairMean,
    gradient: bool,
) -> WithGradients<B> {
    let PairMean { kernel, pairing } = mean;
    let (n, m) = (points.shape()[0], points.shape()[1]);
    let form = Specialisation {
        euclidean: kernel.distance().sum() == CoordinateSum::Squares,
        profile: Compiled(kernel.profile()),
        diagonal: pairing == Pairing::All, // k_ii = 1, with half the weight of a pair i < j
        gradient,
    };
    let plan = Plan::new(&points, pairing.size(n));
    let [points, labels, rate] = [points, labels, bandwidth.clone()].map(into_contiguous);
    let (client, device, dtype) = (points.client.clone(), points.device.clone(), points.dtype);
    // partial sums of the statistic `½ Σ h` and of `½ Σ ν ∂h/∂ν`
    let shape = Shape::new([2, plan.cubes]);
    let sums = empty_device_contiguous_dtype(client.clone(), device.clone(), shape, dtype);
    // a flat tensor: CUDA leaves gaps between the rows of a matrix, and the kernel knows of none
    let shape = [plan.parts, n, m].map(|size| if gradient { size } else { 1 });
    let flat = Shape::new([shape.iter().product()]);
    let parts = zeros_client(client.clone(), device, flat, dtype);
    let tensors = [&points, &labels, &rate, &sums, &parts];
    let addresses = tensors.map(CubeTensor::required_address_type);
    let dtypes = [dtype_to_elem_type(dtype), dtype_to_elem_type(labels.dtype)];
    tile_sums::launch(
        &client,
        plan.cube_count(&client),
        Plan::units(),
        addresses.into_iter().max().unwrap_or_default(),
        points.into_buffer_arg(),
        labels.into_buffer_arg(),
        rate.into_buffer_arg(),
        sums.clone().into_buffer_arg(),
        parts.clone().into_buffer_arg(),
        plan.grid(),
        InputScalar::new(kernel.distance().scale(), dtypes[0]),
        InputScalar::new(MeanFactors::new(pairing, n).pairs, dtypes[0]),
        form,
        SIDE,
        dtypes,
    );

    let sums = B::float_sum_dim(sums, 1); // [2, 1]
    let sum = |k: usize| {
        let sum = B::float_slice(sums.clone(), &[Slice::from(k..k + 1), Slice::full()]);
        B::float_reshape(sum, [1].into())
    };
    if !gradient {
        return (sum(0), parts.clone(), parts); // nothing in the others
    }
    let parts = B::float_reshape(parts, shape.into());
    let gradient = match plan.parts {
        1 => parts,
        _ => B::float_sum_dim(parts, 0), // [1, n, m]
    };
    let gradient = B::float_reshape(gradient, [n, m].into());
    (sum(0), gradient, B::float_div(sum(1), bandwidth))
}
