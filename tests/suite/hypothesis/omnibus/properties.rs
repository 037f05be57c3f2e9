//! What holds of every outcome.

use proptest::prelude::*;

use super::levels::normal;
use crate::prelude::*;

fn holds(outcome: &OmnibusOutcome, redraws: usize) {
    assert_eq!(outcome.redraws, redraws);
    let multiple = |p: f64| {
        let count = p * (redraws + 1) as f64;
        assert!((count - count.round()).abs() < 1e-9 && count > 0.5, "{p}");
        assert!(p <= 1.0);
    };
    multiple(outcome.p_value);
    for aspect in &outcome.aspects {
        multiple(aspect.p_value);
        assert!(aspect.adjusted_p_value <= 1.0);
        assert!(aspect.adjusted_p_value >= aspect.p_value, "{aspect:?}");
        assert!(aspect.adjusted_p_value >= outcome.p_value, "{aspect:?}");
        assert!(!aspect.standardised.is_nan() && !aspect.estimate.is_nan());
    }
    assert!(outcome.failing(0.05).is_empty() || outcome.p_value <= 0.05);
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn of_classes((rows, classes) in labelled(2..6, 1..21, &[30.0, -800.0]), redraws in 1usize..60, seed in 0u64..1000) {
        let test = OmnibusTest::new().with_redraws(redraws);
        let (predictions, labels) = (categorical(&rows), labels(&classes));
        let found = omnibus(test, &predictions, &labels, seed);
        holds(&found, redraws);
        prop_assert_eq!(found, omnibus(test, &predictions, &labels, seed));
    }

    #[test]
    fn of_normal_predictions(n in 1usize..20, d in 1usize..3, redraws in 1usize..60, seed in 0u64..1000) {
        let test = OmnibusTest::new().with_redraws(redraws);
        let predictions = normal(n, d, &mut rng(seed));
        let targets = predictions.sample(&mut rng(seed + 1));
        let found = omnibus(test, &predictions, &targets, seed);
        holds(&found, redraws);
        prop_assert_eq!(found, omnibus(test, &predictions, &targets, seed));
    }
}

/// A summary has the p-value of the outcome, the largest aspect and the expected errors.
#[test]
fn summaries() {
    let rows = random_probabilities(60, 3, &mut rng(640));
    let (predictions, labels) = (
        categorical(&rows),
        labels(&random_labels(60, 3, &mut rng(641))),
    );
    let test = OmnibusTest::new().with_redraws(99);
    let found = omnibus(test, &predictions, &labels, 5);
    let summary = Summarised(test).seeded(&predictions, &labels, 5);
    let sizes = found.aspects.iter().map(|aspect| aspect.standardised.abs());
    assert_eq!(summary.estimate, sizes.fold(0.0, f64::max));
    assert_eq!(
        (summary.p_value, summary.samples, summary.replicates),
        (found.p_value, 60, Some(found.redraws))
    );
    assert_eq!(summary.expected_errors, predictions.expected_errors());
}

/// The p-values of data without ties are those of either precision.
#[test]
fn precisions_agree() {
    let test = OmnibusTest::new().with_redraws(199);
    for seed in 0..10 {
        let rows = random_probabilities(60, 4, &mut rng(650 + seed));
        let classes = random_labels(60, 4, &mut rng(660 + seed));
        let p_values = |dtype| {
            let rows = tensor_on(&rows, &device(), dtype);
            let predictions = Categorical::from_probabilities(rows).unwrap();
            let found = omnibus(test, &predictions, &labels(&classes), seed);
            let aspects = found.aspects.iter();
            let own = aspects.clone().map(|aspect| aspect.p_value);
            let adjusted = aspects.map(|aspect| aspect.adjusted_p_value);
            let own: Vec<f64> = own.chain([found.p_value]).collect();
            (own, adjusted.collect::<Vec<_>>())
        };
        let [(own, adjusted), (own_32, adjusted_32)] = [DType::F64, DType::F32].map(p_values);
        assert_eq!(own, own_32, "{seed}");
        all_near(adjusted, adjusted_32, 1e-6); // a bound is no rank

        let truth = normal(40, 1, &mut rng(670 + seed));
        let targets = truth.sample(&mut rng(680 + seed)) * 1.2;
        let p_values = |dtype| {
            let cast = |x: Tensor<2>| x.cast(dtype);
            let predictions = Normal::new(cast(truth.mean()), cast(truth.standard_deviation()));
            omnibus(test, &predictions, &cast(targets.clone()), seed).p_value
        };
        let difference: f64 = p_values(DType::F64) - p_values(DType::F32);
        assert!(difference.abs() <= 0.01, "{seed}: {difference}"); // targets are rounded
    }
}

/// Where the p-value is near 5 % the test goes on, elsewhere it stops; the number of redraws decides
/// nothing else.
#[test]
fn redraws_go_on_near_the_level() {
    let test = OmnibusTest::new().with_kernel(Kernel::gaussian());
    let mut continued = 0;
    for seed in 0..15 {
        let rows = random_probabilities(30, 3, &mut rng(690 + seed));
        let (predictions, mut draws) = (categorical(&rows), rng(720 + seed));
        let labels = predictions.sample(&mut draws);
        let found = omnibus(test.with_most(3000), &predictions, &labels, seed);
        assert!((999..=3000).contains(&found.redraws));
        if found.redraws > 999 {
            continued += 1;
            assert!((0.02..0.1).contains(&found.p_value), "{found}");
        } else {
            assert!(!(0.04..0.06).contains(&found.p_value), "{found}");
        }
        let few = test.with_redraws(50).with_most(50);
        holds(&omnibus(few, &predictions, &labels, seed), 50);
    }
    assert!(continued < 8);
}
