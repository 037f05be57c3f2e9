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

#[cfg(all(test, feature = "wgpu", feature = "flex"))]
mod tests {
    use burn::tensor::{DType, Device, Tensor, TensorData};

    use crate::{
        ops::{has_fused_median, median_of_blocks},
        radial::Distance,
    };

    fn of(rows: &[f32], n: usize, device: &Device, distance: Distance, size: usize) -> Option<f32> {
        let data = TensorData::new(rows.to_vec(), [n, rows.len() / n]);
        let points = Tensor::<2>::from_data(data, (device, DType::F32));
        has_fused_median(&points).then(|| {
            let median = median_of_blocks(points, distance, size);
            median.into_data().to_vec::<f32>().unwrap()[0]
        })
    }

    const DISTANCES: [Distance; 3] = [Distance::Euclidean, Distance::TotalVariation, Distance::L1];

    /// Odd and even numbers of pairs, of tiles, of blocks in a tile and of tiles in a block, with samples
    /// in no block, coincident points, and more coordinates than the side of a tile.
    #[test]
    fn medians_agree_on_both_backends() {
        let (host, device) = (Device::flex(), Device::wgpu(Default::default()));
        for (n, m, size) in [
            (2, 2, 2),
            (3, 1, 3),
            (17, 3, 17),
            (50, 20, 50),
            (131, 10, 131),
            (50, 3, 4),
            (131, 2, 33),
            (7, 5, 2),
        ] {
            let rows: Vec<f32> = (0..n * m)
                .map(|k| {
                    let sample = if k / m == 3 { 1 } else { k / m };
                    let k = sample * m + k % m;
                    ((k * k) as f32 * 0.37).sin()
                })
                .collect();
            for distance in DISTANCES {
                let median = |device| of(&rows, n, device, distance, size);
                let (found, expected) = (median(&device), median(&host).unwrap());
                let found = found.expect("software Vulkan has atomics");
                assert!(
                    (found - expected).abs() <= 1e-6 * expected,
                    "{n} {m} {size} {distance}: {found}, not {expected}"
                );
            }
        }
    }

    /// Distances of whole numbers are exact, and so are their medians: 3.5 of 1, 2, 3, 4, 5, 6 for the
    /// points 0, 1, 4 and 6.
    #[test]
    fn medians_by_hand() {
        let device = Device::wgpu(Default::default());
        for (distance, scale) in DISTANCES.into_iter().zip([1.0, 0.5, 1.0]) {
            let median = |rows: &[f32]| of(rows, rows.len(), &device, distance, rows.len());
            assert_eq!(median(&[0.0, 1.0, 4.0, 6.0]), Some(3.5 * scale));
            assert_eq!(median(&[6.0, 0.0, 2.0]), Some(4.0 * scale));
            assert_eq!(median(&[0.25; 5]), Some(1.0), "most points coincide");
            assert_eq!(median(&[0.0, f32::NAN, 2.0]), Some(1.0), "a diverged batch");
            assert_eq!(median(&[0.0, f32::INFINITY, 2.0, 5.0]), Some(1.0));
        }
    }
}
