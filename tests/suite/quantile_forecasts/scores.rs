//! Scores, their parts and their change.

use rand_distr::StandardNormal;

use super::*;

/// By `weighted_interval_score` and `quantile_score` of scoringrules 0.10.0; the parts by the formulas of Bracher et
/// al. 2021 in NumPy, with interval scores.
#[test]
fn scores_agree_with_scoringrules() {
    let (p, y) = example();
    let score = WeightedIntervalScore;
    let loss = ScoreLoss::new(score).value(&p, &y);
    assert_relative(scalar(loss), 34.76 / 6.0, 1e-13);
    let each = score.each(&p, &y).unwrap();
    all_near(&each, [0.39, 13.3, 3.63, 0.0, 17.1, 0.34], 1e-13);
    let expected = [0.67916667, 3.15625, 4.16666667, 4.22916667, 2.25208333];
    for (level, expected) in LEVELS.into_iter().zip(expected) {
        let pinball = QuantileScore { level }.mean(&p, &y);
        assert_relative(pinball.unwrap().estimate, expected, 1e-8);
    }
    refuses(QuantileScore { level: 0.3 }.mean(&p, &y));
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
    refuses(WeightedIntervalScore.parts(&p, &y));
    assert!(WeightedIntervalScore.mean(&p, &y).is_ok());
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

/// The paired change of the score: shifts that repair a bias are a gain.
#[test]
fn improvement_of_the_score() {
    let mut rng = rng(9);
    let mut rows = |n: usize| -> (Vec<Vec<f64>>, Vec<f64>) {
        let row = |_| {
            let z = rng.sample::<f64, _>(StandardNormal);
            (normal_quantiles(2.0, 1.0), z)
        };
        (0..n).map(row).unzip()
    };
    let (held_out, y) = rows(100);
    let map = ConformalShiftConfig::new();
    let map = map.fit(forecasts(&USUAL, &held_out), column(&y)).unwrap();
    let (new, y) = rows(200);
    let (before, y) = (forecasts(&USUAL, &new), column(&y));
    let after = map.forward(before.clone());
    let gain = Improvement::of(&WeightedIntervalScore, &before, &after, &y);
    let gain = gain.unwrap();
    let interval = gain.interval(0.95).unwrap();
    assert!(interval.lower < gain.difference.estimate, "{interval:?}");
    assert!(interval.upper < -0.5, "{interval:?}");
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
