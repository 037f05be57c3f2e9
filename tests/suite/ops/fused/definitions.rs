//! Fused against definitions on single numbers, and against central differences.

use super::*;
use crate::prelude::*;

/// Points of one coordinate with long residuals, and the reverse: value, and gradients by central
/// differences.
#[test]
fn residual_statistics_of_other_lengths() {
    for (n, d, m) in [(9, 1, 3), (40, 1, 60), (37, 60, 1), (34, 7, 2)] {
        let points = random_rows(n, d, 1.0, &mut rng(17));
        let residuals = random_rows(n, m, 1.0, &mut rng(18));
        for which in 0..KERNELS {
            let kernel = kernel(which, Bandwidth::Fixed(1.0)).fused();
            for pairing in [
                Pairing::All,
                Pairing::Blocks { size: n },
                Pairing::Blocks { size: 4 },
            ] {
                let value = |points: &[Vec<f64>], residuals: &[Vec<f64>], bandwidth: f64| {
                    let h = |i: usize, j: usize| {
                        let r = brute_force(kernel.distance(), &points[i], &points[j]) / bandwidth;
                        kappa(kernel.profile(), r) * dot(&residuals[i], &residuals[j])
                    };
                    let size = match pairing {
                        Pairing::All => n,
                        Pairing::Blocks { size } => size,
                        other => panic!("{other:?}"),
                    };
                    let mut values = Vec::new();
                    for i in 0..n / size * size {
                        for j in i / size * size..(i / size + 1) * size {
                            if i != j || pairing == Pairing::All {
                                values.push(h(i, j));
                            }
                        }
                    }
                    values.iter().sum::<f64>() / values.len() as f64
                };
                let device = device().autodiff();
                let x = tensor_on(&points, &device, DType::F64).require_grad();
                let r = tensor_on(&residuals, &device, DType::F64).require_grad();
                let bandwidth = Tensor::<1>::from_data([1.5f64], (&device, DType::F64));
                let bandwidth = bandwidth.require_grad();
                let found =
                    residual_statistic(x.clone(), r.clone(), bandwidth.clone(), kernel, pairing);
                let gradients = found.backward();
                let expected = value(&points, &residuals, 1.5);
                assert_near(scalar(found), expected, 1e-13 + 1e-11 * expected.abs());
                let step = 1e-6; // profiles with a cusp bend sharply near it
                let difference =
                    |move_by: &dyn Fn(f64) -> f64| (move_by(step) - move_by(-step)) / (2.0 * step);
                for (k, c) in [(0, 0), (3, d - 1), (8, d / 2)] {
                    let found = vector(x.grad(&gradients).unwrap())[k * d + c];
                    let at = |by| value(&moved(&points, k, c, by), &residuals, 1.5);
                    assert_near(found, difference(&at), 1e-8);
                }
                for (k, c) in [(0, 0), (3, m - 1), (8, m / 2)] {
                    let found = vector(r.grad(&gradients).unwrap())[k * m + c];
                    let at = |by| value(&points, &moved(&residuals, k, c, by), 1.5);
                    assert_near(found, difference(&at), 1e-8);
                }
                let found = scalar(bandwidth.grad(&gradients).unwrap());
                let expected = difference(&|by| value(&points, &residuals, 1.5 + by));
                assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
            }
        }
    }
}

/// The gradient with respect to the bandwidth, by central differences.
#[test]
fn gradient_of_the_bandwidth() {
    let rows = predictions(40, 5, 3.0, 12);
    let classes = random_labels(40, 5, &mut rng(13));
    for which in 0..KERNELS {
        for pairing in [
            Pairing::All,
            Pairing::Blocks { size: 40 },
            Pairing::Blocks { size: 3 },
        ] {
            let kernel = kernel(which, Bandwidth::Median).fused();
            let at = |bandwidth: f64| {
                let device = device().autodiff();
                let bandwidth = Tensor::<1>::from_data([bandwidth], (&device, DType::F64));
                let bandwidth = bandwidth.require_grad();
                let points = tensor_on(&rows, &device, DType::F64);
                let labels = labels(&classes);
                let value = burn_calibration::ops::pair_statistic(
                    points,
                    labels,
                    bandwidth.clone(),
                    kernel,
                    pairing,
                );
                let gradient = bandwidth.grad(&value.backward()).unwrap();
                (scalar(value), scalar(gradient))
            };
            let difference = (at(0.3 + 1e-5).0 - at(0.3 - 1e-5).0) / 2e-5;
            let gradient = at(0.3).1;
            assert_near_in(kernel, gradient, difference, 1e-9);
        }
    }
}

/// The matrix between two sets of points, whose sizes fill no vectors, and single numbers.
#[test]
fn kernel_matrices_are_as_defined() {
    let points = |n: usize, seed: u64| predictions(n, 5, 2.0, seed);
    for which in 0..KERNELS {
        let kernel = kernel(which, Bandwidth::Fixed(0.3));
        for (n, k) in [(4, 4), (13, 37)] {
            let rows = [points(n, 1), points(k, 2)].concat();
            let classes = vec![0; n + k];
            // the biased estimate is the mean of k times the inner products of residuals
            let found = Skce::biased(kernel).on(&categorical(&rows), &labels(&classes));
            let h = pair_statistic(&rows, &classes, |p, q| kernel_value(&kernel, p, q));
            assert_relative(found, biased(&h), 1e-12);
        }
    }
}

/// Bandwidths far from the distances: no overflow, as composed.
#[test]
fn extreme_bandwidths() {
    let rows = predictions(70, 4, 3.0, 30);
    let classes = random_labels(70, 4, &mut rng(31));
    for which in 0..KERNELS {
        for bandwidth in [1e-6, 1e-3, 1e6] {
            let skce = Skce::unbiased(kernel(which, Bandwidth::Fixed(bandwidth)));
            let skce = skce.with_computation(Computation::Fused);
            let (value, gradient) = value_and_gradient(&skce, &rows, &labels(&classes), DType::F32);
            assert!(value.is_finite(), "{skce:?}");
            all_finite(&gradient);
            agree(skce, &rows, &classes).unwrap();
        }
    }
}
