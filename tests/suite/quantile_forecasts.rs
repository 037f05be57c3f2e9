//! Forecasts by quantiles: scores, coverage, the test of calibration, and conformal shifts.

use burn_calibration::{
    diagram::QuantileDiagram,
    estimator::regression::{QuantileCoverage, QuantileCurve},
};
use rand_distr::{Distribution, Poisson, StandardNormal};

use crate::{data::*, loss::check_gradient, models::within_binomial};

const LEVELS: [f64; 5] = [0.025, 0.25, 0.5, 0.75, 0.975];
const QUANTILES: [[f64; 5]; 6] = [
    [0.0, 2.0, 3.0, 5.0, 9.0],
    [10.0, 20.0, 30.0, 45.0, 90.0],
    [-4.5, -1.25, 0.5, 2.0, 6.0],
    [7.0; 5],
    [100.0, 140.0, 150.0, 155.0, 160.0],
    [0.0, 0.0, 1.0, 1.0, 4.0],
];
const TARGETS: [f64; 6] = [3.0, 8.0, 6.5, 7.0, 171.0, 0.0];

fn forecasts(levels: &[f64], rows: &[Vec<f64>]) -> QuantileForecasts {
    QuantileForecasts::new(levels.to_vec(), tensor(rows)).unwrap()
}

fn column(numbers: &[f64]) -> Tensor<2> {
    tensor(&numbers.iter().map(|&y| vec![y]).collect::<Vec<_>>())
}

fn example() -> (QuantileForecasts, Tensor<2>) {
    let rows = QUANTILES.map(|row| row.to_vec());
    (forecasts(&LEVELS, &rows), column(&TARGETS))
}

/// By `weighted_interval_score` and `quantile_score` of scoringrules 0.10.0; the parts by the formulas of Bracher et
/// al. 2021 in NumPy, with interval scores.
#[test]
fn scores_agree_with_scoringrules() {
    let (p, y) = example();
    let score = WeightedIntervalScore;
    let loss = ScoreLoss::new(score).value(&p, &y);
    assert_relative(scalar(loss), 34.76 / 6.0, 1e-13);
    let each = score.each(&p, &y).unwrap();
    for (found, expected) in each.iter().zip([0.39, 13.3, 3.63, 0.0, 17.1, 0.34]) {
        assert!((found - expected).abs() < 1e-13, "{found}, {expected}");
    }
    let expected = [0.67916667, 3.15625, 4.16666667, 4.22916667, 2.25208333];
    for (level, expected) in LEVELS.into_iter().zip(expected) {
        let pinball = QuantileScore { level }.mean(&p, &y);
        assert_relative(pinball.unwrap().estimate, expected, 1e-8);
    }
    says(QuantileScore { level: 0.3 }.mean(&p, &y).unwrap_err());
    let parts = score.parts(&p, &y).unwrap();
    let found = [
        parts.dispersion,
        parts.overprediction,
        parts.underprediction,
    ];
    for (found, expected) in found.iter().zip([1.06, 1.7, 3.03333333]) {
        assert_relative(found.estimate, expected, 1e-8);
    }
    let rows = QUANTILES.map(|row| row.iter().map(|q| q + 0.03).collect::<Vec<_>>()); // off the kinks
    check_gradient(&rows, 1e-6, |values| {
        let p = QuantileForecasts::new(LEVELS.to_vec(), values).unwrap();
        score.values(&p, &y.clone().to_device(&p.device())).mean()
    });
}

/// The parts sum up to the score, with the median, without it, and of one interval; other levels have none.
#[test]
fn parts_sum_up_to_the_score() {
    let (_, y) = example();
    for kept in [&[0, 1, 2, 3, 4][..], &[0, 1, 3, 4], &[1, 3], &[2]] {
        let pick = |row: &[f64; 5]| kept.iter().map(|&k| row[k]).collect::<Vec<_>>();
        let p = forecasts(&pick(&LEVELS), &QUANTILES.each_ref().map(pick));
        let parts = WeightedIntervalScore.parts(&p, &y).unwrap();
        let sum = parts.dispersion.estimate
            + parts.overprediction.estimate
            + parts.underprediction.estimate;
        let score = WeightedIntervalScore.mean(&p, &y).unwrap().estimate;
        assert_relative(sum, score, 1e-13);
    }
    let p = forecasts(&[0.3, 0.5], &vec![vec![0.0, 1.0]; 6]);
    says(WeightedIntervalScore.parts(&p, &y).unwrap_err());
    assert!(WeightedIntervalScore.mean(&p, &y).is_ok());
}

/// By `binom` and `beta` of SciPy. Rows 0, 3 and 5 have targets that equal quantiles.
#[test]
fn coverage_agrees_with_scipy() {
    let (p, y) = example();
    let levels = QuantileCoverage::of_levels(&p, &y).unwrap();
    let intervals = QuantileCoverage::of_intervals(&p, &y).unwrap();
    let [low, high] = [0.00421074451448947, 0.8818827512429748];
    let expected = [
        (0.025, [1, 3], 0.2818633979492188, [low, high]),
        (0.25, [1, 3], 1.0, [low, high]),
        (0.5, [2, 4], 1.0, [0.043271868292741676, 0.9567281317072583]),
        (
            0.75,
            [3, 4],
            0.93212890625,
            [0.11811724875702521, 0.9567281317072583],
        ),
        (
            0.975,
            [3, 4],
            0.01753468994140628,
            [0.11811724875702521, 0.9567281317072583],
        ),
        (0.95, [1, 3], 0.0044596875000000105, [low, high]),
        (0.5, [1, 3], 1.0, [low, high]),
    ];
    assert_eq!((levels.len(), intervals.len()), (5, 2));
    let all = levels.iter().chain(&intervals);
    for (found, (level, counts, p_value, interval)) in all.zip(expected) {
        assert_relative(found.expected, level, 1e-14);
        assert_eq!(
            [found.inside, found.covered],
            counts.map(|c| f64::from(c) / 6.0)
        );
        assert_relative(found.p_value, p_value, 1e-10);
        let (lower, upper) = found.interval(0.95).unwrap().ends();
        assert_relative(lower, interval[0], 1e-8);
        assert_relative(upper, interval[1], 1e-8);
        let nearest = level.clamp(found.inside, found.covered);
        assert_relative(found.estimate, nearest, 1e-14);
    }
    assert_eq!(
        (intervals[0].lower_level, intervals[0].level),
        (Some(0.025), 0.975)
    );
    assert_eq!((levels[1].lower_level, levels[1].level), (None, 0.25));
    let curve: QuantileCurve = QuantileCoverage::curve(&levels);
    let diagram = QuantileDiagram::new(curve, 6, 0.95).unwrap();
    assert_eq!(diagram.curve.points[4].frequency, 4.0 / 6.0);
    assert_eq!(diagram.outside(), 0); // ± 0.55
}

#[test]
fn bad_forecasts() {
    let rows = |rows: &[Vec<f64>]| forecasts(&[0.1, 0.5], rows).check().unwrap_err();
    says(rows(&[vec![0.0, 0.0], vec![1.0, 0.5]]));
    says(rows(&[vec![0.0, f64::INFINITY]]));
    says(rows(&[vec![f64::NAN, 0.0]]));
    let new = |levels: &[f64]| {
        let values = tensor(&[vec![0.0, 1.0]]);
        QuantileForecasts::new(levels.to_vec(), values).unwrap_err()
    };
    says(new(&[]));
    says(new(&[0.5, 1.0]));
    says(new(&[0.5, 0.5]));
    says(new(&[0.1, 0.5, 0.9]));
    let (p, y) = example();
    says(p.check_targets(&y.clone().slice([0..5, 0..1])).unwrap_err());
    let other = forecasts(&[0.5], &vec![vec![0.0]; 6]);
    says(p.check_like(&other).unwrap_err());
    says(ConformalShiftConfig::new().fit(p.clone(), y).unwrap_err());
    let crossing = forecasts(&[0.1, 0.9], &[vec![1.0, 0.0]]);
    assert!(
        OmnibusTest::new()
            .outcome(&crossing, &column(&[0.0]), &mut rng(0))
            .is_err()
    );
}

/// Sorted, quantiles that cross never have a larger sum of pinball scores, which is computed here, whatever the
/// target; others stay.
#[test]
fn sorting_never_raises_the_pinball_scores() {
    let mut rng = rng(11);
    let pinball = |quantiles: &[f64], y: f64| -> f64 {
        let of = |(level, q): (&f64, &f64)| (level - f64::from(y < *q)) * (y - q);
        USUAL.iter().zip(quantiles).map(of).sum()
    };
    for _ in 0..200 {
        let row: Vec<f64> = USUAL.iter().map(|_| rng.random_range(-3.0..3.0)).collect();
        let sorted = forecasts(&USUAL, std::slice::from_ref(&row)).rearranged();
        assert!(sorted.check().is_ok());
        let values = vector(sorted.values());
        let y = rng.random_range(-4.0..4.0);
        assert!(pinball(&values, y) <= pinball(&row, y) + 1e-12);
        assert_eq!(vector(sorted.rearranged().values()), values);
    }
}

/// Targets fall between quantiles with the probabilities of the levels, and equal them where quantiles are equal.
#[test]
fn draws_are_between_quantiles() {
    let levels = [0.1, 0.5, 0.6, 0.9];
    let row = [0.3, 1.7, 1.7, 4.0];
    let n = 4000;
    let y = vector(forecasts(&levels, &vec![row.to_vec(); n]).sample(&mut rng(1)));
    let count = |inside: &dyn Fn(f64) -> bool| y.iter().filter(|y| inside(**y)).count();
    let counts = [
        count(&|y| y < 0.3),
        count(&|y| 0.3 < y && y < 1.7),
        count(&|y| y == 1.7),
        count(&|y| 1.7 < y && y < 4.0),
        count(&|y| y > 4.0),
    ];
    for (count, probability) in counts.into_iter().zip([0.1, 0.4, 0.1, 0.3, 0.1]) {
        assert!(within_binomial(count, n, probability, 4.0), "{counts:?}");
    }
    let point = forecasts(&levels, &vec![vec![0.0; 4]; n]);
    let y = vector(point.sample(&mut rng(1)));
    let outside = y.iter().filter(|y| **y != 0.0).count();
    assert!(within_binomial(outside, n, 0.2, 4.0), "{outside}");
}

const USUAL: [f64; 7] = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975];

/// Standard normal quantiles at the usual levels.
fn normal_quantiles(mean: f64, deviation: f64) -> Vec<f64> {
    const Z: [f64; 4] = [
        0.0,
        0.6744897501960817,
        1.2815515655446004,
        1.959963984540054,
    ];
    let z = [-Z[3], -Z[2], -Z[1], Z[0], Z[1], Z[2], Z[3]];
    z.iter().map(|z| mean + deviation * z).collect()
}

/// The quantiles of counts, by their definition.
fn poisson_quantiles(rate: f64) -> Vec<f64> {
    let quantile = |level: f64| {
        let (mut count, mut probability) = (0.0, (-rate).exp());
        let mut up_to = probability;
        while up_to < level {
            count += 1.0;
            probability *= rate / count;
            up_to += probability;
        }
        count
    };
    USUAL.map(quantile).to_vec()
}

/// Data sets of so many rows, in each of which a row gives its quantiles and its target, that are rejected at 5 %;
/// and those in which an aspect of some names is accused.
fn rejected(
    (sets, n): (usize, usize),
    names: &[&str],
    row: impl Fn(usize, &mut StdRng) -> (Vec<f64>, f64),
) -> [usize; 2] {
    let mut rng = rng(7);
    let mut counts = [0; 2];
    for _ in 0..sets {
        let (rows, y): (Vec<_>, Vec<_>) = (0..n).map(|i| row(i, &mut rng)).unzip();
        let test = OmnibusTest::new().with_redraws(99);
        let p = forecasts(&USUAL, &rows);
        let outcome = test.outcome(&p, &column(&y), &mut rng).unwrap();
        counts[0] += usize::from(outcome.p_value <= 0.05);
        let failing = outcome.failing(0.05);
        let mut failing = failing.iter();
        counts[1] += usize::from(failing.any(|aspect| names.contains(&aspect.name.as_str())));
    }
    counts
}

/// The level is exact where no target equals a quantile.
#[test]
fn calibrated_numbers_are_rejected_at_the_level() {
    let [count, _] = rejected((400, 40), &[], |i, rng| {
        let (mean, deviation) = ((i % 7) as f64, 1.0 + (i % 3) as f64);
        let z: f64 = StandardNormal.sample(rng);
        (normal_quantiles(mean, deviation), mean + deviation * z)
    });
    assert!(within_binomial(count, 400, 0.05, 3.0), "{count}");
    // also where quantiles are equal, if targets are redraws
    let [count, _] = rejected((400, 40), &[], |i, rng| {
        let quantiles = vec![0.0, 0.0, 0.0, (i % 2) as f64, 2.0, 3.0, 5.0];
        let p = forecasts(&USUAL, std::slice::from_ref(&quantiles));
        (quantiles, vector(p.sample(rng))[0])
    });
    assert!(within_binomial(count, 400, 0.05, 3.0), "{count}");
}

/// Counts equal quantiles, and no calibrated model of them is rejected more often than the level; too small ones are
/// found.
#[test]
fn calibrated_counts_are_rejected_at_most_at_the_level() {
    for rates in [[0.2, 0.5, 1.0], [1.0, 3.0, 6.0], [20.0, 60.0, 200.0]] {
        let counts = |factor: f64| {
            move |i: usize, rng: &mut StdRng| {
                let rate: f64 = rates[i % 3];
                let y = Poisson::new(factor * rate).unwrap().sample(rng);
                (poisson_quantiles(rate), y)
            }
        };
        let [count, _] = rejected((200, 60), &[], counts(1.0));
        assert!(count <= 10 + 9, "{rates:?}: {count} of 200 rejected");
        let [found, _] = rejected((20, 120), &[], counts(2.0));
        assert!(found >= 19, "{rates:?}: {found} of 20 found");
    }
}

/// Only the quantiles at 0.9 and 0.975 are too low: others are not accused more often than the level.
#[test]
fn what_is_right_is_not_accused() {
    let names = [
        "level_0.025",
        "level_0.1",
        "level_0.25",
        "level_0.5",
        "level_0.75",
        "interval_0.5",
    ];
    let [wrong, accused] = rejected((200, 100), &names, |_, rng| {
        let mut quantiles = normal_quantiles(0.0, 1.0);
        quantiles[5] = 0.75;
        quantiles[6] = 0.8;
        (quantiles, rng.sample::<f64, _>(StandardNormal))
    });
    assert!(wrong >= 190, "{wrong}");
    assert!(accused <= 10 + 9, "{accused} of 200 accused");
}

fn outcome(rows: &[Vec<f64>], y: &[f64]) -> OmnibusOutcome {
    let test = OmnibusTest::new();
    let outcome = test.outcome(&forecasts(&USUAL, rows), &column(y), &mut rng(3));
    outcome.unwrap()
}

/// Findings tell the share of targets that are covered.
#[test]
fn findings_of_coverage() {
    // targets at the quantiles of a model that is twice as wide, one for each level
    let y: Vec<f64> = (0..200)
        .map(|i| -4.0 + 8.0 * (i as f64 + 0.5) / 200.0)
        .collect();
    let narrow = outcome(&vec![normal_quantiles(0.0, 1.0); 200], &y);
    assert_eq!(narrow.p_value, 0.001);
    let findings: Vec<&str> = (narrow.failing(0.05).iter())
        .map(|aspect| aspect.finding.as_str())
        .collect();
    let finding = "central 95 % intervals cover 49.0 % of the targets, 95.0 % if calibrated";
    assert!(findings.contains(&finding), "{findings:?}");
    let finding = "the quantile at level 0.9 covers 66.0 % of the targets, 90.0 % if calibrated";
    assert!(findings.contains(&finding), "{findings:?}");
    // right on average: too high where forecasts are high, and too low where they are low
    let rows: Vec<Vec<f64>> = (0..200)
        .map(|i| normal_quantiles(if i % 2 == 0 { 0.75 } else { -0.75 }, 1.25))
        .collect();
    let mut generator = rng(1);
    let y: Vec<f64> = (0..200)
        .map(|_| StandardNormal.sample(&mut generator))
        .collect();
    let trend = outcome(&rows, &y);
    assert!(trend.p_value < 0.01);
    let of_high = trend
        .aspects
        .iter()
        .find(|a| a.name == "high_level_0.5")
        .unwrap();
    begins(
        &of_high.finding,
        "where forecasts are higher, the quantile at level 0.5 covers",
    );
    assert!(of_high.adjusted_p_value < 0.01 && of_high.estimate > 0.2);
    // one level, one row, all forecasts equal
    let p = forecasts(&[0.3], &[vec![1.0]]);
    let one = OmnibusTest::new()
        .outcome(&p, &column(&[0.0]), &mut rng(0))
        .unwrap();
    assert_eq!(one.aspects.len(), 1);
    assert!(one.p_value > 0.2);
}

/// Calibrated in coverage whatever the forecasts were: of continuous targets each shifted quantile covers `k/(n + 1)`,
/// and each interval what it says or more.
#[test]
fn conformal_shifts_cover() {
    let (mut rng, n, sets) = (rng(5), 39, 400);
    let rows = |count: usize, rng: &mut StdRng| -> (Vec<Vec<f64>>, Vec<f64>) {
        let row = |_| {
            let (mean, z) = (
                rng.random_range(-1.0..1.0),
                rng.sample::<f64, _>(StandardNormal),
            );
            // too narrow, and off by 1
            (normal_quantiles(mean + 1.0, 0.3 + 0.2 * mean), mean + z)
        };
        (0..count).map(row).unzip()
    };
    let (mut below, mut covered) = ([0; 7], [0; 3]);
    for _ in 0..sets {
        let (fitted, y) = rows(n, &mut rng);
        let map = ConformalShiftConfig::new();
        let map = map.fit(forecasts(&USUAL, &fitted), column(&y)).unwrap();
        let (new, y) = rows(1, &mut rng);
        let shifted = map.forward(forecasts(&USUAL, &new));
        shifted.check().unwrap();
        let q = vector(shifted.values());
        for (count, q) in below.iter_mut().zip(&q) {
            *count += usize::from(y[0] <= *q);
        }
        for (k, count) in covered.iter_mut().enumerate() {
            *count += usize::from(q[k] <= y[0] && y[0] <= q[6 - k]);
        }
    }
    for (count, level) in below.into_iter().zip(USUAL) {
        assert!(within_binomial(count, sets, level, 4.0), "{below:?}");
    }
    for (count, level) in covered.into_iter().zip([0.95, 0.8, 0.5]) {
        assert!(within_binomial(count, sets, level, 4.0), "{covered:?}");
    }
}

/// By hand: shifts, the order of quantiles that would cross, and a file.
#[test]
fn conformal_shifts_by_hand() {
    let levels = [0.25, 0.5, 0.75];
    // residuals 1, 2, 3 of the first and 0, 1, 2 and −10, −9, −8 of the others: n + 1 = 4
    let rows = [1.0, 2.0, 3.0].map(|y| vec![y - y, 1.0, 11.0]);
    let (p, y) = (forecasts(&levels, &rows), column(&[1.0, 2.0, 3.0]));
    let map = ConformalShiftConfig::new().fit(p.clone(), y).unwrap();
    assert_eq!(map.shifts(), [1.0, 1.0, -8.0]);
    let wide = map.forward(forecasts(
        &levels,
        &[vec![0.0, 1.0, 11.0], vec![4.0, 4.0, 4.0]],
    ));
    // the second row is 5, 5, −4 before it is put in order
    assert_eq!(vector(wide.values()), [1.0, 2.0, 3.0, 5.0, 5.0, 5.0]);
    let low = ConformalShift::from_shifts(vec![0.1, 0.2], vec![3.0, -1.0], &device()).unwrap();
    let ordered = low.forward(forecasts(&[0.1, 0.2], &[vec![0.0, 1.0]]));
    assert_eq!(vector(ordered.values()), [0.0, 0.0]);
    let high = ConformalShift::from_shifts(vec![0.5, 0.8], vec![1.0, -1.0], &device()).unwrap();
    let ordered = high.forward(forecasts(&[0.5, 0.8], &[vec![0.0, 1.0]]));
    assert_eq!(vector(ordered.values()), [1.0, 1.0]);
    says(
        map.check_levels(&forecasts(&[0.1, 0.5, 0.75], &rows))
            .unwrap_err(),
    );
    says(ConformalShift::from_shifts(vec![0.5, 0.1], vec![0.0; 2], &device()).unwrap_err());
    let file = std::env::temp_dir().join(format!("shift-{}.map", std::process::id()));
    map.save(&file).unwrap();
    let loaded = ConformalShift::load(&file, &device()).unwrap();
    assert_eq!(
        (loaded.levels(), loaded.shifts()),
        (map.levels(), map.shifts())
    );
    assert!(matches!(
        DistributionMap::load(&file, &device()).unwrap(),
        DistributionMap::Conformal(_)
    ));
    let message = load_map(&file, &device()).unwrap_err().to_string();
    ends(&message, "apply it with --family quantiles");
    std::fs::remove_file(file).unwrap();
}

/// The paired change of the score: shifts that repair a bias are a gain.
#[test]
fn improvement_of_the_score() {
    let mut rng = rng(9);
    let mut rows = |n: usize| -> (Vec<Vec<f64>>, Vec<f64>) {
        let row = |_| {
            (
                normal_quantiles(2.0, 1.0),
                rng.sample::<f64, _>(StandardNormal),
            )
        };
        (0..n).map(row).unzip()
    };
    let (held_out, y) = rows(100);
    let map = ConformalShiftConfig::new();
    let map = map.fit(forecasts(&USUAL, &held_out), column(&y)).unwrap();
    let (new, y) = rows(200);
    let (before, y) = (forecasts(&USUAL, &new), column(&y));
    let gain = Improvement::of(
        &WeightedIntervalScore,
        &before,
        &map.forward(before.clone()),
        &y,
    );
    let gain = gain.unwrap();
    let interval = gain.interval(0.95).unwrap();
    assert!(
        interval.lower < gain.difference.estimate && interval.upper < -0.5,
        "{interval:?}"
    );
    assert!(gain.p_value().unwrap() < 0.01);
    assert_eq!(map.report().unwrap().warnings, []);
    // of calibrated forecasts there is nothing to gain, which a fit often says
    let warned = (0..20).filter(|_| {
        let (held_out, y) = rows(60);
        let y: Vec<f64> = y.iter().map(|y| y + 2.0).collect();
        let map = ConformalShiftConfig::new();
        let map = map.fit(forecasts(&USUAL, &held_out), column(&y)).unwrap();
        let warnings = &map.report().unwrap().warnings;
        matches!(warnings[..], [FitWarning::NoGain { change }] if change > 0.0)
    });
    assert!(warned.count() >= 15);
}
