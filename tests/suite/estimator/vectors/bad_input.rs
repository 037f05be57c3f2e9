//! What data over real vectors can get wrong, and what tiny batches give.

use super::data::{Rows, gaussian};
use crate::prelude::*;

fn rows() -> Rows {
    Rows::random(4, 2, &mut rng(91))
}

fn of(rows: &Rows) -> Result<f64, Error> {
    let skce = Skce::unbiased(gaussian(1.0, 1.0));
    skce.estimate(&rows.normal(), &tensor(&rows.target))
}

#[test]
fn values() {
    let wrong = |change: fn(&mut Rows)| {
        let mut rows = rows();
        change(&mut rows);
        refuses(of(&rows));
    };
    wrong(|rows| rows.scale[2][1] = 0.0);
    wrong(|rows| rows.scale[0][1] = -1.0);
    wrong(|rows| rows.location[3][0] = f64::NAN);
    wrong(|rows| rows.target[1][1] = f64::INFINITY);
    wrong(|rows| rows.target.truncate(3));
    wrong(|rows| rows.target.iter_mut().for_each(|row| row.truncate(1)));
}

#[test]
fn mixtures_and_samples() {
    for weights in [[0.5, 0.6], [-0.5, 1.5], [f64::NAN, 1.0]] {
        let weights = tensor(&vec![weights.to_vec(); 2]);
        refuses(Mixture::new(weights, rows().normal()).check());
    }
    let samples = Samples::new(tensor(&[[0.0, f64::NAN]]).reshape([1, 2, 1]));
    refuses(samples.check());
    assert!(samples.check_distance(Distance::L1).is_err());
}

#[test]
fn kernels() {
    let rows = rows();
    let (predictions, targets) = (rows.normal(), tensor(&rows.target));
    for kernel in [
        gaussian(1.0, 0.0),
        gaussian(1.0, f64::NAN),
        gaussian(-1.0, 1.0),
        TensorKernel::new(Kernel::exponential(), RealKernel::gaussian(1.0)), // total variation
    ] {
        refuses(Skce::unbiased(kernel).estimate(&predictions, &targets));
    }
    let fused = Skce::unbiased(gaussian(1.0, 1.0)).with_computation(Computation::Fused);
    assert!(fused.estimate(&predictions, &targets).is_ok());
    refuses(fused.estimate(&rows.laplace(), &targets));
    let draws = Samples::new(predictions.means().unsqueeze_dim(1)); // [n, 1, d]
    refuses(fused.estimate(&draws, &targets));
}

#[test]
fn too_few() {
    let rows = Rows::random(1, 1, &mut rng(92));
    let (one, target) = (rows.normal(), tensor(&rows.target));
    let kernel = gaussian(1.0, 1.0);
    refuses(Skce::unbiased(kernel).estimate(&one, &target));
    assert!(Skce::biased(kernel).on(&one, &target) > 0.0);
    // training: 0 with gradient 0
    assert_eq!(scalar(Skce::unbiased(kernel).value(&one, &target)), 0.0);
    let none = Normal::new(
        Tensor::zeros([0, 1], &device()),
        Tensor::zeros([0, 1], &device()),
    );
    refuses(none.check());
    refuses(AsymptoticSkceTest::new(kernel).outcome(&one, &target, &mut rng(0)));
    let four = Rows::random(4, 1, &mut rng(93));
    refuses(Skce::block(kernel, 5).estimate(&four.normal(), &tensor(&four.target)));
}

/// Locations of another dimension; equal predictions; a median of them.
#[test]
fn degenerate() {
    let at = Rows::random(3, 1, &mut rng(94));
    let ucme = Ucme::new(gaussian(1.0, 1.0), &at.normal(), &tensor(&at.target)).unwrap();
    let rows = rows();
    refuses(ucme.estimate(&rows.normal(), &tensor(&rows.target)));
    let same = Normal::new(tensor(&[[0.5]; 6]), tensor(&[[1.0]; 6]));
    let targets = tensor(&random_rows(6, 1, 1.0, &mut rng(95)));
    let kernel = gaussian(1.0, 1.0);
    let fixed = Skce::unbiased(kernel).on(&same, &targets);
    let median = Skce::unbiased(kernel.with_bandwidth(Bandwidth::Median));
    assert_eq!(median.on(&same, &targets), fixed);
    assert!((scalar(median.value(&same, &targets)) - fixed).abs() < 1e-14);
}

/// The length scale of the target kernel has the limits of the dtype, as a bandwidth has.
#[test]
fn length_scales_have_the_limits_of_the_dtype() {
    let rows = rows();
    for (dtype, most) in [(DType::F64, 1e100), (DType::F32, 1e18)] {
        let like = |x: &[Vec<f64>]| tensor_on(x, &device(), dtype);
        let (locations, scales) = (like(&rows.location), like(&rows.scale));
        let targets = like(&rows.target);
        let normal = Normal::new(locations.clone(), scales.clone());
        let laplace = Laplace::new(locations.clone(), scales);
        let samples = Samples::new(locations.unsqueeze_dim(1));
        for profile in [RealKernel::gaussian, RealKernel::laplacian] {
            let check = |length: f64, is_valid: bool| {
                let predictions = Kernel::wasserstein().with_bandwidth(Bandwidth::Fixed(1.0));
                let skce = Skce::unbiased(TensorKernel::new(predictions, profile(length)));
                let estimates = [
                    skce.estimate(&normal, &targets),
                    skce.estimate(&laplace, &targets),
                    skce.estimate(&samples, &targets),
                ];
                let values: [std::thread::Result<f64>; 3] = [
                    std::panic::catch_unwind(|| scalar(skce.value(&normal, &targets))),
                    std::panic::catch_unwind(|| scalar(skce.value(&laplace, &targets))),
                    std::panic::catch_unwind(|| scalar(skce.value(&samples, &targets))),
                ];
                for (estimate, value) in estimates.into_iter().zip(values) {
                    if is_valid {
                        assert!(estimate.unwrap().is_finite() && value.unwrap().is_finite());
                    } else {
                        assert_eq!(value.is_err(), estimate.is_err());
                        let Error::Parameter { name, value, .. } = estimate.unwrap_err() else {
                            panic!("not of the length scale");
                        };
                        assert_eq!(name, "the length scale of the target kernel");
                        assert_eq!(value, length);
                    }
                }
            };
            for (factor, taken) in [(1.0, true), (1.1, false)] {
                check(factor * most, taken);
                check(1.0 / (factor * most), taken);
            }
        }
    }
}
