//! Null distributions of the asymptotic quadratic test.

use approx::assert_relative_eq;
use burn_calibration::{
    error::Error,
    hypothesis::*,
    kernel::{Bandwidth, Kernel},
};
use rand::RngExt;
use statrs::distribution::{ContinuousCDF, Gamma};

use crate::{
    data::*,
    kernel::kernel_value,
    models::{Model, draw, within_binomial},
};

const NULLS: [NullDistribution; 4] = [
    NullDistribution::Gamma,
    NullDistribution::Bootstrap,
    NullDistribution::Multiplier,
    NullDistribution::Spectrum,
];

fn fixed() -> Kernel {
    Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.4))
}

fn p_value(test: &dyn CalibrationTest, rows: &[Vec<f64>], classes: &[usize], seed: u64) -> f64 {
    test.evaluate(&categorical(rows), &labels(classes), &mut rng(seed))
        .unwrap()
        .p_value()
}

/// `n (n−1)⁻¹ n⁻¹ Σ_{i≠j} h_ij` and the like, by scalar loops.
fn off_diagonal_sum(h: &[Vec<f64>], f: impl Fn(usize, usize) -> f64) -> f64 {
    let n = h.len();
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    pairs.filter(|(i, j)| i != j).map(|(i, j)| f(i, j)).sum()
}

/// The p-value is the one that the definition gives for the same draws.
#[test]
fn multiplier_agrees_with_its_definition() {
    let n = 280; // more than one tile
    let (rows, classes) = draw(Model::M1, n, 4, &mut rng(61));
    let h = pair_statistic(&rows, &classes, |p, q| kernel_value(&fixed(), p, q));
    let replicates = 60;
    let test = AsymptoticSkceTest::new(fixed())
        .with_null(NullDistribution::Multiplier)
        .with_replicates(replicates);
    let mut rng = rng(7);
    let signs: Vec<Vec<f64>> = (0..n)
        .map(|_| {
            (0..replicates)
                .map(|_| if rng.random() { 1.0 } else { -1.0 })
                .collect()
        })
        .collect();
    let sum = |r: usize| off_diagonal_sum(&h, |i, j| signs[i][r] * signs[j][r] * h[i][j]);
    let observed = off_diagonal_sum(&h, |i, j| h[i][j]);
    let exceeding = (0..replicates).filter(|&r| sum(r) >= observed).count();
    assert!(exceeding > 2 && exceeding < 58, "{exceeding}");
    let expected = (1 + exceeding) as f64 / 61.0;
    assert_relative_eq!(p_value(&test, &rows, &classes, 7), expected);
}

/// All ways to label `n` samples, with their probabilities.
fn labellings(rows: &[Vec<f64>]) -> Vec<(Vec<usize>, f64)> {
    rows.iter().fold(vec![(vec![], 1.0)], |known, row| {
        let extend = |(classes, probability): &(Vec<usize>, f64)| -> Vec<(Vec<usize>, f64)> {
            let with = |(class, p): (usize, &f64)| {
                ([classes.as_slice(), &[class]].concat(), probability * p)
            };
            row.iter().enumerate().map(with).collect()
        };
        known.iter().flat_map(extend).collect()
    })
}

/// The variance over all labellings of four samples, the skewness by its definition.
#[test]
fn gamma_null_by_enumeration() {
    let n = 4;
    let rows = random_probabilities(n, 3, &mut rng(62));
    let h = |classes: &[usize]| pair_statistic(&rows, classes, |p, q| kernel_value(&fixed(), p, q));
    let statistic = |classes: &[usize]| n as f64 * unbiased(&h(classes));
    let moment = |power: i32| -> f64 {
        labellings(&rows)
            .iter()
            .map(|(classes, probability)| probability * statistic(classes).powi(power))
            .sum()
    };
    assert!(moment(1).abs() < 1e-14, "an unbiased estimate of 0");
    let deviation = moment(2).sqrt();

    let mut compared = 0;
    for (classes, _) in labellings(&rows) {
        let h = h(&classes);
        let mut triangle = 0.0;
        for (i, j, k) in [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)] {
            triangle += h[i][j] * h[j][k] * h[k][i] / 4.0;
        }
        let mean = |power: i32| off_diagonal_sum(&h, |i, j| h[i][j].powi(power)) / 12.0;
        let third = (8.0 * 24.0 * triangle + 4.0 * 12.0 * mean(3)) / 27.0;
        let second = 2.0 * 12.0 * mean(2) / 9.0;
        let skewness = third / second.powf(1.5);
        if !(0.01..8f64.sqrt()).contains(&skewness) {
            continue;
        }
        // mean 0, given deviation and skewness: shape a = 4/g², G scaled by σ/√a, shifted by σ√a
        let shape = 4.0 / (skewness * skewness);
        let gamma = Gamma::new(shape, shape.sqrt() / deviation).unwrap();
        let expected = gamma.sf(statistic(&classes) + deviation * shape.sqrt());
        let p = p_value(&AsymptoticSkceTest::new(fixed()), &rows, &classes, 0);
        assert_relative_eq!(p, expected, max_relative = 1e-9);
        compared += 1;
    }
    assert!(compared > 20, "{compared} of 81");
}

/// Predictions of one half in two classes: the SKCE is a function of `(2X − n)²` for the number `X`
/// of labels 0, and the test is the two-sided binomial one.
#[test]
fn coin_flips() {
    let rows = vec![vec![0.5, 0.5]; 100];
    let classes: Vec<usize> = (0..100).map(|i| usize::from(i >= 60)).collect();
    // P(|X − 50| ≥ 10) for X ∼ Bin(100, ½), and without the discreteness P(|Z| ≥ 2)
    let (exact, normal) = (0.056_887_9, 0.045_500_3);
    for null in NULLS {
        let test = AsymptoticSkceTest::new(Kernel::exponential())
            .with_null(null)
            .with_replicates(20_000);
        let p = p_value(&test, &rows, &classes, 63);
        assert!(p > normal - 0.012 && p < exact + 0.006, "{null:?}: {p}");
    }
}

#[test]
fn levels() {
    let sets = 200;
    let tests = NULLS.map(|null| {
        AsymptoticSkceTest::new(Kernel::exponential())
            .with_null(null)
            .with_replicates(99)
    });
    let mut rejected = [0; 4];
    let mut data = rng(64);
    for set in 0..sets {
        let (rows, classes) = draw(Model::M1, 80, 3, &mut data);
        for (rejected, test) in rejected.iter_mut().zip(&tests) {
            *rejected += usize::from(p_value(test, &rows, &classes, set) <= 0.05);
        }
    }
    for (null, rejected) in NULLS.iter().zip(rejected) {
        let (sets, level) = (sets as usize, 0.05);
        let conservative = matches!(null, NullDistribution::Bootstrap) && rejected < 10;
        assert!(
            conservative || within_binomial(rejected, sets, level, 3.0),
            "{null:?}: {rejected} of {sets}"
        );
    }
}

/// Beyond 512 samples the matrix is that of a random subset, which moves the p-value little.
#[test]
fn large_samples() {
    let (rows, classes) = draw(Model::M1, 700, 3, &mut rng(65));
    let p = |null, seed| {
        let test = AsymptoticSkceTest::new(fixed())
            .with_null(null)
            .with_replicates(4000);
        p_value(&test, &rows, &classes, seed)
    };
    let reference = p(NullDistribution::Multiplier, 1);
    assert!((0.1..0.9).contains(&reference), "{reference}");
    let gamma = [1, 1, 2].map(|seed| p(NullDistribution::Gamma, seed));
    assert_eq!(gamma[0], gamma[1]);
    assert_ne!(gamma[0], gamma[2]);
    for p in [gamma[0], gamma[2], p(NullDistribution::Spectrum, 1)] {
        assert!((p - reference).abs() < 0.05, "{p}, {reference}");
    }
}

#[test]
fn degenerate_data() {
    let certain = vec![vec![1.0, 0.0]; 20];
    for null in NULLS {
        let test = AsymptoticSkceTest::new(fixed())
            .with_null(null)
            .with_replicates(19);
        assert_eq!(p_value(&test, &certain, &[0; 20], 0), 1.0, "{null:?}");
        let two = p_value(
            &test,
            &random_probabilities(4, 2, &mut rng(66)),
            &[0, 1, 0, 1],
            0,
        );
        assert!((0.0..=1.0).contains(&two), "{null:?}: {two}");
    }
    // certain, and wrong: impossible under the hypothesis
    assert_eq!(
        p_value(&AsymptoticSkceTest::new(fixed()), &certain, &[1; 20], 0),
        0.0
    );

    let evaluate = |test: AsymptoticSkceTest, n: usize| {
        let rows = vec![vec![0.5, 0.5]; n];
        test.evaluate(&categorical(&rows), &labels(&vec![0; n]), &mut rng(0))
    };
    for (null, needed) in NULLS.into_iter().zip([2, 2, 2, 4]) {
        let test = AsymptoticSkceTest::new(fixed()).with_null(null);
        let error = evaluate(test, needed - 1).unwrap_err();
        assert!(matches!(error, Error::TooFewSamples { needed: n, .. } if n == needed));
        assert!(evaluate(test, needed).is_ok());
        let none = evaluate(test.with_replicates(0), 10);
        assert_eq!(none.is_err(), null != NullDistribution::Gamma);
    }
}

/// Every test gives in single precision what it gives in double, up to rounding: with fixed seeds
/// the draws are the same.
#[test]
fn single_precision() {
    use burn::tensor::DType;
    use burn_calibration::{distribution::Categorical, estimator::Skce};

    let (rows, classes) = draw(Model::M1, 300, 4, &mut rng(67));
    let quadratic = AsymptoticSkceTest::new(fixed()).with_replicates(99);
    let mut tests: Vec<Box<dyn CalibrationTest>> = vec![
        Box::new(AsymptoticBlockSkceTest::new(fixed(), 10)),
        Box::new(ExactTest::new(Skce::unbiased(fixed())).with_replicates(99)),
        Box::new(ConsistencyTest::new(Skce::biased(fixed())).with_replicates(99)),
        Box::new(FeatureTest::new(fixed())),
        Box::new(CmeTest::new(fixed(), 3)),
    ];
    for null in NULLS {
        tests.push(Box::new(quadratic.with_null(null)));
    }
    for test in tests {
        let outcome = |dtype| {
            let rows = tensor_on(&rows, &device(), dtype);
            let predictions = Categorical::from_probabilities(rows).unwrap();
            test.evaluate(&predictions, &labels(&classes), &mut rng(3))
                .unwrap()
        };
        let (single, double) = (outcome(DType::F32), outcome(DType::F64));
        // a replicate may fall on the other side of the statistic, or a label be drawn anew
        assert!(
            (single.p_value() - double.p_value()).abs() < 0.025,
            "{single}\n{double}"
        );
        assert_relative_eq!(
            single.estimate(),
            double.estimate(),
            max_relative = 1e-3,
            epsilon = 1e-6
        );
    }
}
