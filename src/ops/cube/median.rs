//! The launches of the median: nothing is read back, and nothing of the size of the pairs is stored.

use burn::tensor::{DType, Shape};
use burn_cubecl::{
    CubeDevice,
    kernel::into_contiguous,
    ops::numeric::{empty_device_dtype, zeros_client},
    tensor::CubeTensor,
};
use cubecl::{
    ir::{ElemType, Type, UIntKind, features::AtomicUsage},
    prelude::*,
};

use super::{
    launch::is_able,
    pair::Form,
    plan::{Plan, SIDE},
    separations::{BINS, COUNTS, PASSES, choose, count},
};

/// Whether the device can find the [`median`] of so many samples in this dtype.
pub(in crate::ops) fn has_median(device: &CubeDevice, dtype: DType, n: usize) -> bool {
    let atomic = Type::atomic(ElemType::UInt(UIntKind::U32));
    let counts = device.client().properties().atomic_type_usage(atomic);
    let needed = [AtomicUsage::LoadStore, AtomicUsage::Add];
    dtype == DType::F32
        && is_able(device, dtype)
        && needed.into_iter().all(|usage| counts.contains(usage))
        && n < 1 << 16 // so that counts of pairs are below 2³²
}

/// The median of the separations of the pairs within blocks, times the scale: `[1]`; 1 where it is 0,
/// or some separation is not finite.
pub(in crate::ops) fn median(
    points: CubeTensor,
    euclidean: bool,
    size: usize,
    scale: f64,
) -> CubeTensor {
    let points = into_contiguous(points);
    let (client, device) = (points.client.clone(), points.device.clone());
    let form = Form {
        euclidean,
        squared: false,
        diagonal: false,
        gradient: false,
    };
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
            form,
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
            scale as f32,
            pass,
        );
    }
    median
}
