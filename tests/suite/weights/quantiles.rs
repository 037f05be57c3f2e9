//! Forecasts by quantiles, of samples with weights.

use super::*;
use burn_calibration::estimator::regression::QuantileCoverage;

const LEVELS: [f64; 3] = [0.25, 0.5, 0.75];

/// Targets of 1 to 40, of which those above 20 count three times, an effective number of 32, and forecasts of 18, 20 and
/// 30 for each.
fn forty() -> (QuantileForecasts, Tensor<2>) {
    let targets: Vec<Vec<f64>> = (1..=40).map(|y| vec![f64::from(y)]).collect();
    let weights: Vec<f64> = (0..40).map(|i| if i < 20 { 1.0 } else { 3.0 }).collect();
    let forecasts = forecasts(vec![vec![18.0, 20.0, 30.0]; 40]);
    forecasts
        .weighted(&weight_tensor(&weights), &tensor(&targets))
        .unwrap()
}

fn forecasts(rows: Vec<Vec<f64>>) -> QuantileForecasts {
    QuantileForecasts::new(LEVELS.to_vec(), tensor(&rows)).unwrap()
}

/// Of 80 by weight 17 are below the first quantile and 18 at most there. The intervals and p-values are of four million
/// draws of exponential weights by NumPy, the scores too.
#[test]
fn numbers_by_hand() {
    let (p, y) = forty();
    let found = QuantileCoverage::by_level(&p, &y).unwrap();
    let expected = [
        [17.0 / 80.0, 18.0 / 80.0],
        [19.0 / 80.0, 20.0 / 80.0],
        [47.0 / 80.0, 50.0 / 80.0],
    ];
    let limits = [
        (0.11814, 0.39203, 1.0),
        (0.13630, 0.42154, 0.0039),
        (0.39955, 0.79964, 0.1980),
    ];
    for ((found, expected), (low, high, p_value)) in found.iter().zip(expected).zip(limits) {
        assert_relative(found.inside, expected[0], 1e-12);
        assert_relative(found.covered, expected[1], 1e-12);
        let interval = found.interval(0.95).unwrap();
        assert_near(interval.lower, low, 1e-3);
        assert_near(interval.upper, high, 1e-3);
        assert_near(found.p_value, p_value, 1e-3);
        assert!(!found.is_bound());
    }
    let score = WeightedIntervalScore.mean(&p, &y).unwrap();
    assert_relative(score.estimate, 8.066666666666666, 1e-12);
    let parts = WeightedIntervalScore.parts(&p, &y).unwrap();
    let sum = [
        parts.dispersion,
        parts.overprediction,
        parts.underprediction,
    ];
    let sum: f64 = sum.iter().map(|part| part.estimate).sum();
    assert_relative(sum, score.estimate, 1e-12);
    let map = ConformalShiftConfig::new().fit(p, y).unwrap();
    // weights of ½ and 3/2 beside the new sample's 1: ranks of 10.25, 20.5 and 30.75
    assert_eq!(map.shifts(), [1.0, 7.0, 4.0]);
    assert_relative(map.report().unwrap().objective, 7.225, 1e-12);
}

/// The level of 0.05 needs 19 samples, which 40 are not by their effective number.
#[test]
fn few_effective_samples() {
    let levels = vec![0.05, 0.95];
    let forecasts = QuantileForecasts::new(levels, tensor(&[[-1.0, 1.0]; 40])).unwrap();
    let weights: Vec<f64> = (0..40).map(|i| if i < 10 { 100.0 } else { 1.0 }).collect();
    let targets = tensor(&[[0.0]; 40]);
    let (p, y) = forecasts
        .weighted(&weight_tensor(&weights), &targets)
        .unwrap();
    refuses(ConformalShiftConfig::new().fit(p, y));
}

/// Weights that are the likelihood ratios of use to fit: errors grow with `x`, which is uniform where the shifts are
/// fitted and of density `2x` where they are used. A central interval of 50 % covers that there; without weights it
/// does not.
#[test]
fn shifts_cover_where_they_are_used() {
    let mut rng = rng(971);
    let (trials, n) = (300, 100);
    let (mut covered, mut without) = (0, 0);
    for _ in 0..trials {
        let mut draw = |x: f64| vec![x * x * rng.random_range(-1.0..1.0)];
        let x: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect();
        let targets: Vec<Vec<f64>> = x.iter().map(|&x| draw(x)).collect();
        let used: Vec<Vec<f64>> = x.iter().map(|&x| draw(x.sqrt())).collect();
        let plain = forecasts(vec![vec![0.0; 3]; n]);
        let targets = tensor(&targets);
        let weighted = plain.weighted(&weight_tensor(&x), &targets).unwrap();
        let fit = |(p, y): (QuantileForecasts, Tensor<2>)| {
            let shifts = ConformalShiftConfig::new().fit(p, y).unwrap().shifts();
            let is_inside = |y: &&Vec<f64>| shifts[0] <= y[0] && y[0] <= shifts[2];
            used.iter().filter(is_inside).count()
        };
        covered += fit(weighted);
        without += fit((plain, targets));
    }
    let share = |count: usize| count as f64 / (trials * n) as f64;
    assert!((0.49..0.54).contains(&share(covered)), "{}", share(covered));
    assert!(share(without) < 0.45, "{}", share(without));
}

/// Of calibrated forecasts with weights that depend on them the omnibus test and the p-values of the coverage keep their
/// level.
#[test]
fn error_rates() {
    let mut rng = rng(972);
    let (trials, n) = (300, 40);
    let mut rejected = [0; 2];
    for _ in 0..trials {
        let scales: Vec<f64> = (0..n).map(|_| rng.random_range(0.1..2.0)).collect();
        let rows = scales.iter().map(|s| vec![-s, 0.0, *s]).collect();
        let p = forecasts(rows);
        let y = p.sample(&mut rng);
        let weights: Vec<f64> = scales.iter().map(|s| 1.0 / (s * s)).collect();
        let (p, y) = p.weighted(&weight_tensor(&weights), &y).unwrap();
        let omnibus = OmnibusTest::new().with_redraws(19);
        let outcome = omnibus.outcome(&p, &y, &mut rng).unwrap();
        let coverage = QuantileCoverage::by_level(&p, &y).unwrap();
        let p_values = [outcome.p_value, coverage[1].p_value];
        for (count, p_value) in rejected.iter_mut().zip(p_values) {
            *count += usize::from(p_value <= 0.1 + 1e-9);
        }
    }
    // 30 expected, and 5.2 standard deviation; the p-values of shares are bounds
    assert!((12..=49).contains(&rejected[0]), "{rejected:?}");
    assert!(rejected[1] <= 49, "{rejected:?}");
}

/// Where one sample has half of the weight, its side of a level near 0 or 1 is no proof: p-values are at most 1 % in at most
/// 1 % of calibrated data sets, and intervals hold.
#[test]
fn one_heavy_sample() {
    let mut rng = rng(974);
    let (trials, n) = (400, 60);
    let levels = vec![0.025, 0.975];
    let rows = tensor(&vec![vec![0.025, 0.975]; n]);
    let weights: Vec<f64> = (0..n).map(|i| if i == 7 { 59.0 } else { 1.0 }).collect();
    let [mut small, mut missed] = [0; 2];
    for _ in 0..trials {
        let p = QuantileForecasts::new(levels.clone(), rows.clone()).unwrap();
        let y: Vec<Vec<f64>> = (0..n).map(|_| vec![rng.random()]).collect();
        let (p, y) = p.weighted(&weight_tensor(&weights), &tensor(&y)).unwrap();
        for coverage in QuantileCoverage::by_level(&p, &y).unwrap() {
            let Interval {
                lower: low,
                upper: high,
                ..
            } = coverage.interval(0.95).unwrap();
            small += usize::from(coverage.p_value <= 0.01);
            missed += usize::from(coverage.expected < low || high < coverage.expected);
        }
    }
    // of 800: at most 8, and 40 with a standard deviation of 6.2; the heavy sample is beyond in 20
    assert!(small <= 8 && missed <= 58, "{small}, {missed}");
}

/// Levels of whole weights are those of repeated rows, and a model that is wrong where weights are large is found.
#[test]
fn weights_direct_the_test() {
    let n = 200;
    let targets: Vec<Vec<f64>> = (0..n)
        .map(|i| vec![[-2.0, -0.5, 0.5, 2.0][i % 4]])
        .collect();
    let p = forecasts(vec![vec![-1.0, 0.0, 1.0]; n]);
    let y = tensor(&targets);
    let weight = |i: usize| if i % 20 == 3 { 9.0 } else { 1.0 };
    let weights: Vec<f64> = (0..n).map(weight).collect();
    let rows: Vec<usize> = (0..n).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let repeated = QuantileCoverage::by_level(&p.select_rows(&rows), &y.select_rows(&rows));
    let (weighted, of_weighted) = p.weighted(&weight_tensor(&weights), &y).unwrap();
    let found = QuantileCoverage::by_level(&weighted, &of_weighted).unwrap();
    for (found, expected) in found.iter().zip(repeated.unwrap()) {
        assert_relative(found.estimate, expected.estimate, 1e-12);
    }
    let test = OmnibusTest::new().with_redraws(199);
    let outcome = test.outcome(&weighted, &of_weighted, &mut rng(973));
    assert!(outcome.unwrap().p_value <= 0.01);
    assert!(Summarised(test).p_value(&p, &y, 973) > 0.01);
}
