//! The null distribution of the asymptotic quadratic test.

use statrs::distribution::{ContinuousCDF, Gamma, Normal};

use crate::prelude::*;

/// The variance and the skewness are those over all labellings, whatever the labels.
#[test]
fn gamma_null_by_enumeration() {
    for (n, m, seed) in [(4, 3, 62), (3, 2, 68), (3, 3, 69), (4, 2, 70)] {
        let rows = random_probabilities(n, m, &mut rng(seed));
        let h = |classes: &[usize]| {
            pair_statistic(&rows, classes, |p, q| kernel_value(&exponential(0.4), p, q))
        };
        let statistic = |classes: &[usize]| n as f64 * unbiased(&h(classes));
        let moment = |power: i32| -> f64 {
            let terms = labellings(&rows).map(|(classes, p)| p * statistic(&classes).powi(power));
            terms.sum()
        };
        assert!(moment(1).abs() < 1e-14, "an unbiased estimate of 0");
        let deviation = moment(2).sqrt();
        let skewness = moment(3) / deviation.powi(3);
        // mean 0, given deviation and skewness: shape a = 4/g², G scaled by σ/√a, shifted by σ√a
        let gamma_tail = |t: f64, skewness: f64| {
            let shape = 4.0 / (skewness * skewness);
            let gamma = Gamma::new(shape, shape.sqrt() / deviation).unwrap();
            gamma.sf(deviation * shape.sqrt() + t)
        };
        for (classes, _) in labellings(&rows) {
            let t = statistic(&classes);
            let tail = match skewness {
                g if g < 0.0 => Normal::new(0.0, deviation).unwrap().sf(t),
                g => gamma_tail(t, g).max(gamma_tail(t, g.min(8f64.sqrt()))),
            };
            let outcome = AsymptoticSkceTest::new(exponential(0.4)).outcome_on(&rows, &classes, 0);
            assert_relative(outcome.p_value, tail.max(1e-3), 1e-8);
            assert_eq!(outcome.is_bound, tail < 1e-3);
            let found = outcome.standardised.unwrap();
            assert_relative_eq!(found, t / deviation, max_relative = 1e-9, epsilon = 1e-12);
        }
    }
}

/// Predictions of one half in two classes: the SKCE is a function of `(2X − n)²` for the number `X`
/// of labels 0, and the test is the two-sided binomial one.
#[test]
fn coin_flips() {
    let rows = vec![vec![0.5, 0.5]; 100];
    let classes: Vec<usize> = (0..100).map(|i| usize::from(i >= 60)).collect();
    // P(|X − 50| ≥ 10) for X ∼ Bin(100, ½), and without the discreteness P(|Z| ≥ 2)
    let (exact, normal) = (0.056_887_9, 0.045_500_3);
    let test = AsymptoticSkceTest::new(Kernel::exponential());
    let p = test.p_on(&rows, &classes, 63);
    assert!(p > normal - 0.012 && p < exact + 0.006, "{p}");
}

#[test]
fn levels() {
    let sets = simulated(200);
    let test = AsymptoticSkceTest::new(Kernel::exponential());
    let mut data = rng(64);
    let rejected = (0..sets as u64).filter(|&set| {
        let (rows, classes) = draw(Model::M1, 80, 3, &mut data);
        test.p_on(&rows, &classes, set) <= 0.05
    });
    let rejected = rejected.count();
    assert_binomial(rejected, sets, (0.05, 3.0), rejected);
}

/// Of many samples the skewness is that of a random subset, which moves the p-value little.
#[test]
fn large_samples() {
    let (rows, classes) = draw(Model::M1, 1100, 3, &mut rng(65));
    let exact = ExactTest::new(Skce::unbiased(exponential(0.4))).with_replicates(999);
    let reference = exact.p_on(&rows, &classes, 1);
    assert!((0.1..0.9).contains(&reference), "{reference}");
    let test = AsymptoticSkceTest::new(exponential(0.4));
    let gamma = [1, 1, 2].map(|seed| test.p_on(&rows, &classes, seed));
    assert_eq!(gamma[0], gamma[1]);
    assert_ne!(gamma[0], gamma[2]);
    for p in [gamma[0], gamma[2]] {
        assert!((p - reference).abs() < 0.06, "{p}, {reference}");
    }
}

#[test]
fn degenerate_data() {
    let certain = vec![vec![1.0, 0.0]; 20];
    let test = AsymptoticSkceTest::new(exponential(0.4));
    assert_eq!(test.p_on(&certain, &[0; 20], 0), 1.0);
    // certain, and wrong: impossible under the hypothesis
    let outcome = test.seeded(&categorical(&certain), &labels(&[1; 20]), 0);
    assert_eq!((outcome.p_value, outcome.is_bound), (1e-3, true));
    assert_eq!(outcome.expected_errors, Some(0.0));
    assert_eq!(outcome.standardised, None);
    assert!(outcome.caveat.is_some());

    let evaluate = |n: usize| {
        let rows = vec![vec![0.5, 0.5]; n];
        test.outcome(&categorical(&rows), &labels(&vec![0; n]), &mut rng(0))
    };
    let error = evaluate(1).unwrap_err();
    assert!(matches!(error, Error::TooFewSamples { needed: 2, .. }));
    assert!(evaluate(2).is_ok());
}

/// Every test gives in single precision what it gives in double, up to rounding: with fixed seeds
/// the draws are the same.
#[test]
fn single_precision() {
    let (rows, classes) = draw(Model::M1, 300, 4, &mut rng(67));
    let tests: [Box<dyn CalibrationTest>; 5] = [
        Box::new(AsymptoticSkceTest::new(exponential(0.4))),
        Box::new(AsymptoticBlockSkceTest::new(exponential(0.4), 10)),
        Box::new(ExactTest::new(Skce::unbiased(exponential(0.4))).with_replicates(99)),
        Box::new(ConsistencyTest::new(Skce::biased(exponential(0.4))).with_replicates(99)),
        Box::new(CmeTest::new(exponential(0.4), 3)),
    ];
    for test in tests {
        let outcome = |dtype| {
            let rows = tensor_on(&rows, &device(), dtype);
            let predictions = Categorical::from_probabilities(rows).unwrap();
            test.seeded(&predictions, &labels(&classes), 3)
        };
        let (single, double) = (outcome(DType::F32), outcome(DType::F64));
        // a replicate may fall on the other side of the statistic, or a label be drawn anew
        assert_near(single.p_value, double.p_value, 0.025);
        let (s, d) = (single.estimate, double.estimate);
        assert_relative_eq!(s, d, max_relative = 1e-3, epsilon = 1e-6);
    }
}

/// Confident predictions of ten classes: three in five are nearly certain. Of 60 samples some ten
/// errors are expected.
fn confident(n: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = rng(seed);
    let row = |rng: &mut StdRng| {
        let scale = if rng.random_bool(0.6) { 14.0 } else { 6.0 };
        let logit = |_| scale * rng.random::<f64>().powi(3);
        softmax(&(0..10).map(logit).collect::<Vec<f64>>())
    };
    (0..n).map(|_| row(&mut rng)).collect()
}

/// The levels of the gamma null where the skewness of the labels would often see no error: labels are
/// redrawn from confident predictions.
#[test]
fn gamma_level_of_confident_predictions() {
    let sets = simulated(1500);
    let (mut data, test) = (rng(75), AsymptoticSkceTest::new(Kernel::exponential()));
    let mut rejected = [0; 3];
    for set in 0..sets as u64 {
        let predictions = categorical(&confident(60, 1000 + set));
        let labels = predictions.sample(&mut data);
        let outcome = test.outcome(&predictions, &labels, &mut data);
        let p = outcome.unwrap().p_value;
        for (rejected, level) in rejected.iter_mut().zip([0.05, 0.01, 0.001]) {
            *rejected += usize::from(p <= level);
        }
    }
    assert_binomial(rejected[0], sets, (0.05, 3.0), rejected);
    assert_binomial(rejected[1], sets, (0.01, 3.0), rejected);
    assert!(rejected[2] <= 6, "{rejected:?}"); // 1.5 expected, a probability of 0.1 % to be more
}
