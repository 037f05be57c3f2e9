//! The test of the SKCE at landmarks.

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{Mixture, Normal, Predictive, Samples},
    error::Error,
    hypothesis::*,
    kernel::{RealKernel, TensorKernel},
};

use crate::data::*;

fn test(targets: RealKernel) -> LandmarkSkceTest {
    LandmarkSkceTest::new(TensorKernel::wasserstein(targets))
        .with_landmarks(6)
        .with_redraws(Redraws::Fixed(99))
}

fn normal(n: usize, d: usize, seed: u64) -> Normal {
    let means = tensor(&random_rows(n, d, 1.5, &mut rng(seed)));
    Normal::new(means.clone(), means.sin() * 0.3 + 0.8)
}

/// It finds targets that are too high, for every kind, and keeps its level.
#[test]
fn finds_a_shift_and_keeps_its_level() {
    fn check<P: Predictive<Targets = Tensor<2>>>(predictions: &P)
    where
        LandmarkSkceTest: CalibrationTest<P>,
    {
        for kernel in [RealKernel::gaussian(1.0), RealKernel::laplacian(1.0)] {
            let high = predictions.sample(&mut rng(1)) + 1.0;
            let outcome = test(kernel)
                .evaluate(predictions, &high, &mut rng(2))
                .unwrap();
            assert_eq!(outcome.p_value(), 0.01);
            let p = |seed| {
                let targets = predictions.sample(&mut rng(100 + seed));
                let outcome = test(kernel).evaluate(predictions, &targets, &mut rng(seed));
                outcome.unwrap().p_value()
            };
            let rejected = (0..40).filter(|&seed| p(seed) <= 0.1).count();
            assert!(rejected <= 11, "{rejected} of 40 at 10 %"); // 4 are expected
        }
    }
    check(&normal(150, 1, 3));
    check(&normal(150, 2, 4));
    check(&Mixture::ensemble(&[normal(150, 1, 5), normal(150, 1, 6)]));
    check(&Samples::drawn_from(&normal(150, 1, 7), 40, &mut rng(8)));
}

/// With a landmark at every prediction the kernel on predictions is exact; fewer samples than landmarks
/// are no error.
#[test]
fn sizes() {
    let (one, few) = (normal(1, 1, 9), normal(4, 1, 10));
    let evaluate = |test: LandmarkSkceTest, predictions: &Normal| {
        let targets = predictions.sample(&mut rng(11));
        test.evaluate(predictions, &targets, &mut rng(12))
    };
    let test = test(RealKernel::gaussian(1.0));
    assert!(evaluate(test, &few).is_ok());
    assert!(matches!(
        evaluate(test, &one),
        Err(Error::TooFewSamples {
            needed: 2,
            got: 1,
            ..
        })
    ));
    assert!(matches!(
        evaluate(test.with_landmarks(0), &few),
        Err(Error::Parameter { .. })
    ));
    let none = test.with_redraws(Redraws::Fixed(0));
    assert!(matches!(evaluate(none, &few), Err(Error::Parameter { .. })));
}
