//! What is usual for regression. References by scipy 1.17 and numpy (`scipy.stats.norm`, `kstest`,
//! `chisquare`, `ttest_1samp`) on twelve predictions, by hand, and by simulation.

use burn_calibration::{
    error::Result,
    estimator::regression::{
        Ence, IntervalCoverage, Pinball, Pit, QuantileCalibration, Sharpness, pinball,
    },
};

use super::*;
use crate::prelude::*;

const MEANS: [f64; 12] = [
    0.13, -0.13, 0.64, 0.1, -0.54, 0.36, 1.3, 0.95, -0.7, -1.27, -0.62, 0.04,
];
const DEVIATIONS: [f64; 12] = [
    1.76, 0.36, 1.54, 0.6, 1.77, 1.22, 0.81, 1.02, 0.35, 0.51, 1.44, 1.4,
];
const TARGETS: [f64; 12] = [
    2.2, -0.09, -0.85, -0.62, -1.59, 0.71, 0.24, 0.67, -0.77, -0.91, -0.22, 0.69,
];

fn twelve() -> (Normal, Tensor<2>) {
    (
        Normal::new(column(MEANS), column(DEVIATIONS)),
        column(TARGETS),
    )
}

#[test]
fn probability_integral_transforms() {
    let (predictions, targets) = twelve();
    let pit = Pit::new(&predictions, &targets).unwrap();
    let expected = [
        0.8802298055646992,
        0.5442358810453114,
        0.1666389593262962,
        0.11506967022170822,
        0.276516851358641,
        0.6128999060373155,
        0.09532782764796704,
        0.39184643522850693,
        0.4207402905608969,
        0.7598693486232886,
        0.609408524566425,
        0.6787784711628847,
    ];
    assert_eq!(pit.dimensions(), 1);
    all_relative(pit.values(0), expected, 1e-13);
    let test = pit.kolmogorov_smirnov(0);
    all_relative([test.statistic], [0.15679731804337804], 1e-12);
    assert!((test.p_value - 0.885827740115799).abs() < 2e-3); // exact: kstest
    let histogram = pit.histogram(0, 4).unwrap();
    assert_eq!(histogram.counts, [3, 3, 4, 2]);
}

/// Against `scipy.stats.kstwo.sf(x/√n, n)`, on the numbers `i/n + D`, `D = x/√n`, whose distance from
/// uniform is `D`.
#[test]
fn kolmogorov_smirnov_tail() {
    for (n, x, exact) in [
        (50, 0.5, 0.94879),
        (50, 1.0, 0.24581),
        (50, 1.8, 0.00241),
        (200, 0.8, 0.52557),
        (200, 1.5, 0.02057),
    ] {
        let distance = x / f64::from(n).sqrt();
        let quantile = |i: i32| {
            let u = f64::from(i) / f64::from(n) + distance;
            match u < 0.5 {
                true => (2.0 * u).ln(),
                false => -(2.0 * (1.0 - u).max(1e-12)).ln(),
            }
        };
        let targets: Vec<f64> = (0..n).map(quantile).collect();
        let standard = Laplace::new(repeated(0.0, targets.len()), repeated(1.0, targets.len()));
        let pit = Pit::new(&standard, &column(&targets)).unwrap();
        let test = pit.kolmogorov_smirnov(0);
        assert!((test.statistic - distance).abs() < 1e-9);
        let error = (test.p_value - exact).abs();
        assert!(error < 4e-4, "{n} {x}: {}", test.p_value);
    }
}

#[test]
fn quantiles_and_intervals() {
    let (predictions, targets) = twelve();
    let levels = vec![0.1, 0.25, 0.5, 0.75, 0.9];
    let estimator = QuantileCalibration::new(levels).unwrap();
    let curve = estimator.curve(&predictions, &targets).unwrap();
    let counts: Vec<f64> = curve.points.iter().map(|p| 12.0 * p.frequency).collect();
    all_relative(counts, [1.0, 3.0, 6.0, 10.0, 12.0], 1e-15);
    all_relative([curve.mean_absolute_error()], [0.04], 1e-14);
    all_relative([curve.mean_squared_error()], [0.0034444444444444444], 1e-13);
    all_relative([estimator.on(&predictions, &targets)], [0.04], 1e-14);
    for (level, inside, width) in [
        (0.5, 7.0, 1.436663167917654),
        (0.9, 12.0, 3.5035382254066363),
    ] {
        let intervals = IntervalCoverage::new(level);
        let coverage = intervals.coverage(&predictions, &targets).unwrap();
        all_relative([coverage.estimate * 12.0], [inside], 1e-14);
        let found = intervals.width(&predictions, &targets).unwrap();
        all_relative([found.estimate], [width], 1e-13);
        let error = intervals.on(&predictions, &targets);
        all_relative([error], [(inside / 12.0 - level).abs()], 1e-14);
    }
    let pinball = Pinball::new(vec![0.1, 0.5, 0.9]).unwrap();
    let expected = [0.13164717772290607, 0.3558333333333334, 0.14315190839716654];
    let got: Vec<f64> = pinball
        .by_level(&predictions, &targets)
        .unwrap()
        .iter()
        .map(|mean| mean.estimate)
        .collect();
    all_relative(got, expected, 1e-13);
    all_relative(
        [pinball.on(&predictions, &targets)],
        [expected.iter().sum::<f64>() / 3.0],
        1e-13,
    );
}

/// A target at the median is at most the median.
#[test]
fn ties_with_a_quantile() {
    let predictions = Laplace::new(column([0.3, 0.1]), column([2.0, 0.7]));
    let median = QuantileCalibration::new(vec![0.5]).unwrap();
    let curve = median.curve(&predictions, &column([0.3, 0.1])).unwrap();
    assert_eq!(curve.points[0].frequency, 1.0);
    // ranks among the draws 0 and 1, of which ½ has a share: 0 to ⅔, ⅓ to ⅔, and ⅓ to 1
    let draws = samples(&vec![vec![vec![0.0], vec![1.0]]; 3]);
    let curve = median.curve(&draws, &column([0.0, 0.25, 1.0])).unwrap();
    all_relative([curve.points[0].frequency], [0.5], 1e-15);
}

#[test]
fn standard_deviations() {
    let (predictions, targets) = twelve();
    let bins = Ence::new(3).bins(&predictions, &targets).unwrap();
    let variance: Vec<f64> = bins.iter().map(|bin| bin.root_mean_variance).collect();
    let error: Vec<f64> = bins.iter().map(|bin| bin.root_mean_squared_error).collect();
    assert_eq!(
        bins.iter().map(|bin| bin.size).collect::<Vec<_>>(),
        [4, 4, 4]
    );
    let expected = [0.4669582422444217, 1.1341186004999653, 1.6336844860621036];
    all_relative(variance, expected, 1e-14);
    let expected = [0.40450587140361755, 0.6608706378709831, 1.3935117509371782];
    all_relative(error, expected, 1e-14);
    let ence = Ence::new(3).on(&predictions, &targets);
    all_relative([ence], [0.23267949156287526], 1e-13);

    let deviation = Sharpness.on(&predictions, &targets);
    all_relative([deviation], [1.065], 1e-14);
    let variance = Sharpness.variance(&predictions).unwrap();
    all_relative([variance.estimate], [1.391066666666667], 1e-14);
}

/// Twice the pinball score over a fine grid of levels is the CRPS.
#[test]
fn pinball_and_crps() {
    let predictions = normal_mixture(3);
    let targets = column([-2.0, 0.25, 1.9]);
    let levels = (0..2000).map(|k| (f64::from(k) + 0.5) / 2000.0).collect();
    let mean = Pinball::new(levels).unwrap();
    let mean = mean.on(&predictions, &targets);
    let crps = Crps.mean(&predictions, &targets).unwrap().estimate;
    assert!((2.0 * mean - crps).abs() < 1e-4 * crps);
}

#[test]
fn pinball_loss() {
    let rng = &mut rng(1);
    let levels = [0.1, 0.5, 0.9];
    let (n, l) = (4, levels.len());
    let parameters = [random_rows(n, l, 2.0, rng), random_rows(n, 1, 2.0, rng)];
    let score = |p: &[Tensor<2>]| pinball(p[0].clone(), p[1].clone().reshape([n]), &levels);
    let expected: Vec<f64> = (0..n)
        .map(|i| {
            let y = parameters[1][i][0];
            let terms = parameters[0][i].iter().zip(&levels).map(|(q, tau)| {
                let above = y - q;
                if above >= 0.0 {
                    tau * above
                } else {
                    (tau - 1.0) * above
                }
            });
            terms.sum::<f64>() / l as f64
        })
        .collect();
    let tensors = [tensor(&parameters[0]), tensor(&parameters[1])];
    all_relative(vector(score(&tensors)), &expected, 1e-14);
    check_gradients(&parameters, |p| score(&p));
    let loss = PinballLossConfig::new(levels.to_vec()).init();
    let value = scalar(loss.forward(tensors[0].clone(), tensors[1].clone().reshape([n])));
    all_relative([value], [expected.iter().sum::<f64>() / n as f64], 1e-14);
}

/// Of samples: by hand, and randomised where mass is at the target.
#[test]
fn transforms_of_samples() {
    let predictions = samples(&vec![vec![vec![0.0], vec![1.0], vec![1.0], vec![2.0]]; 3]);
    let targets = column([-1.0, 1.0, 5.0]);
    let rng = &mut rng(2);
    let mid = Pit::new(&predictions, &targets).unwrap();
    assert_eq!(mid.values(0), [0.0, 0.5, 1.0]);
    let ranks = Pit::randomised(&predictions, &targets, rng).unwrap();
    for (value, (low, high)) in ranks
        .values(0)
        .iter()
        .zip([(0.0, 0.2), (0.2, 0.8), (0.8, 1.0)])
    {
        assert!(
            (low..high).contains(value),
            "{value} not in [{low}, {high})"
        );
    }
}

/// Calibrated predictions of every kind pass all checks, ones that are too certain fail all.
#[test]
fn simulated() {
    let n = 4000;
    let rng = &mut rng(3);
    let location = column(random_rows(n, 1, 3.0, rng).concat());
    let scale = column(positive_rows(n, 1, [0.5, 2.0], rng).concat());
    let mixture = Mixture::ensemble(&[
        Normal::new(location.clone() - 1.0, scale.clone()),
        Normal::new(location.clone() + 1.0, scale.clone()),
    ]);
    check_kind(&mixture, &mixture.sample(rng), true);
    let laplace = Laplace::new(location.clone(), scale.clone());
    let targets = laplace.sample(rng);
    check_kind(&laplace, &targets, true);
    check_kind(
        &Laplace::new(location.clone(), scale * 0.7),
        &targets,
        false,
    );

    // few draws: randomised ranks are uniform, the empirical distribution is too certain
    let draws = Samples::drawn_from(&laplace, 5, rng);
    let ranks = Pit::randomised(&draws, &targets, rng).unwrap();
    assert!(ranks.kolmogorov_smirnov(0).p_value > 0.01);
    let naive = Pit::new(&draws, &targets).unwrap();
    // the approximation is not known to hold further down
    let least = naive.kolmogorov_smirnov(0);
    assert!(least.is_bound && least.p_value == TestOutcome::ASYMPTOTIC_FLOOR);
    assert!(!ranks.kolmogorov_smirnov(0).is_bound);
}

fn check_kind<P: burn_calibration::distribution::Marginals>(
    predictions: &P,
    targets: &Tensor<2>,
    calibrated: bool,
) {
    let pit = Pit::new(predictions, targets).unwrap();
    let p_value = pit.kolmogorov_smirnov(0).p_value;
    assert_eq!(p_value > 0.01, calibrated, "{p_value}");
    let curve = QuantileCalibration::default()
        .curve(predictions, targets)
        .unwrap();
    assert_eq!(curve.points.len(), 19);
    assert_eq!(curve.mean_absolute_error() < 0.015, calibrated);
    let coverage = IntervalCoverage::new(0.8).coverage(predictions, targets);
    let coverage = coverage.unwrap();
    let error = (coverage.estimate - 0.8) / coverage.standard_error;
    assert_eq!(error.abs() < 3.5, calibrated);
    let ence = Ence::default().on(predictions, targets);
    assert_eq!(ence < 0.12, calibrated, "{ence}");
}

/// Coordinates are averaged: two equal ones give what one does, and have transforms of their own.
#[test]
fn several_coordinates() {
    let (one, targets) = twelve();
    let twice = |x: Tensor<2>| Tensor::cat(vec![x.clone(), x], 1);
    let two = Normal::new(twice(one.mean()), twice(one.standard_deviation()));
    let y = twice(targets.clone());
    let pit = Pit::new(&two, &y).unwrap();
    assert_eq!(pit.dimensions(), 2);
    assert_eq!(pit.values(0), pit.values(1));
    let quantiles = QuantileCalibration::default();
    all_relative(
        [quantiles.on(&two, &y)],
        [quantiles.on(&one, &targets)],
        1e-14,
    );
    let means = |predictions: &Normal, y: &Tensor<2>| -> Vec<MeanEstimate> {
        let intervals = IntervalCoverage::new(0.5);
        let coverage = intervals.coverage(predictions, y);
        let width = intervals.width(predictions, y);
        let variance = Sharpness.variance(predictions);
        [coverage, width, variance].map(Result::unwrap).into()
    };
    for (two, one) in means(&two, &y).iter().zip(means(&one, &targets)) {
        assert_eq!(two.samples, 12);
        all_relative([two.estimate], [one.estimate], 1e-13);
        all_relative([two.standard_error], [one.standard_error], 1e-12);
    }
}

#[test]
fn bad_input() {
    let (predictions, targets) = twelve();
    refuses(QuantileCalibration::new(vec![0.5, 1.0]));
    refuses(Pinball::new(vec![1.0]));
    refuses(IntervalCoverage::new(1.0).estimate(&predictions, &targets));
    refuses(QuantileCalibration::new(vec![]));
    refuses(Ence::new(0).estimate(&predictions, &targets));
    let pit = Pit::new(&predictions, &targets).unwrap();
    refuses(pit.histogram(0, 1));
    refuses(Pit::new(&predictions, &column([0.0])));
    let broken = Normal::new(column([0.0, f64::NAN]), column([1.0, 1.0]));
    refuses(Sharpness.estimate(&broken, &column([0.0, 0.0])));
    let equal = samples(&[vec![vec![0.0], vec![1.0]], vec![vec![2.0], vec![2.0]]]);
    refuses(Ence::default().estimate(&equal, &column([0.0, 0.0])));
}
