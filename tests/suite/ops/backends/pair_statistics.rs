//! The fused passes.

use burn::tensor::{Device, Tensor};
use burn_calibration::{
    kernel::{Distance, Profile},
    ops::{PairKernel, Pairing, pair_statistic, residual_statistic},
};

use super::compare;
use crate::data::*;

/// Shapes, and sizes of blocks for each: rows that do not fill a tile, tiles that share columns or
/// walk over them, several blocks in a tile and blocks over several, samples in no block, more
/// coordinates than are staged at once.
const SHAPES: [(usize, usize, &[usize]); 3] = [
    (37, 10, &[37, 2, 5, 18]),
    (20, 130, &[20, 7]),
    (331, 3, &[331]),
];

/// The fused pass: values with and without gradients, and both gradients.
#[test]
fn pair_statistics() {
    compare(|device, dtype| {
        let mut numbers = Vec::new();
        for (n, m, sizes) in SHAPES {
            let rows = coarse_probabilities(n, m);
            let classes = random_labels(n, m, &mut rng(65));
            let blocks = sizes.iter().map(|&size| Pairing::Blocks { size });
            let pairings: Vec<_> = [Pairing::All].into_iter().chain(blocks).collect();
            for distance in [Distance::TotalVariation, Distance::Euclidean] {
                for profile in [Profile::Exponential, Profile::Gaussian] {
                    let kernel = PairKernel::new(distance, profile);
                    for &pairing in &pairings {
                        let name = format!("{n} × {m} {kernel:?} {pairing:?}");
                        let statistic = |device: &Device, require: bool| {
                            let points = tensor_on(&rows, device, dtype).set_require_grad(require);
                            let bandwidth = Tensor::<1>::from_data([0.4], (device, dtype));
                            let bandwidth = bandwidth.set_require_grad(require);
                            let (p, labels) = (points.clone(), labels_on(&classes, device));
                            let value =
                                pair_statistic(p, labels, bandwidth.clone(), kernel, pairing);
                            assert_eq!(value.dtype(), dtype);
                            (value, points, bandwidth)
                        };
                        let value = vector(statistic(device, false).0);
                        let (again, points, bandwidth) =
                            statistic(&device.clone().autodiff(), true);
                        let gradients = again.clone().backward();
                        numbers.extend([
                            (format!("{name} value"), value),
                            (format!("{name} value with gradient"), vector(again)),
                            (
                                format!("{name} gradient"),
                                vector(points.grad(&gradients).unwrap()),
                            ),
                            (
                                format!("{name} bandwidth"),
                                vector(bandwidth.grad(&gradients).unwrap()),
                            ),
                        ]);
                    }
                }
            }
        }
        numbers
    });
}

/// With residuals of another length than the points: value and all gradients.
#[test]
fn residual_statistics() {
    let rows = coarse_probabilities(37, 5);
    let residuals = random_rows(37, 3, 1.0, &mut rng(66));
    compare(|device, dtype| {
        let mut numbers = Vec::new();
        let device = &device.clone().autodiff();
        for (distance, profile) in [
            (Distance::TotalVariation, Profile::Exponential),
            (Distance::Euclidean, Profile::Gaussian),
        ] {
            for pairing in [Pairing::All, Pairing::Blocks { size: 18 }] {
                let kernel = PairKernel::new(distance, profile);
                let [x, r] =
                    [&rows, &residuals].map(|x| tensor_on(x, device, dtype).require_grad());
                let bandwidth = Tensor::<1>::from_data([0.4], (device, dtype)).require_grad();
                let value =
                    residual_statistic(x.clone(), r.clone(), bandwidth.clone(), kernel, pairing);
                let gradients = value.backward();
                let name = format!("{kernel:?} {pairing:?}");
                numbers.extend([
                    (format!("{name} value"), vector(value)),
                    (
                        format!("{name} points"),
                        vector(x.grad(&gradients).unwrap()),
                    ),
                    (
                        format!("{name} residuals"),
                        vector(r.grad(&gradients).unwrap()),
                    ),
                    (
                        format!("{name} bandwidth"),
                        vector(bandwidth.grad(&gradients).unwrap()),
                    ),
                ]);
            }
        }
        numbers
    });
}

/// Multiples of 2⁻²⁰, so that ties are ties in f32 too; some rows coincide, some are one-hot.
fn coarse_probabilities(n: usize, m: usize) -> Vec<Vec<f64>> {
    let mut rows = random_probabilities(n, m, &mut rng(64));
    for p in rows.iter_mut().flatten() {
        *p = (*p * 1048576.0).round() / 1048576.0;
    }
    rows[1] = rows[0].clone();
    rows[2] = (0..m).map(|c| f64::from(c == 0)).collect();
    rows[3] = rows[2].clone();
    rows
}
