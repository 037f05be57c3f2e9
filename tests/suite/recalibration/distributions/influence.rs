//! Rows that would rule a fit of scales, of standard normal predictions: the squared factor is the mean of `z²`.

use rand_distr::StandardNormal;

use super::*;

/// The mean, and the rows that are set aside.
fn mean(squares: &[f64]) -> (f64, Vec<usize>) {
    let y = column(squares.iter().map(|t| t.sqrt()));
    let p = Normal::new(y.zeros_like(), y.ones_like());
    let map = Robust(VarianceScalingConfig::new()).fit(p, y).unwrap();
    let rows = match &map.report().unwrap().warnings[..] {
        [] => vec![],
        [FitWarning::SetAside { rows } | FitWarning::NoMap { rows }] => rows.clone(),
        other => panic!("{other:?}"),
    };
    (map.factors()[0].powi(2), rows)
}

/// The rows that are few among `n`: one in a hundred, and at least one.
fn few(n: usize) -> usize {
    (n / 100).max(1)
}

/// Of any data, the mean change over all rows but those named and any few more is at most the allowance.
#[test]
fn others_never_lose_more_than_the_allowance() {
    let mut rng = rng(5);
    for n in [2, 3, 7, 30, 150, 1000] {
        for set in 0..40 {
            let spread = [0.0, 1.0, 4.0, 20.0][set % 4];
            let heavy = set % 5;
            let number = |i: usize| {
                let z: f64 = rng.sample(StandardNormal);
                let scale: f64 = rng.sample(StandardNormal);
                let outlier = 10f64.powi(if i < heavy { 3 * heavy as i32 } else { 0 });
                z * z * (spread * scale).exp() * outlier
            };
            let t: Vec<f64> = (0..n).map(number).collect();
            let (mean, aside) = mean(&t);
            let kept = t.iter().enumerate().filter(|(i, _)| !aside.contains(i));
            let change = |(_, t): (usize, &f64)| t * (mean.recip() - 1.0) + mean.ln();
            let mut changes: Vec<f64> = kept.map(change).collect();
            changes.sort_by(f64::total_cmp);
            let others = &changes[few(changes.len()).min(changes.len() - 1)..];
            let rise = others.iter().sum::<f64>() / others.len() as f64;
            let allowance = 0.1 + 8.0 / (changes.len() as f64 - 1.0);
            if changes.len() > 1 {
                assert!(rise <= allowance + 1e-9, "{n} {set}: {rise}");
            }
        }
    }
}

/// `½ ln 2π + ½`, which the row that is set aside does not change.
#[test]
fn the_reported_score_is_of_the_rows_that_are_kept() {
    let mut errors = [1.0, -1.0].repeat(10);
    errors[3] = 1e6;
    let y = column(errors);
    let p = Normal::new(y.zeros_like(), y.ones_like());
    let variance = Robust(VarianceScalingConfig::new()).fit_to(&p, &y);
    let temperature = Robust(TemperatureScalingConfig::new()).fit_to(&p, &y);
    for report in [variance.report(), temperature.report()] {
        let report = report.unwrap();
        assert_eq!(report.warnings, [FitWarning::SetAside { rows: vec![3] }]);
        close(report.objective, 1.4189385332046727, 1e-12);
    }
    close(variance.factors()[0], 1.0, 1e-12);
    close(temperature.temperature(), 1.0, 1e-12);
}

/// Calibrated rows are never set aside, nor those of predictions that are all wrong alike.
#[test]
fn ordinary_rows_stay() {
    let mut rng = rng(6);
    for n in [2, 3, 5, 20, 100, 1000] {
        for factor in [0.01, 1.0, 100.0] {
            for _ in 0..20 {
                let square = |_| factor * rng.sample::<f64, _>(StandardNormal).powi(2);
                let t: Vec<f64> = (0..n).map(square).collect();
                assert!(mean(&t).1.is_empty(), "{n} {factor} {t:?}");
            }
        }
    }
}

/// One row of 10¹² among calibrated ones is named, and two that hide each other.
#[test]
fn a_ruling_row_is_named() {
    let mut t = vec![1.0; 300];
    t[17] = 1e12;
    let (one, aside) = mean(&t);
    assert_eq!(aside, [17]);
    close(one, 1.0, 1e-12);
    t[40] = 1e9;
    let (one, aside) = mean(&t);
    assert_eq!(aside, [17, 40]);
    close(one, 1.0, 1e-12);
}
