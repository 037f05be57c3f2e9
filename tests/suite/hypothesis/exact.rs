//! Tests that redraw labels: exact conditional and by consistency resampling.

use burn_calibration::error::Result;

use crate::prelude::*;

/// The probability, over all `mⁿ` labellings, of a statistic at least that of the data.
fn enumerated(statistic: &impl Statistic, rows: &[Vec<f64>], classes: &[usize]) -> f64 {
    let of = |classes: &[usize]| statistic.on(&categorical(rows), &labels(classes));
    let observed = of(classes);
    let at_least = labellings(rows).filter(|(drawn, _)| of(drawn) >= observed - 1e-10);
    at_least.map(|(_, probability)| probability).sum()
}

#[test]
fn agrees_with_enumeration() {
    let mut data = rng(81);
    let rows = random_probabilities(4, 3, &mut data);
    let replicates = 4000;
    let mut check = |statistic: &dyn Fn(&[usize]) -> (f64, f64)| {
        for _ in 0..3 {
            let classes = random_labels(4, 3, &mut data);
            let (p, expected) = statistic(&classes);
            let deviation = (expected * (1.0 - expected) / replicates as f64).sqrt();
            let bias = 1.0 / replicates as f64; // of (1 + #)/(1 + R)
            assert_near_in(&classes, p, expected, 4.0 * deviation + bias);
        }
    };
    fn both<S: Statistic + Copy>(
        statistic: S,
        rows: &[Vec<f64>],
        classes: &[usize],
        replicates: usize,
    ) -> (f64, f64) {
        let test = ExactTest::new(statistic).with_replicates(replicates);
        let p = test.p_on(rows, classes, 3);
        (p, enumerated(&statistic, rows, classes))
    }
    check(&|classes| both(Skce::unbiased(exponential(0.4)), &rows, classes, replicates));
    let biased = Skce::biased(Kernel::exponential());
    check(&|classes| both(biased, &rows, classes, replicates));
    check(&|classes| both(Skce::linear(exponential(0.4)), &rows, classes, replicates));
    check(&|classes| both(Mmce::default(), &rows, classes, replicates));
    check(&|classes| both(Ece::default(), &rows, classes, replicates));
}

/// Rejections at some levels among calibrated data sets.
fn rejections(
    test: &dyn CalibrationTest,
    levels: &[f64],
    sets: usize,
    mut data: impl FnMut(&mut StdRng) -> (Vec<Vec<f64>>, Vec<usize>),
) -> Vec<usize> {
    let mut rng = rng(82);
    let mut rejected = vec![0; levels.len()];
    for set in 0..sets {
        let (rows, classes) = data(&mut rng);
        let p = test.p_on(&rows, &classes, set as u64);
        for (rejected, level) in rejected.iter_mut().zip(levels) {
            *rejected += usize::from(p <= level + 1e-12);
        }
    }
    rejected
}

const LEVELS: [f64; 6] = [0.01, 0.05, 0.1, 0.2, 0.5, 0.8];

/// At every sample size no level is exceeded; at n = 5 the p-value is discrete, and smaller than
/// uniform where an outcome is likely.
#[test]
fn valid_at_five_samples() {
    let sets = simulated(2000);
    for skce in [
        Skce::unbiased(exponential(0.4)),
        Skce::biased(exponential(0.4)),
    ] {
        let test = ExactTest::new(skce).with_replicates(99);
        let rejected = rejections(&test, &LEVELS, sets, |rng| draw(Model::M1, 5, 3, rng));
        for (level, rejected) in LEVELS.into_iter().zip(rejected) {
            assert_at_most(rejected, sets, (level, 3.0), level);
        }
    }
}

/// Five samples of ten almost equally likely classes: ties are rare, p-values uniform.
#[test]
fn uniform_at_five_samples_without_ties() {
    let sets = simulated(2000);
    let test = ExactTest::new(Skce::unbiased(exponential(0.4))).with_replicates(99);
    let rejected = rejections(&test, &LEVELS, sets, |rng| {
        let rows = softmax_rows(&random_rows(5, 20, 0.5, rng));
        let classes = draw_classes(&rows, rng);
        (rows, classes)
    });
    for (level, rejected) in LEVELS.iter().zip(rejected) {
        assert_binomial(rejected, sets, (*level, 3.0), level);
    }
}

/// The binomial test of fair coin flips: `P(|X − 50| ≥ 10)` for `X ∼ Bin(100, ½)`, ties included.
#[test]
fn coin_flips() {
    let rows = vec![vec![0.5, 0.5]; 100];
    let classes: Vec<usize> = (0..100).map(|i| usize::from(i >= 60)).collect();
    let exact = 0.056_887_9;
    let replicates = 8_000;
    for skce in [
        Skce::unbiased(exponential(0.4)),
        Skce::biased(exponential(0.4)),
    ] {
        let test = ExactTest::new(skce).with_replicates(replicates);
        let p = test.p_on(&rows, &classes, 83);
        let deviation = (exact * (1.0 - exact) / replicates as f64).sqrt();
        assert!((p - exact).abs() < 4.0 * deviation, "{p}");
    }
}

/// The shared matrix product gives what one estimate after another gives.
#[test]
fn shared_products_agree_with_single_estimates() {
    let single = |skce: Skce| {
        move |predictions: &Categorical, labels: &Tensor<1, Int>| skce.estimate(predictions, labels)
    };
    // more tiles than one; more residuals than are held at once
    for (n, m, replicates) in [(300, 3, 20), (60, 50, 800)] {
        let (rows, classes) = draw(Model::M1, n, m, &mut rng(84));
        for skce in [
            Skce::unbiased(exponential(0.4)),
            Skce::biased(exponential(0.4)),
            Skce::block(exponential(0.4), 7),
        ] {
            let outcomes: [Box<dyn CalibrationTest>; 2] = [
                Box::new(ExactTest::new(skce).with_replicates(replicates)),
                Box::new(ExactTest::new(single(skce)).with_replicates(replicates)),
            ];
            let [exact, exact_single] = outcomes.map(|test| test.outcome_on(&rows, &classes, 5));
            assert_eq!(exact.p_value, exact_single.p_value);
            assert_relative(exact.estimate, exact_single.estimate, 1e-9);
            assert_eq!(exact.replicates, Some(replicates));
        }
    }
}

/// A resample keeps the median bandwidth of the data, though that of its own predictions is another.
#[test]
fn resamples_keep_the_bandwidth_of_the_data() {
    let (rows, classes) = draw(Model::M1, 40, 3, &mut rng(88));
    let predictions = categorical(&rows);
    let median = Kernel::exponential();
    let fixed = median.with_bandwidth_of(&predictions.probabilities());
    let fixed = fixed.unwrap();
    fn standardised(statistic: impl Statistic, (rows, classes): (&[Vec<f64>], &[usize])) -> f64 {
        let test = ConsistencyTest::new(statistic).with_replicates(30);
        let outcome = test.outcome(&categorical(rows), &labels(classes), &mut rng(5));
        outcome.unwrap().standardised.unwrap()
    }
    let data = (rows.as_slice(), classes.as_slice());
    for of in [Skce::biased, Skce::unbiased, Skce::linear] {
        let expected = standardised(of(fixed), data);
        assert_relative(standardised(of(median), data), expected, 1e-9);
        let own = move |predictions: &Categorical, labels: &Tensor<1, Int>| {
            of(median).estimate(predictions, labels)
        };
        assert!((standardised(own, data) / expected - 1.0).abs() > 1e-6);
    }
}

#[test]
fn consistency_resampling_keeps_its_level_and_has_power() {
    let sets = simulated(300);
    let test = ConsistencyTest::new(Skce::unbiased(Kernel::exponential())).with_replicates(99);
    let rejected = rejections(&test, &[0.05], sets, |rng| draw(Model::M1, 80, 3, rng));
    assert_binomial(rejected[0], sets, (0.05, 3.0), &rejected);
    let ece = ConsistencyTest::new(Ece::default()).with_replicates(99);
    for test in [&test as &dyn CalibrationTest, &ece] {
        let rejected = rejections(test, &[0.05], 10, |rng| draw(Model::M3, 80, 3, rng));
        assert_eq!(rejected, [10]);
    }
}

/// Says 90 % and is right half of the time: every estimator finds it, and none where it is right
/// nine times of ten.
#[test]
fn every_estimator_is_a_statistic() {
    let rows = vec![vec![0.9, 0.1]; 40];
    let half: Vec<usize> = (0..40).map(|i| i % 2).collect();
    let tenth: Vec<usize> = (0..40).map(|i| usize::from(i % 10 == 0)).collect();
    fn check<S: Statistic>(statistic: S, rows: &[Vec<f64>], half: &[usize], tenth: &[usize]) {
        let test = ExactTest::new(statistic).with_replicates(19);
        assert_eq!(test.p_on(rows, half, 1), 0.05);
        assert!(test.p_on(rows, tenth, 1) > 0.5);
    }
    check(Skce::biased(exponential(0.4)), &rows, &half, &tenth);
    check(Mmce::default(), &rows, &half, &tenth);
    check(Ece::default(), &rows, &half, &tenth);
    check(Mce::default(), &rows, &half, &tenth);
    check(Tce::default(), &rows, &half, &tenth);
    check(Cwce::default(), &rows, &half, &tenth);
    check(KolmogorovSmirnov::default(), &rows, &half, &tenth);
    check(SmoothEce::default(), &rows, &half, &tenth);
}

#[test]
fn the_seed_decides() {
    let (rows, classes) = draw(Model::M1, 50, 4, &mut rng(85));
    let exact = ExactTest::new(Skce::unbiased(Kernel::exponential()));
    let consistency = ConsistencyTest::new(Mmce::default()).with_replicates(200);
    let tests: [&dyn CalibrationTest; 2] = [&exact, &consistency];
    for test in tests {
        let p = |seed| test.p_on(&rows, &classes, seed);
        assert_eq!(p(1), p(1));
        assert!((2..6).any(|seed| p(seed) != p(1)));
    }
}

#[test]
fn what_data_can_get_wrong() {
    let (rows, classes) = draw(Model::M1, 10, 3, &mut rng(86));
    let evaluate = |test: &dyn CalibrationTest, n: usize| {
        let (p, y) = (categorical(&rows[..n]), labels(&classes[..n]));
        test.outcome(&p, &y, &mut rng(0))
    };
    let skce = Skce::unbiased(exponential(0.4));
    let none = ExactTest::new(skce).with_replicates(0);
    assert!(matches!(evaluate(&none, 10), Err(Error::Parameter { .. })));
    for test in [
        &ExactTest::new(skce) as &dyn CalibrationTest,
        &ConsistencyTest::new(skce),
        &ExactTest::new(Skce::block(exponential(0.4), 7)),
    ] {
        assert!(evaluate(test, 1).is_err());
    }
    let nan = |_: &Categorical, _: &Tensor<1, Int>| -> Result<f64> { Ok(f64::NAN) };
    let error = evaluate(&ExactTest::new(nan), 10).unwrap_err();
    contains(&error, "NaN");
    let outcome = ExactTest::new(skce).outcome(&categorical(&rows), &labels(&[7; 10]), &mut rng(0));
    refuses(outcome);
}
