//! Exact tests of the estimators of regression.

use burn_calibration::estimator::regression::*;
use statrs::distribution::{Binomial, Discrete};

use crate::prelude::*;

fn normal(means: &[f64], scale: f64) -> Normal {
    let means = column(means);
    Normal::new(means.clone(), means.ones_like() * scale)
}

/// Of ten targets the number within intervals of 90 % is binomial: 6 of them or fewer are as far off.
#[test]
fn coverage_is_binomial() {
    let predictions = normal(&[0.0; 10], 1.0);
    let targets = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 2.0, -2.0, 3.0, 4.0];
    let test = ExactTest::new(IntervalCoverage::new(0.9)).with_replicates(9999);
    let outcome = test.seeded(&predictions, &column(targets), 1);
    let number = Binomial::new(0.9, 10).unwrap();
    let expected: f64 = (0..=6).map(|k| number.pmf(k)).sum(); // 0.0128
    assert_relative_eq!(outcome.estimate, 0.3, epsilon = 1e-12);
    let error = 4.0 * (expected / 9999.0).sqrt();
    assert!((outcome.p_value - expected).abs() < error, "{outcome}");
}

/// Each test rejects predictions that are too certain, and calibrated ones in 5 % of sets at most.
#[test]
fn levels_and_power() {
    let coverage = ExactTest::new(IntervalCoverage::new(0.5)).with_replicates(39);
    let pinball = Pinball::new(vec![0.1, 0.9]).unwrap();
    let pinball = ExactTest::new(pinball).with_replicates(39);
    let quantiles = ExactTest::new(QuantileCalibration::default()).with_replicates(39);
    let ence = ExactTest::new(Ence::new(3)).with_replicates(39);
    let tests: [&dyn CalibrationTest<Normal>; 4] = [&coverage, &pinball, &quantiles, &ence];
    for (name, test) in tests.into_iter().enumerate() {
        let sets = simulated(400);
        let rejected = |scale: f64| {
            let mut rng = rng(370);
            let rejected = (0..sets).filter(|_| {
                let means: Vec<f64> = (0..40).map(|_| rng.random_range(-1.0..1.0)).collect();
                let predictions = normal(&means, 1.0);
                let drawn = predictions.sampler()(&(0..40).collect::<Vec<_>>(), &mut rng);
                let targets = predictions.observed(&drawn);
                let said = normal(&means, scale);
                test.outcome(&said, &targets, &mut rng).unwrap().p_value <= 0.05
            });
            rejected.count()
        };
        let [level, power] = [1.0, 0.3].map(rejected);
        assert_at_most(level, sets, (0.05, 3.0), name);
        assert!(10 * power > 9 * sets, "{name}: {power} of {sets}");
    }
}

/// One target, a level that is none, and draws that are all the same.
#[test]
fn degenerate() {
    let test = ExactTest::new(IntervalCoverage::new(0.9)).with_replicates(99);
    let one = test.seeded(&normal(&[0.0], 1.0), &column([0.0]), 0);
    assert_eq!(one.p_value, 1.0); // 0.1 off, the least that one target can be
    let level = ExactTest::new(IntervalCoverage::new(1.0));
    refuses(level.outcome(&normal(&[0.0], 1.0), &column([0.0]), &mut rng(0)));
    let certain = Samples::new(tensor(&[[0.0; 20]]).reshape([4, 5, 1]));
    let same = test.seeded(&certain, &column([0.0; 4]), 0);
    assert_eq!(same.p_value, 1.0);
}
