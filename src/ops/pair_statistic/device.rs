//! The operation on a device of CubeCL: partial sums and gradients of the kernel to means.

use burn::{
    backend::{
        TensorMetadata,
        ops::FloatTensorOps,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::Slice,
};
use burn_cubecl::CubeBackend;

use super::{
    PairKernel, Pairing, Separation, backend::WithGradient, composed::composed, normalisation,
};
use crate::ops::cube::{self, Form, Request, is_able, pair_sums};

type B = CubeBackend;

pub(super) fn run(
    points: FloatTensor<B>,
    labels: IntTensor<B>,
    bandwidth: FloatTensor<B>,
    kernel: PairKernel,
    pairing: Pairing,
    gradient: bool,
) -> WithGradient<B> {
    if !is_able(&points.device(), points.dtype()) {
        return composed::<B>(points, labels, bandwidth, kernel, pairing, gradient);
    }
    let (n, m) = (points.shape()[0], points.shape()[1]);
    let form = Form {
        euclidean: kernel.separation == Separation::Euclidean,
        squared: kernel.squared,
        diagonal: pairing == Pairing::All, // k_ii = 1, with half the weight of a pair i < j
        gradient,
    };
    let request = Request {
        form,
        size: pairing.size(n),
        scale: kernel.scale(),
        factor: normalisation(pairing, n).0,
    };
    let (sums, parts) = pair_sums(points, labels, bandwidth.clone(), request);

    let sums = B::float_sum_dim(sums, 1); // [2, 1]
    let sum = |k: usize| {
        let sum = B::float_slice(sums.clone(), &[Slice::from(k..k + 1), Slice::full()]);
        B::float_reshape(sum, [1].into())
    };
    if !gradient {
        return (sum(0), parts.clone(), parts); // nothing in the latter two
    }
    let gradient = match parts.shape()[0] {
        1 => parts,
        _ => B::float_sum_dim(parts, 0), // [1, n, m]
    };
    let gradient = B::float_reshape(gradient, [n, m].into());
    (sum(0), gradient, B::float_div(sum(1), bandwidth))
}

pub(super) fn median(
    points: FloatTensor<B>,
    separation: Separation,
    size: usize,
) -> FloatTensor<B> {
    let (euclidean, scale) = match separation {
        Separation::Euclidean => (true, 1.0),
        Separation::L1 { scale } => (false, scale),
    };
    cube::median(points, euclidean, size, scale)
}

#[cfg(all(test, feature = "wgpu", feature = "flex"))]
mod tests {
    use burn::tensor::{DType, Device, Tensor, TensorData};

    use crate::ops::{Separation, has_fused_median, median_separation};

    fn of(
        rows: &[f32],
        n: usize,
        device: &Device,
        separation: Separation,
        size: usize,
    ) -> Option<f32> {
        let data = TensorData::new(rows.to_vec(), [n, rows.len() / n]);
        let points = Tensor::<2>::from_data(data, (device, DType::F32));
        has_fused_median(&points).then(|| {
            let median = median_separation(points, separation, size);
            median.into_data().to_vec::<f32>().unwrap()[0]
        })
    }

    const SEPARATIONS: [Separation; 3] = [
        Separation::Euclidean,
        Separation::L1 { scale: 0.5 },
        Separation::L1 { scale: 1.0 },
    ];

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
            for separation in SEPARATIONS {
                let median = |device| of(&rows, n, device, separation, size);
                let (found, expected) = (median(&device), median(&host).unwrap());
                let found = found.expect("software Vulkan has atomics");
                assert!(
                    (found - expected).abs() <= 1e-6 * expected,
                    "{n} {m} {size} {separation:?}: {found}, not {expected}"
                );
            }
        }
    }

    /// Distances of whole numbers are exact, and so are their medians: 3.5 of 1, 2, 3, 4, 5, 6 for the
    /// points 0, 1, 4 and 6.
    #[test]
    fn medians_by_hand() {
        let device = Device::wgpu(Default::default());
        for (separation, scale) in SEPARATIONS.into_iter().zip([1.0, 0.5, 1.0]) {
            let median = |rows: &[f32]| of(rows, rows.len(), &device, separation, rows.len());
            assert_eq!(median(&[0.0, 1.0, 4.0, 6.0]), Some(3.5 * scale));
            assert_eq!(median(&[6.0, 0.0, 2.0]), Some(4.0 * scale));
            assert_eq!(median(&[0.25; 5]), Some(1.0), "most points coincide");
            assert_eq!(median(&[0.0, f32::NAN, 2.0]), Some(1.0), "a diverged batch");
            assert_eq!(median(&[0.0, f32::INFINITY, 2.0, 5.0]), Some(1.0));
        }
    }
}
