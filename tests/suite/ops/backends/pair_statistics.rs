//! The fused passes.

use burn_calibration::ops::pair_statistic;

use super::{super::fused::predictions, compare_many_products, compare_products};
use crate::prelude::*;

/// Shapes, and sizes of blocks for each: rows that do not fill a tile, tiles that share columns or
/// walk over them, several blocks in a tile and blocks over several, samples in no block, more
/// coordinates than are staged at once.
const SHAPES: [(usize, usize, &[usize]); 3] = [
    (37, 10, &[37, 2, 5, 18]),
    (20, 130, &[20, 7]),
    (331, 3, &[331]),
];

/// Every profile over every distance, with parameters at which a profile is like another, or has a cusp.
fn kernels() -> Vec<PairKernel> {
    let others = [
        Profile::GeneralisedExponential { exponent: 0.6 },
        Profile::GeneralisedExponential { exponent: 2.0 },
        Profile::RationalQuadratic { alpha: 1e6 },
    ];
    let profiles: Vec<_> = Profile::all().chain(others).collect();
    let over = |distance| {
        profiles
            .iter()
            .map(move |&profile| PairKernel::new(distance, profile))
    };
    Distance::ALL.into_iter().flat_map(over).collect()
}

/// The value without and with gradients, and both gradients.
fn numbers_of(
    (rows, bandwidth): (&[Vec<f64>], f64),
    kernel: PairKernel,
    pairing: Pairing,
    (device, dtype): (&Device, DType),
) -> [(String, Vec<f64>); 2] {
    let (n, m) = (rows.len(), rows[0].len());
    let classes = random_labels(n, m, &mut rng(65));
    let statistic = |device: &Device, require: bool| {
        let points = tensor_on(rows, device, dtype).set_require_grad(require);
        let bandwidth = Tensor::<1>::from_data([bandwidth], (device, dtype));
        let bandwidth = bandwidth.set_require_grad(require);
        let (p, labels) = (points.clone(), labels_on(&classes, device));
        let value = pair_statistic(p, labels, bandwidth.clone(), kernel, pairing);
        assert_eq!(value.dtype(), dtype);
        (value, points, bandwidth)
    };
    let value = vector(statistic(device, false).0);
    let (again, points, bandwidth) = statistic(&device.clone().autodiff(), true);
    let gradients = again.clone().backward();
    // the derivative with respect to the logarithm of the bandwidth: of the size of the value, or 0
    let stretch = vector(bandwidth.grad(&gradients).unwrap() * bandwidth.detach());
    [
        ("value", [value, vector(again), stretch].concat()),
        ("gradient", vector(points.grad(&gradients).unwrap())),
    ]
    .map(|(what, numbers)| (format!("{n} × {m} {kernel:?} {pairing:?} {what}"), numbers))
}

#[test]
fn pair_statistics() {
    compare_products(|device, dtype| {
        let mut numbers = Vec::new();
        for (n, m, sizes) in SHAPES {
            let rows = predictions(n, m, 3.0, 64);
            let blocks = sizes.iter().map(|&size| Pairing::Blocks { size });
            for pairing in [Pairing::All].into_iter().chain(blocks) {
                for kernel in kernels() {
                    numbers.extend(numbers_of((&rows, 0.4), kernel, pairing, (device, dtype)));
                }
            }
        }
        numbers
    });
}

/// Equal predictions, a single one, and numbers a million times smaller and larger.
#[test]
fn degenerate_pair_statistics() {
    let rows = predictions(37, 10, 3.0, 64);
    let scaled = |scale: f64| mapped(&rows, |x| x * scale);
    let [small, large] = [-20, 20].map(|power| 2f64.powi(power));
    let cases = [
        (vec![rows[0].clone(); 19], 0.4),
        (rows[..1].to_vec(), 0.4),
        (rows[..1].to_vec(), small),
        (rows.clone(), small),
        (rows.clone(), large),
        (scaled(small), 0.4 * small),
        (scaled(large), 0.4 * large),
    ];
    compare_products(|device, dtype| {
        let mut numbers = Vec::new();
        for (rows, bandwidth) in &cases {
            let all = Pairing::Blocks { size: rows.len() };
            for pairing in [Pairing::All, all].into_iter().take(rows.len()) {
                for kernel in kernels() {
                    let data = (&rows[..], *bandwidth);
                    numbers.extend(numbers_of(data, kernel, pairing, (device, dtype)));
                }
            }
        }
        numbers
    });
}

/// With residuals of another length than the points: value and all gradients.
#[test]
fn residual_statistics() {
    let rows = predictions(37, 5, 3.0, 64);
    let residuals = random_rows(37, 3, 1.0, &mut rng(66));
    compare_many_products(|device, dtype| {
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
                let all = [
                    ("value", vector(value)),
                    ("points", vector(x.grad(&gradients).unwrap())),
                    ("residuals", vector(r.grad(&gradients).unwrap())),
                    ("bandwidth", vector(bandwidth.grad(&gradients).unwrap())),
                ];
                let named = |(what, numbers)| (format!("{kernel:?} {pairing:?} {what}"), numbers);
                numbers.extend(all.map(named));
            }
        }
        numbers
    });
}
