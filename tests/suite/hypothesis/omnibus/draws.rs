//! How large the error is of predictions by draws: those of a calibrated model are draws of the same
//! distribution as the target.

use burn_calibration::estimator::regression::{IntervalCoverage, QuantileCalibration};

use super::{levels::normal, sizes::coverage};
use crate::prelude::*;

fn counts((predictions, targets): (Samples, Tensor<2>)) -> (Samples, Tensor<2>) {
    (predictions.map(&|x| x.round()), targets.round())
}

/// Predictions by draws with deviations of so many times the truth, and targets.
fn draws(n: usize, each: usize, factor: f64, rng: &mut StdRng) -> (Samples, Tensor<2>) {
    let truth = normal(n, 1, rng);
    let targets = truth.sample(rng);
    let narrow = Normal::new(truth.mean(), truth.standard_deviation() * factor);
    (Samples::drawn_from(&narrow, each, rng), targets)
}

fn kernel() -> TensorKernel<RealKernel> {
    let kernel = Kernel::wasserstein().with_bandwidth(Bandwidth::Fixed(1.0));
    TensorKernel::new(kernel, RealKernel::gaussian(1.0))
}

/// The share of the ranks of a target, and of the parts of its step, by hand.
#[test]
fn targets_count_by_their_steps() {
    let covered = |draws: &[f64], y: f64, level| {
        let draws = Tensor::<1>::from_floats(draws, &Default::default());
        let predictions = Samples::new(draws.reshape([1, -1, 1]));
        let targets = Tensor::from_floats([[y as f32]], &Default::default());
        let coverage = IntervalCoverage::new(level).coverage(&predictions, &targets);
        let coverage = coverage.unwrap().estimate;
        let size = IntervalOverconfidence { coverage: level };
        let size = size.size(&predictions, &targets).unwrap();
        assert_relative_eq!(size.estimate, level - coverage);
        coverage
    };
    // ranks from 0 to 1/4, from 1/4 to 1/2, …: 1/8 to 7/8 hold half of the first
    for (y, expected) in [(0.0, 0.5), (1.5, 1.0), (9.0, 0.5)] {
        assert_relative_eq!(covered(&[1.0, 2.0, 3.0], y, 0.75), expected);
    }
    // 1 and the two that equal it: ranks from 0 to 3/4, of which 1/4 to 3/4 are covered
    assert_near(covered(&[1.0, 1.0, 2.0], 1.0, 0.5), 2.0 / 3.0, 1e-6);
    assert_relative_eq!(covered(&[1.0, 1.0, 2.0], 2.0, 0.5), 0.5, epsilon = 1e-6);
    // no steps: in or out
    let ones = Tensor::<2>::ones([1, 1], &Default::default());
    let normal = Normal::new(ones.zeros_like(), ones.clone());
    for (level, expected) in [(0.68, 0.0), (0.69, 1.0)] {
        let coverage = IntervalCoverage::new(level).coverage(&normal, &ones);
        assert_eq!(coverage.unwrap().estimate, expected);
    }
}

/// Calibrated counts and few draws have frequencies that are the levels (their curve within its band is a
/// test of the report).
#[test]
fn calibrated_draws_are_not_accused() {
    let (n, sets) = (200, 100);
    for (each, of_counts) in [(1, false), (5, false), (5, true), (50, true)] {
        let mut rng = rng(737);
        let mut sums = [0.0; 21];
        for _ in 0..sets {
            let data = draws(n, each, 1.0, &mut rng);
            let (predictions, targets) = if of_counts { counts(data) } else { data };
            let curve = QuantileCalibration::default().curve(&predictions, &targets);
            let curve = curve.unwrap();
            for (sum, point) in sums.iter_mut().zip(&curve.points) {
                *sum += point.frequency - point.level;
            }
            for (sum, level) in sums[19..].iter_mut().zip([0.5, 0.9]) {
                let coverage = IntervalCoverage::new(level).coverage(&predictions, &targets);
                *sum += coverage.unwrap().estimate - level;
            }
        }
        // of each of 21 means three and a half standard errors at most
        let most = 3.5 * 0.5 / f64::from(n as u32 * sets).sqrt();
        for sum in sums {
            let mean = sum / f64::from(sets);
            assert!(mean.abs() < most, "{each} draws, {of_counts}: {mean}");
        }
    }
}

#[test]
fn no_error_is_covered_of_calibrated_draws() {
    for (each, of_counts) in [
        (1, false),
        (2, false),
        (5, false),
        (20, false),
        (5, true),
        (20, true),
    ] {
        let what = format!("intervals of {each} draws, counts: {of_counts}");
        let widest = match each {
            1 => f64::INFINITY, // one draw says nothing
            2 => 5.0,
            5 => 3.2,
            _ => 1.8,
        };
        coverage((&what, simulated(300), 0.95), widest, 0.0, |rng| {
            let data = draws(60, each, 1.0, rng);
            let (predictions, targets) = if of_counts { counts(data) } else { data };
            let size = IntervalOverconfidence::default();
            size.size(&predictions, &targets).unwrap().interval(0.95)
        });
    }
}

/// Of calibrated draws the mean is 0, where that of draws that are taken for all of the distribution is not.
#[test]
fn skce_of_draws_is_unbiased() {
    let mut rng = rng(732);
    for each in [2, 5, 8] {
        let (mut fair, mut whole) = (Vec::new(), Vec::new());
        for _ in 0..300 {
            let (predictions, targets) = draws(40, each, 1.0, &mut rng);
            let skce = Skce::unbiased(kernel());
            fair.push(skce.size(&predictions, &targets).unwrap().estimate);
            whole.push(skce.on(&predictions, &targets));
        }
        let [fair, whole] = [&fair, &whole].map(|values| standardised(values, 0.0));
        assert!(fair.abs() < 3.5, "{each} draws: {fair} standard errors");
        assert!(whole > 3.5, "{each} draws: {whole} standard errors");
    }
}

/// By the definition: the kernel on the first half of the draws of each, expectations over the second.
#[test]
fn skce_of_halves_is_that_of_the_definition() {
    let mut rng = rng(733);
    let (n, each) = (7, 5);
    let (predictions, targets) = draws(n, each, 1.0, &mut rng);
    let draws: Vec<f64> = predictions.draws().into_data().iter::<f64>().collect();
    let y: Vec<f64> = targets.clone().into_data().iter::<f64>().collect();
    let part = |i: usize, from, to| sorted(draws[i * each..][from..to].to_vec());
    let on_targets = |x: f64, y: f64| (-0.5 * (x - y) * (x - y)).exp();
    let mean = |xs: &[f64], ys: &[f64]| {
        let of = |x: &f64| ys.iter().map(|y| on_targets(*x, *y)).sum::<f64>();
        xs.iter().map(of).sum::<f64>() / (xs.len() * ys.len()) as f64
    };
    let mut sum = 0.0;
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            let (a, b) = (part(i, 0, 2), part(j, 0, 2));
            let squares = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b));
            let k = (-(squares.sum::<f64>() / 2.0).sqrt()).exp();
            let (p, q) = (part(i, 2, 5), part(j, 2, 5));
            let (y, z) = ([y[i]], [y[j]]);
            sum += k * (mean(&y, &z) - mean(&p, &z) - mean(&y, &q) + mean(&p, &q));
        }
    }
    let expected = sum / (n * (n - 1)) as f64;
    for skce in [Skce::unbiased(kernel()), Skce::block(kernel(), n)] {
        let size = skce.size(&predictions, &targets).unwrap();
        assert_relative(size.estimate, expected, 1e-10);
    }
}

#[test]
fn one_draw_has_no_halves() {
    let (predictions, targets) = draws(9, 1, 1.0, &mut rng(735));
    let error = Skce::unbiased(kernel()).size(&predictions, &targets);
    let message = error.unwrap_err().to_string();
    contains(&message, "the number of draws");
}

#[test]
fn draws_that_are_too_narrow_are_found() {
    let mut rng = rng(734);
    let (predictions, targets) = draws(400, 20, 0.4, &mut rng);
    let size = IntervalOverconfidence::default().size(&predictions, &targets);
    assert!(size.unwrap().interval(0.99).unwrap().lower > 0.2);
    let size = Skce::unbiased(kernel()).size(&predictions, &targets);
    assert!(size.unwrap().interval(0.99).unwrap().lower > 1e-3);
}

/// Findings about trends say what a calibrated model has: not 0 for draws, whose own deviations vary.
#[test]
fn trends_of_draws_are_compared_with_those_of_redraws() {
    for (each, mean) in [(3, -0.42), (30, -0.13)] {
        let mut rng = rng(95);
        let (predictions, targets) = draws(500, each, 1.0, &mut rng);
        let test = OmnibusTest::new().with_redraws(99).with_most(99);
        let outcome = test.outcome(&predictions, &targets, &mut rng).unwrap();
        for name in ["spread_by_deviation", "location_by_mean"] {
            let aspect = outcome.aspects.iter().find(|aspect| aspect.name == name);
            let finding = &aspect.unwrap().finding;
            let (words, _) = finding.rsplit_once(" if calibrated").unwrap();
            let (_, expected) = words.rsplit_once(", ").unwrap();
            let expected: f64 = expected.parse().unwrap();
            let estimate = aspect.unwrap().estimate;
            let of_mean = if name == "location_by_mean" {
                0.65 * mean
            } else {
                mean
            };
            assert_near(expected, of_mean, 0.08);
            assert_near(expected, estimate, 0.2);
            let is_above = estimate > expected;
            let [above, below] = match name {
                "location_by_mean" => ["are high", "are low"],
                _ => ["are wide", "are narrow"],
            };
            let said = finding.contains(if is_above { above } else { below });
            assert!(said, "{finding}");
        }
    }
    let mut rng = rng(96);
    let (predictions, targets) = normal_pair(200, &mut rng);
    let outcome = OmnibusTest::new()
        .outcome(&predictions, &targets, &mut rng)
        .unwrap();
    let trend = outcome
        .aspects
        .iter()
        .find(|aspect| aspect.name == "location_by_mean");
    assert!(trend.unwrap().finding.ends_with(", 0 if calibrated"));
}

/// Calibrated normal predictions with targets.
fn normal_pair(n: usize, rng: &mut StdRng) -> (Normal, Tensor<2>) {
    let truth = normal(n, 1, rng);
    let targets = truth.sample(rng);
    (truth, targets)
}
