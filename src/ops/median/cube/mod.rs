//! The median on a device of CubeCL, from counts of the distances by their bits, with atomics: the order of
//! whole numbers in a sum does not matter. Nothing is read back, and nothing of the size of the pairs is
//! stored.

mod separations;

use burn::{
    backend::{Backend, Dispatch, backend_extension, tensor::FloatTensor},
    tensor::{DType, Shape, Tensor},
};
use burn_cubecl::{
    CubeBackend, CubeDevice,
    kernel::into_contiguous,
    ops::numeric::{empty_device_dtype, zeros_client},
    tensor::CubeTensor,
};
use burn_fusion::{Fusion, FusionBackend};
use cubecl::{
    ir::{ElemType, Type, UIntKind, features::AtomicUsage},
    prelude::*,
};

use crate::{
    ops::pairs::{
        cube::{
            is_able,
            plan::{Plan, SIDE},
        },
        queue,
    },
    radial::Distance,
};
use separations::{BINS, COUNTS, PASSES, choose, count};

/// The median of the distances within blocks, `[1]`.
pub(super) fn median_of_blocks(points: Tensor<2>, distance: Distance, size: usize) -> Tensor<1> {
    let points = points.without_autodiff().into_dispatch();
    Tensor::from_dispatch(<Dispatch as Median>::median(points, distance, size))
}

#[backend_extension(Cube)]
trait Median: Backend {
    fn median(points: FloatTensor<Self>, distance: Distance, size: usize) -> FloatTensor<Self>;
}

impl Median for CubeBackend {
    fn median(points: FloatTensor<Self>, distance: Distance, size: usize) -> FloatTensor<Self> {
        median(points, distance, size)
    }
}

impl<B: FusionBackend + Median> Median for Fusion<B> {
    fn median(points: FloatTensor<Self>, distance: Distance, size: usize) -> FloatTensor<Self> {
        let [median] = queue::<B, _, _>("median", [points], [[1].into()], move |queued| {
            [B::median(queued.float(0), distance, size)]
        });
        median
    }
}

/// Whether the device can find the [`median`] of so many samples in this dtype.
pub(super) fn has_median(device: &CubeDevice, dtype: DType, n: usize) -> bool {
    let atomic = Type::atomic(ElemType::UInt(UIntKind::U32));
    let counts = device.client().properties().atomic_type_usage(atomic);
    let needed = [AtomicUsage::LoadStore, AtomicUsage::Add];
    dtype == DType::F32
        && is_able(device, dtype)
        && needed.into_iter().all(|usage| counts.contains(usage))
        && n < 1 << 16 // so that counts of pairs are below 2³²
}

fn median(points: CubeTensor, distance: Distance, size: usize) -> CubeTensor {
    let points = into_contiguous(points);
    let (client, device) = (points.client.clone(), points.device.clone());
    let plan = Plan::new(&points, size);
    let pairs = plan.pairs();
    let whole = |len: usize| {
        let shape = Shape::new([len]);
        zeros_client(client.clone(), device.clone(), shape, DType::U32)
    };
    let (found, counts) = (whole(4), whole(COUNTS));
    let median = empty_device_dtype(client.clone(), device.clone(), [1].into(), DType::F32);
    let address = points.required_address_type();
    for pass in 0..PASSES {
        count::launch(
            &client,
            plan.cube_count(&client),
            Plan::units(),
            address,
            points.clone().into_buffer_arg(),
            found.clone().into_buffer_arg(),
            counts.clone().into_buffer_arg(),
            plan.grid(),
            distance.is_euclidean(),
            pass,
            SIDE,
        );
        choose::launch(
            &client,
            CubeCount::new_single(),
            CubeDim::new_1d(BINS as u32),
            counts.clone().into_buffer_arg(),
            found.clone().into_buffer_arg(),
            median.clone().into_buffer_arg(),
            ((pairs - 1) / 2) as u32,
            (pairs / 2) as u32,
            distance.scale() as f32,
            pass,
        );
    }
    median
}
