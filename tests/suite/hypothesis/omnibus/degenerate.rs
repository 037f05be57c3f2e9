//! Data at the ends of what there is, and data that are not valid.

use crate::prelude::*;

fn outcome(rows: &[impl AsRef<[f64]>], classes: &[usize]) -> OmnibusOutcome {
    let test = OmnibusTest::new().with_redraws(99);
    let outcome = omnibus(test, &categorical(rows), &labels(classes), 641);
    for aspect in &outcome.aspects {
        assert!(!aspect.estimate.is_nan(), "{aspect:?}");
        assert!(!aspect.standardised.is_nan(), "{aspect:?}");
        assert!(!aspect.finding.contains("NaN"), "{aspect:?}");
        for p in [aspect.p_value, aspect.adjusted_p_value] {
            assert!((0.01..=1.0).contains(&p), "{aspect:?}");
        }
    }
    assert!((0.01..=1.0).contains(&outcome.p_value));
    let Interval { lower, upper, .. } = outcome.resampling_interval;
    assert!(lower <= outcome.p_value && outcome.p_value <= upper + 0.01);
    outcome
}

#[test]
fn one_and_two_samples() {
    assert_eq!(outcome(&[vec![0.5, 0.5]], &[1]).p_value, 1.0); // both labels are the same
    assert!(outcome(&[vec![0.999_999, 0.000_001]], &[1]).p_value <= 0.02);
    assert!(outcome(&[vec![0.9, 0.1], vec![0.2, 0.8]], &[0, 1]).p_value > 0.5);
    assert!(outcome(&vec![vec![0.999_999, 0.000_001]; 2], &[1, 0]).p_value <= 0.02);
}

/// −0 is a probability of 0, for all aspects.
#[test]
fn a_probability_of_minus_zero() {
    let of = |zero: f64| {
        let mut rows = vec![vec![0.4, 0.6]; 20];
        rows[3] = vec![1.0, zero];
        outcome(&rows, &[1; 20])
    };
    assert_eq!(of(-0.0).aspects, of(0.0).aspects);
    assert_eq!(of(-0.0).p_value, 0.01);
}

#[test]
fn certain_predictions() {
    let rows = table(30, 3, |i, c| f64::from(c == i % 3));
    let mut classes: Vec<usize> = (0..30).map(|i| i % 3).collect();
    let right = outcome(&rows, &classes);
    assert_eq!(right.p_value, 1.0);
    assert!(right.failing(0.05).is_empty());
    assert!(right.aspects.iter().all(|aspect| aspect.estimate == 0.0));
    classes[4] = 0; // was 1
    let wrong = outcome(&rows, &classes);
    assert_eq!(wrong.p_value, 0.01);
    let failing = wrong.failing(0.05);
    let found = |finding: &str| failing.iter().any(|a| a.finding.starts_with(finding));
    assert!(found("overconfident by 3.3 points"), "{wrong}");
    assert!(
        found("a label of probability 0 occurred (row 4)"),
        "{wrong}"
    );
    // one wrong label is no evidence of the frequency of a class
    assert!(!found("class "), "{wrong}");
    // and through the tests of one statistic
    for test in [
        &ExactTest::new(Skce::biased(Kernel::exponential())) as &dyn CalibrationTest,
        &ExactTest::new(Ece::default()),
        &Summarised(OmnibusTest::new()),
    ] {
        let outcome = test.seeded(&categorical(&rows), &labels(&classes), 0);
        assert_eq!(outcome.p_value, 0.001);
        assert!(!outcome.statistic.is_nan() && !outcome.estimate.is_nan());
    }
}

#[test]
fn identical_rows() {
    let rows = vec![vec![0.7, 0.2, 0.1]; 20];
    let classes = [0, 0, 0, 0, 0, 0, 0, 1, 1, 2].repeat(2);
    assert_eq!(outcome(&rows, &classes).p_value, 1.0); // the most likely counts
    assert_eq!(outcome(&rows, &[2; 20]).p_value, 0.01);
    // symmetric: as many too few as too many
    let coin = vec![vec![0.5, 0.5]; 20];
    let heads = |count: usize| {
        let classes: Vec<usize> = (0..20).map(|i| usize::from(i >= count)).collect();
        outcome(&coin, &classes)
    };
    assert_eq!(heads(10).p_value, 1.0);
    assert_eq!(heads(14).p_value, heads(6).p_value);
}

#[test]
fn labels_of_probability_zero() {
    let mut rows = random_probabilities(25, 4, &mut rng(642));
    let mut classes = random_labels(25, 3, &mut rng(643));
    for row in &mut rows {
        let sum: f64 = row[..3].iter().sum();
        row[..3].iter_mut().for_each(|p| *p /= sum);
        row[3] = 0.0;
    }
    let possible = outcome(&rows, &classes);
    classes[7] = 3;
    let impossible = outcome(&rows, &classes);
    assert!(impossible.p_value <= possible.p_value);
    assert_eq!(impossible.p_value, 0.01);
    let log = impossible.aspects.iter().find(|a| a.name == "log_score");
    assert_eq!(log.unwrap().estimate, f64::INFINITY);
    assert!(impossible.to_string().lines().count() > 1);
}

#[test]
fn a_thousand_classes() {
    let mut rng = rng(644);
    let rows = random_probabilities(50, 1000, &mut rng);
    let predictions = categorical(&rows);
    let drawn = predictions.sampler()(&(0..50).collect::<Vec<_>>(), &mut rng);
    let found = outcome(&rows, &drawn);
    assert!(found.p_value > 0.01);
    assert_eq!(found.aspects.len(), 3 + 1000 + 3 + 3);
    assert_eq!(outcome(&rows, &[0; 50]).p_value, 0.01);
}

/// A single redraw, and degenerate real predictions.
#[test]
fn real_targets() {
    let test = OmnibusTest::new();
    let normal = |n: usize| Normal::new(column(vec![0.0; n]), column(vec![1.0; n]));
    for n in [1, 2, 3, 30] {
        let targets = tensor(&vec![vec![0.1]; n]);
        let found = omnibus(test.with_redraws(99), &normal(n), &targets, 645);
        assert!(found.aspects.iter().all(|a| a.estimate.is_finite()));
        if n == 30 {
            assert_eq!(found.p_value, 0.01);
        }
        let one = omnibus(test.with_redraws(1), &normal(n), &targets, 0);
        assert!([0.5, 1.0].contains(&one.p_value));
    }
    // draws beyond the numbers of the dtype
    let single = |x: f64| single(&[[x]; 30]);
    let wide = Normal::new(single(0.0), single(3e38));
    let found = test.outcome(&wide, &single(0.0), &mut rng(647));
    let error = found.unwrap_err().to_string();
    begins(&error, "a target drawn from the predictions is ");
    // all draws are equal
    let draws = Samples::new(Tensor::zeros([10, 5, 1], (&device(), DType::F64)));
    let at = |y: f64| omnibus(test.with_redraws(99), &draws, &tensor(&[[y]; 10]), 646);
    assert_eq!(at(0.0).p_value, 1.0);
    assert_eq!(at(1.0).p_value, 0.01);
    // far out
    let targets = tensor(&[[1e6]; 30]);
    let far = omnibus(test.with_redraws(99), &normal(30), &targets, 647);
    assert_eq!(far.p_value, 0.01);
}

#[test]
fn invalid_data_are_errors() {
    let rows = random_probabilities(10, 3, &mut rng(648));
    let predictions = categorical(&rows);
    let test = OmnibusTest::new();
    let mut seed = rng(0);
    let outside = labels(&[0, 1, 2, 3, 0, 1, 2, 0, 1, 2]);
    refuses(test.outcome(&predictions, &outside, &mut seed));
    let few = test.outcome(&predictions, &labels(&[0; 9]), &mut seed);
    assert!(few.is_err());
    let good = labels(&[0; 10]);
    let none = test.with_redraws(0).outcome(&predictions, &good, &mut seed);
    assert!(matches!(none, Err(Error::Parameter { .. })), "{none:?}");
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(-1.0));
    for n in [1, 10] {
        let predictions = predictions.slice_rows(0..n);
        let test = test.with_kernel(kernel);
        let invalid = test.outcome(&predictions, &labels(&vec![0; n]), &mut seed);
        assert!(invalid.is_err());
    }

    let normal = |scale: f64| Normal::new(column([0.0; 5]), column([1.0, 1.0, 1.0, scale, 1.0]));
    let targets = tensor(&[[0.5]; 5]);
    for scale in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
        assert!(test.outcome(&normal(scale), &targets, &mut seed).is_err());
        let exact = ToleranceTest::new(IntervalOverconfidence::default(), 0.1);
        assert!(exact.outcome(&normal(scale), &targets, &mut seed).is_err());
    }
    let nan = tensor(&[[f64::NAN]; 5]);
    assert!(test.outcome(&normal(1.0), &nan, &mut seed).is_err());
    let wide = tensor(&[[0.0, 0.0]; 5]);
    assert!(test.outcome(&normal(1.0), &wide, &mut seed).is_err());
    let coverage = IntervalOverconfidence { coverage: 1.5 };
    assert!(coverage.size(&normal(1.0), &targets).is_err());

    for tolerance in [-0.1, f64::NAN, f64::INFINITY] {
        let test = ToleranceTest::new(Overconfidence::default(), tolerance);
        refuses(test.outcome(&predictions, &good, &mut seed));
    }
    let size = Overconfidence::default().size(&predictions, &good).unwrap();
    let skce = Skce::unbiased(Kernel::exponential()).size(&predictions, &good);
    let skce = skce.unwrap();
    for level in [1.5, 1.0, 0.0, -0.5, f64::NAN] {
        assert!(size.interval(level).is_err(), "{level}");
        assert!(skce.interval(level).is_err(), "{level}");
    }
}
