//! The asymptotic block test: streaming, and its confidence interval.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::prelude::*;

fn evaluate(size: usize, rows: &[Vec<f64>], classes: &[usize]) -> TestOutcome {
    AsymptoticBlockSkceTest::new(exponential(0.4), size).outcome_on(rows, classes, 0)
}

/// The same without a fused path.
fn composed(size: usize, rows: &[Vec<f64>], classes: &[usize]) -> TestOutcome {
    let kernel = MatrixKernel::from_rows(exponential(0.4), &identity(rows[0].len())).unwrap();
    AsymptoticBlockSkceTest::new(kernel, size).outcome_on(rows, classes, 0)
}

/// Blocks larger than a tile, against scalar loops.
#[test]
fn large_blocks_by_brute_force() {
    let (size, n) = (270, 830); // three blocks, of 2 × 2 tiles each, and 20 samples too many
    let (rows, classes) = draw(Model::M2, n, 3, &mut rng(71));
    let of_block = |block: usize| {
        let range = block * size..(block + 1) * size;
        let (rows, classes) = (&rows[range.clone()], &classes[range]);
        unbiased(&pair_statistic(rows, classes, |p, q| {
            kernel_value(&exponential(0.4), p, q)
        }))
    };
    let values = [0, 1, 2].map(of_block);
    let mean = values.iter().sum::<f64>() / 3.0;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 2.0; // N − 1
    let error = (variance / 3.0).sqrt();
    for evaluate in [evaluate, composed] {
        let outcome = evaluate(size, &rows, &classes);
        assert_relative(outcome.estimate, mean, 1e-10);
        let found = outcome.standard_error.unwrap();
        assert_relative(found, error, 1e-8);
        assert_relative(outcome.statistic, mean / error, 1e-8);
    }
}

/// More blocks than are held at once, against the estimator, which takes all at once.
#[test]
fn batches_of_blocks() {
    for (size, n) in [(2, 140_001), (64, 5_000)] {
        let (rows, classes) = draw(Model::M1, n, 2, &mut rng(72));
        let estimate =
            Skce::block(exponential(0.4), size).on(&categorical(&rows), &labels(&classes));
        let outcome = composed(size, &rows, &classes);
        assert_relative_eq!(outcome.estimate, estimate, epsilon = 1e-12);
    }
}

/// The bound excludes 0 exactly where the test rejects.
#[test]
fn the_interval_is_dual_to_the_test() {
    let (rows, classes) = draw(Model::M3, 150, 4, &mut rng(73));
    let outcome = evaluate(5, &rows, &classes); // 30 blocks
    let p = Normal::standard().sf(outcome.statistic); // the p-value ends at 0.001
    assert!((0.0..0.5).contains(&p));
    assert_eq!(outcome.p_value, p.max(1e-3));
    assert!(outcome.lower_bound(1.0 - 1.01 * p).unwrap() > 0.0);
    assert!(outcome.lower_bound(1.0 - 0.99 * p).unwrap() < 0.0);
    assert_relative(outcome.lower_bound(0.5).unwrap(), outcome.estimate, 1e-9);
    // Φ⁻¹(.95)
    let bound = outcome.estimate - 1.644_853_626_951_472_2 * outcome.standard_error.unwrap();
    assert_relative_eq!(outcome.lower_bound(0.95).unwrap(), bound, epsilon = 1e-9);
    for confidence in [0.0, 1.0, -0.5, 2.0, f64::NAN] {
        assert_eq!(outcome.lower_bound(confidence), None);
    }
    let other = DistributionFreeSkceTest::new(Skce::linear(exponential(0.4)))
        .outcome_on(&rows, &classes, 0);
    assert_eq!(other.standard_error, None);
    assert_eq!(other.lower_bound(0.95), None);
}

/// The same for few blocks, with Student's quantile: against SciPy, `t.ppf(.95, 19) = 1.729132811521367`.
#[test]
fn the_interval_of_few_blocks() {
    let (rows, classes) = draw(Model::M1, 100, 4, &mut rng(74));
    let outcome = evaluate(5, &rows, &classes);
    let error = outcome.standard_error.unwrap();
    let bound = outcome.estimate - 1.729132811521367 * error;
    assert_relative_eq!(outcome.lower_bound(0.95).unwrap(), bound, epsilon = 1e-9);
    let p = outcome.p_value;
    assert!(p > 1e-3 && outcome.lower_bound(1.0 - 0.99 * p).unwrap() < 0.0);
    assert!(outcome.lower_bound(1.0 - 1.01 * p).unwrap() > 0.0);
}

/// Far out the p-value is a bound, and few blocks are said to be few.
#[test]
fn what_is_not_known() {
    let rows = vec![vec![0.7, 0.3]; 600];
    let mut rng = rng(76);
    let classes = draw_events([0.8; 600], &mut rng);
    let outcome = evaluate(20, &rows, &classes);
    assert_eq!((outcome.p_value, outcome.is_bound), (1e-3, true));
    assert_eq!(outcome.standardised, Some(outcome.statistic));
    assert_eq!(outcome.caveat, None); // 180 errors and 30 blocks
    contains(&outcome, "p < 0.001  (n = 600)");
    let caveat = evaluate(60, &rows, &classes).caveat.unwrap();
    begins(&caveat, "10 blocks: too few");
}

/// Says 90 % and is right half of the time: `Δ = (−.4, .4)`, one prediction, `SKCE = ‖Δ‖² = .32`.
#[test]
fn coverage() {
    let rows = vec![vec![0.9, 0.1]; 600];
    let mut rng = rng(74);
    let sets = simulated(400);
    let covered = (0..sets)
        .filter(|_| {
            let classes: Vec<usize> = (0..600).map(|_| rng.random_range(0..2)).collect();
            evaluate(6, &rows, &classes).lower_bound(0.9).unwrap() <= 0.32
        })
        .count();
    assert_binomial(covered, sets, (0.9, 3.0), "");
}
