//! What data over real vectors can get wrong, and what tiny batches give.

use super::data::{Rows, gaussian};
use crate::data::*;

fn rows() -> Rows {
    Rows::random(4, 2, &mut rng(91))
}

fn message(rows: &Rows) -> String {
    let skce = Skce::unbiased(gaussian(1.0, 1.0));
    let error = skce
        .estimate(&rows.normal(), &tensor(&rows.target))
        .unwrap_err();
    error.to_string()
}

#[test]
fn values() {
    let mut wrong = rows();
    wrong.scale[2][1] = 0.0;
    says(message(&wrong));
    let mut wrong = rows();
    wrong.scale[0][1] = -1.0;
    says(message(&wrong));
    let mut wrong = rows();
    wrong.location[3][0] = f64::NAN;
    says(message(&wrong));
    let mut wrong = rows();
    wrong.target[1][1] = f64::INFINITY;
    says(message(&wrong));
    let mut wrong = rows();
    wrong.target.pop();
    says(message(&wrong));
    let mut wrong = rows();
    wrong.target.iter_mut().for_each(|row| row.truncate(1));
    assert_eq!(message(&wrong), "the targets have 1 dimensions, expected 2");
}

#[test]
fn mixtures_and_samples() {
    let of = |weights: [f64; 2]| {
        let rows = rows();
        Mixture::new(tensor(&vec![weights.to_vec(); 2]), rows.normal())
            .check()
            .unwrap_err()
    };
    assert!(matches!(of([0.5, 0.6]), Error::Sum { row: 0, .. }));
    says(of([-0.5, 1.5]));
    says(of([f64::NAN, 1.0]));
    let samples = Samples::new(tensor(&[vec![0.0, f64::NAN]]).reshape([1, 2, 1]));
    says(samples.check().unwrap_err());
    assert!(samples.check_distance(Distance::L1).is_err());
}

#[test]
fn kernels() {
    let rows = rows();
    let (predictions, targets) = (rows.normal(), tensor(&rows.target));
    let estimate = |kernel: TensorKernel<RealKernel>| {
        Skce::unbiased(kernel)
            .estimate(&predictions, &targets)
            .unwrap_err()
    };
    says(estimate(gaussian(1.0, 0.0)));
    says(estimate(gaussian(1.0, f64::NAN)));
    says(estimate(gaussian(-1.0, 1.0)));
    let total_variation = TensorKernel::new(Kernel::exponential(), RealKernel::gaussian(1.0));
    says(estimate(total_variation));
    let fused = Skce::unbiased(gaussian(1.0, 1.0)).with_computation(Computation::Fused);
    assert!(fused.estimate(&predictions, &targets).is_ok());
    let of_several_coordinates = fused.estimate(&rows.laplace(), &targets);
    says(of_several_coordinates.unwrap_err());
    let draws = Samples::new(predictions.means().unsqueeze_dim(1)); // [n, 1, d]
    says(fused.estimate(&draws, &targets).unwrap_err());
}

#[test]
fn too_few() {
    let rows = Rows::random(1, 1, &mut rng(92));
    let (one, target) = (rows.normal(), tensor(&rows.target));
    let kernel = gaussian(1.0, 1.0);
    let unbiased = Skce::unbiased(kernel).estimate(&one, &target);
    assert!(matches!(unbiased, Err(Error::TooFewSamples { .. })));
    assert!(Skce::biased(kernel).estimate(&one, &target).unwrap() > 0.0);
    // training: 0 with gradient 0
    assert_eq!(scalar(Skce::unbiased(kernel).value(&one, &target)), 0.0);
    let none = Normal::new(tensor(&[]).reshape([0, 1]), tensor(&[]).reshape([0, 1]));
    assert!(matches!(none.check(), Err(Error::TooFewSamples { .. })));
    let test = AsymptoticSkceTest::new(kernel).outcome(&one, &target, &mut rng(0));
    assert!(matches!(test, Err(Error::TooFewSamples { .. })));
    let blocks = Skce::block(kernel, 5).estimate(
        &rows_of(4),
        &tensor(&Rows::random(4, 1, &mut rng(93)).target),
    );
    says(blocks.unwrap_err());
}

fn rows_of(n: usize) -> Normal {
    Rows::random(n, 1, &mut rng(93)).normal()
}

/// Locations of another dimension; equal predictions; a median of them.
#[test]
fn degenerate() {
    let at = Rows::random(3, 1, &mut rng(94));
    let ucme = Ucme::new(gaussian(1.0, 1.0), &at.normal(), &tensor(&at.target)).unwrap();
    let rows = rows();
    let error = ucme
        .estimate(&rows.normal(), &tensor(&rows.target))
        .unwrap_err();
    says(error);
    let same = Normal::new(tensor(&vec![vec![0.5]; 6]), tensor(&vec![vec![1.0]; 6]));
    let targets = tensor(&random_rows(6, 1, 1.0, &mut rng(95)));
    let kernel = gaussian(1.0, 1.0);
    let fixed = Skce::unbiased(kernel).estimate(&same, &targets).unwrap();
    let median = Skce::unbiased(kernel.with_bandwidth(Bandwidth::Median));
    assert_eq!(median.estimate(&same, &targets).unwrap(), fixed);
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
                let skce = Skce::unbiased(TensorKernel::new(
                    Kernel::wasserstein().with_bandwidth(Bandwidth::Fixed(1.0)),
                    profile(length),
                ));
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
                        assert_eq!(
                            (name, value),
                            ("the length scale of the target kernel", length)
                        );
                    }
                }
            };
            [most, 1.0 / most]
                .into_iter()
                .for_each(|length| check(length, true));
            [1.1 * most, 0.9 / most]
                .into_iter()
                .for_each(|length| check(length, false));
        }
    }
}
