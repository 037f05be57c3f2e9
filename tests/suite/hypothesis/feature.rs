//! The feature test.

use approx::assert_relative_eq;
use burn::tensor::DType;
use burn_calibration::{
    distribution::{Categorical, Predictive},
    error::Error,
    hypothesis::*,
    kernel::{Bandwidth, Kernel},
};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::{
    data::*,
    models::{Model, draw, within_binomial},
};

fn evaluate(features: usize, rows: &[Vec<f64>], classes: &[usize], seed: u64) -> TestOutcome {
    FeatureTest::new(Kernel::exponential())
        .with_features(features)
        .evaluate(&categorical(rows), &labels(classes), &mut rng(seed))
        .unwrap()
}

/// `z = Σ_i p_i·δ_i` of labels.
fn score(rows: &[Vec<f64>], classes: &[usize]) -> f64 {
    let term = |(p, &y): (&Vec<f64>, &usize)| p[y] - p.iter().map(|p| p * p).sum::<f64>();
    rows.iter().zip(classes).map(term).sum()
}

/// The first feature alone: `z²` over its variance among all labellings of three samples. So few
/// errors are expected that the p-value comes from redrawn labels.
#[test]
fn one_feature_by_enumeration() {
    let (n, m) = (3usize, 4usize);
    let rows = random_probabilities(n, m, &mut rng(101));
    let labelling =
        |code: usize| -> Vec<usize> { (0..n).map(|i| code / m.pow(i as u32) % m).collect() };
    let moment = |power: i32| -> f64 {
        (0..m.pow(3))
            .map(labelling)
            .map(|classes| {
                let probability: f64 = rows.iter().zip(&classes).map(|(row, &y)| row[y]).product();
                probability * score(&rows, &classes).powi(power)
            })
            .sum()
    };
    assert!(moment(1).abs() < 1e-14);
    for code in [0, 5, 17, 63] {
        let classes = labelling(code);
        let z = score(&rows, &classes);
        let outcome = evaluate(1, &rows, &classes, 0);
        let q = z * z / moment(2);
        let p = ChiSquared::new(1.0).unwrap().sf(q);
        assert_relative_eq!(outcome.statistic(), -2.0 * p.ln(), max_relative = 1e-8);
        assert_eq!((outcome.replicates(), outcome.caveat()), (Some(999), None));
        let exact: f64 = (0..m.pow(3))
            .map(labelling)
            .filter(|classes| score(&rows, classes).powi(2) >= z * z * (1.0 - 1e-9))
            .map(|classes| -> f64 { rows.iter().zip(classes).map(|(row, y)| row[y]).product() })
            .sum();
        let deviation = (exact * (1.0 - exact) / 999.0).sqrt();
        let difference = outcome.p_value() - (1.0 + 999.0 * exact) / 1000.0;
        assert!(difference.abs() <= 4.0 * deviation, "{exact}, {outcome}");
        assert_relative_eq!(outcome.estimate(), (z / 3.0).powi(2), max_relative = 1e-10);
    }
}

/// More samples than are held at once: 2²⁰ numbers `φ_jc(p_i)`. Five copies of the data have five
/// times the `z²/C`.
#[test]
fn batches_of_samples() {
    let n = 130_000;
    let (rows, classes) = draw(Model::M1, n / 5, 10, &mut rng(102));
    let outcome = evaluate(8, &rows, &classes, 1);
    assert!(outcome.p_value() > 1e-4, "{outcome}");
    let z = score(&rows, &classes);
    let variance: f64 = rows
        .iter()
        .map(|p| {
            let mean: f64 = p.iter().map(|p| p * p).sum();
            p.iter().map(|p| p * (p - mean).powi(2)).sum::<f64>()
        })
        .sum();
    let rows: Vec<_> = rows.iter().cycle().take(n).cloned().collect();
    let classes: Vec<_> = classes.iter().copied().cycle().take(n).collect();
    let five_times = evaluate(1, &rows, &classes, 1);
    let expected = ChiSquared::new(1.0).unwrap().sf(5.0 * z * z / variance);
    assert_relative_eq!(five_times.p_value(), expected, max_relative = 1e-6);
}

#[test]
fn level_and_power() {
    let rejections = |model, sets: usize| {
        let mut data = rng(103);
        (0..sets)
            .filter(|&set| {
                let (rows, classes) = draw(model, 250, 10, &mut data);
                evaluate(8, &rows, &classes, set as u64).p_value() <= 0.05
            })
            .count()
    };
    let level = rejections(Model::M1, 300);
    assert!(within_binomial(level, 300, 0.05, 3.0), "{level}");
    assert_eq!(rejections(Model::M2, 50), 50);
    assert_eq!(rejections(Model::M3, 50), 50); // the linear test misses 81 %
}

/// A miscalibration that the first feature cannot see: predictions of one half for either of two
/// classes, always the same of which comes true.
#[test]
fn locations_see_what_confidence_does_not() {
    let rows: Vec<Vec<f64>> = (0..200)
        .map(|i| match i % 2 {
            0 => vec![0.5, 0.5, 0.0, 0.0],
            _ => vec![0.0, 0.0, 0.5, 0.5],
        })
        .collect();
    let classes: Vec<usize> = (0..200).map(|i| if i % 2 == 0 { 0 } else { 2 }).collect();
    // p is constant on its support: p·δ = 0 whatever the labels
    assert_eq!(evaluate(1, &rows, &classes, 0).p_value(), 1.0);
    let outcome = evaluate(8, &rows, &classes, 0);
    assert_eq!((outcome.p_value(), outcome.is_bound()), (1e-3, true));
    assert!(outcome.standardised().unwrap() > 10.0, "{outcome}");
}

#[test]
fn degenerate_data() {
    let certain = vec![vec![1.0, 0.0]; 20];
    for features in [1, 2, 8, 40] {
        assert_eq!(evaluate(features, &certain, &[0; 20], 0).p_value(), 1.0);
        let wrong = evaluate(features, &certain, &[1; 20], 0); // probability 0
        assert_eq!((wrong.p_value(), wrong.statistic()), (1e-3, f64::INFINITY));
        assert_eq!((wrong.is_bound(), wrong.standardised()), (true, None));
        let (rows, classes) = draw(Model::M1, 5, 3, &mut rng(104));
        let p = evaluate(features, &rows, &classes, 0).p_value();
        assert!((0.0..=1.0).contains(&p), "{p}");
        let p = evaluate(features, &rows[..1], &classes[..1], 0).p_value();
        assert!((0.0..=1.0).contains(&p), "{p}");
    }
    let none = FeatureTest::new(Kernel::exponential()).with_features(0);
    let outcome = none.evaluate(&categorical(&certain), &labels(&[0; 20]), &mut rng(0));
    assert!(matches!(outcome, Err(Error::Parameter { .. })));
    let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(-1.0));
    let outcome =
        FeatureTest::new(kernel).evaluate(&categorical(&certain), &labels(&[0; 20]), &mut rng(0));
    assert!(matches!(
        outcome,
        Err(Error::Parameter {
            name: "the kernel bandwidth",
            ..
        })
    ));
}

#[test]
fn the_seed_decides() {
    let (rows, classes) = draw(Model::M1, 50, 4, &mut rng(105));
    let p = |seed| evaluate(8, &rows, &classes, seed).p_value();
    assert_eq!(p(1), p(1));
    assert_ne!(p(1), p(2));
}

/// Single precision whose rows sum to 1 up to rounding, nearly certain, with the expected number of
/// errors: not impossible, and the level holds.
#[test]
fn confident_predictions_in_single_precision() {
    let sets = 300;
    let mut data = rng(106);
    let mut rejected = [0; 2];
    for set in 0..sets {
        let logits = random_rows(400, 5, 30.0, &mut data);
        let rows = tensor_on(&logits, &device(), DType::F32);
        let predictions = Categorical::from_logits(rows).unwrap();
        let labels = predictions.sample(&mut data);
        let outcome = FeatureTest::new(Kernel::exponential())
            .evaluate(&predictions, &labels, &mut rng(set))
            .unwrap();
        assert!(outcome.statistic().is_finite());
        assert_eq!(outcome.replicates(), Some(999));
        assert!(outcome.expected_errors().unwrap() < 60.0);
        rejected[0] += usize::from(outcome.p_value() <= 0.05);
        rejected[1] += usize::from(outcome.p_value() <= 0.01);
    }
    assert!(
        within_binomial(rejected[0], sets as usize, 0.05, 3.0),
        "{rejected:?}"
    );
    assert!(
        within_binomial(rejected[1], sets as usize, 0.01, 3.0),
        "{rejected:?}"
    );
}

/// An error that was expected: no sum of rounded numbers makes it impossible.
#[test]
fn many_samples_with_a_rare_error() {
    let n = 20_000;
    let rows = vec![vec![1.0 - 5e-6, 5e-6]; n];
    let mut classes = vec![0; n];
    classes[123] = 1; // one error, of which 0.1 is expected
    for dtype in [DType::F32, DType::F64] {
        let predictions =
            Categorical::from_probabilities(tensor_on(&rows, &device(), dtype)).unwrap();
        let outcome = FeatureTest::new(Kernel::exponential())
            .evaluate(&predictions, &labels(&classes), &mut rng(0))
            .unwrap();
        let p = outcome.p_value(); // 1 − e^−0.1 = 0.095
        assert!((0.06..0.13).contains(&p), "{outcome}");
    }
}
