//! How many cubes there are, and the launch of the kernel.

use burn::{
    backend::{TensorMetadata, cubecl::dtype_to_elem_type},
    tensor::{DType, Shape},
};
use burn_cubecl::{
    CubeDevice,
    kernel::into_contiguous,
    ops::numeric::{empty_device_dtype, zeros_client},
    tensor::CubeTensor,
};
use cubecl::{client::Client, prelude::*, server::CubeCountSelection};

use super::{grid::GridLaunch, kernel::tile_sums, pair::Form};

/// Units along a side of a tile: 256 in a cube and 16 KiB of shared memory are what every device of
/// WebGPU has, and f64 takes 13 KiB.
const SIDE: usize = 16;

/// Multiprocessors, where the device does not tell.
const MULTIPROCESSORS: usize = 32;

/// Cubes that occupy a multiprocessor.
const CUBES_EACH: usize = 4;

/// What is summed.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct Request {
    pub(in crate::ops) form: Form,
    /// Samples in a block.
    pub(in crate::ops) size: usize,
    /// What multiplies the sum over coordinates, or its root.
    pub(in crate::ops) scale: f64,
    /// What multiplies the sums.
    pub(in crate::ops) factor: f64,
}

/// Whether the device can run the kernel in this dtype.
pub(in crate::ops) fn is_able(device: &CubeDevice, dtype: DType) -> bool {
    let client = device.client();
    let hardware = &client.properties().hardware;
    matches!(dtype, DType::F32 | DType::F64)
        && hardware.max_units_per_cube as usize >= SIDE * SIDE
        && hardware.max_shared_memory_size >= shared_memory(dtype)
}

/// Of two tiles of points and residuals, and two numbers of each pair, in bytes.
fn shared_memory(dtype: DType) -> usize {
    (4 * SIDE * (SIDE + 1) + 2 * SIDE * SIDE) * dtype.size()
}

/// Of the statistic `½ Σ h` over the ordered pairs within blocks, times the factor: partial sums of it
/// and of `½ Σ h r` (`½ Σ h r²` for the Gaussian profile) by cube, `[2, cubes]`, and partial gradients
/// with respect to the points, `[parts, n, m]`, a single 0 if not asked for.
pub(in crate::ops) fn pair_sums(
    points: CubeTensor,
    labels: CubeTensor,
    bandwidth: CubeTensor,
    request: Request,
) -> (CubeTensor, CubeTensor) {
    let (points, labels) = (into_contiguous(points), into_contiguous(labels));
    let bandwidth = into_contiguous(bandwidth);
    let (n, m) = (points.shape()[0], points.shape()[1]);
    let (client, device, dtype) = (points.client.clone(), points.device.clone(), points.dtype);
    let size = request.size;
    let used = n / size * size;
    let extent = size * (SIDE / size).max(1);
    let tiles = extent.div_ceil(SIDE);
    let row_tiles = used.div_ceil(extent) * tiles;
    let parts = parts(&client, row_tiles, tiles);
    let cubes = row_tiles * parts;

    let sums = empty_device_dtype(
        client.clone(),
        device.clone(),
        Shape::new([2, cubes]),
        dtype,
    );
    let shape = match request.form.gradient {
        true => Shape::new([parts, n, m]),
        false => Shape::new([1, 1, 1]),
    };
    let gradient = zeros_client(client.clone(), device, shape, dtype);
    let tensors = [&points, &labels, &bandwidth, &sums, &gradient];
    let addresses = tensors.map(CubeTensor::required_address_type);
    let dtypes = [dtype_to_elem_type(dtype), dtype_to_elem_type(labels.dtype)];
    tile_sums::launch(
        &client,
        CubeCountSelection::new(&client, cubes as u32).cube_count(),
        CubeDim::new_2d(SIDE as u32, SIDE as u32),
        addresses.into_iter().max().unwrap_or_default(),
        points.into_buffer_arg(),
        labels.into_buffer_arg(),
        bandwidth.into_buffer_arg(),
        sums.clone().into_buffer_arg(),
        gradient.clone().into_buffer_arg(),
        GridLaunch::new(n, used, m, size, extent, parts, cubes),
        InputScalar::new(request.scale, dtypes[0]),
        InputScalar::new(request.factor, dtypes[0]),
        request.form,
        SIDE,
        dtypes,
    );
    (sums, gradient)
}

/// Cubes for the same rows: as many as occupy the device. Their partial gradients have no more rows
/// than that many tiles, or than there are samples.
fn parts(client: &Client, row_tiles: usize, tiles: usize) -> usize {
    let multiprocessors = client.properties().hardware.num_streaming_multiprocessors;
    let multiprocessors = multiprocessors.map_or(MULTIPROCESSORS, |count| count as usize);
    (multiprocessors * CUBES_EACH / row_tiles).clamp(1, tiles)
}
