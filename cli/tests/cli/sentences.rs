//! Sentences about real targets: each is there where it is true, and not where it would be false. Those about classes
//! and events are in `scripts/sentences.txt`.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::*;

const CALIBRATED: &str = "There is no evidence against calibration: p = ";
const WRONG: &str = "The model is not calibrated: p ≤ 0.001.\n";
const LOCATION: [&str; 2] = ["targets are too high", "targets are too low"];
const NARROW: &str = "predictions are too narrow";
const COVERAGE: &str = "central 50 % intervals cover ";
const TREND: [&str; 2] = [
    "further outside where predictions are high",
    "further outside where predictions are low",
];

/// Predictions of deviation 1: the answer, which stands above the table of aspects, has all of the first sentences,
/// and none of the others.
#[track_caller]
fn check(folder: &Path, rows: impl Iterator<Item = (f64, f64)>, there: &[&str], not: &[&str]) {
    let row = |(mean, target): (f64, f64)| format!("{mean:.6},1,{target:.6}\n");
    let data = "mean,sd,y\n".to_owned() + &rows.map(row).collect::<String>();
    write(folder, &[("p.csv", &data)]);
    let evaluate =
        "evaluate --predictions p.csv --label-column y --family normal --columns mean,sd --verbose";
    let text = printed(folder, evaluate);
    let (answer, _) = text.split_once("\naspects of the omnibus test").unwrap();
    for part in there {
        contains(answer, part);
    }
    lacks(answer, not);
}

/// Location and spread, each to its own side.
#[test]
fn of_real_targets() {
    let folder = folder("sentences-real");
    // the quantiles of a standard normal distribution, in an order without a trend
    let standard = Normal::standard();
    let normal = |i: usize| standard.inverse_cdf(((i * 61 % 200) as f64 + 0.5) / 200.0);
    for (shift, at) in [(0.6, 0), (-0.6, 1)] {
        let rows = (0..200).map(|i| (0.0, normal(i) + shift));
        let not = [LOCATION[1 - at], NARROW];
        check(&folder, rows, &[WRONG, LOCATION[at]], &not);
    }
    // a scale is established from below, coverage on both sides
    let rows = |factor: f64| (0..200).map(move |i| (0.0, factor * normal(i)));
    check(&folder, rows(1.6), &[WRONG, NARROW, COVERAGE], &LOCATION);
    let not = [NARROW, LOCATION[0], LOCATION[1]];
    check(&folder, rows(0.5), &[WRONG, "cover 82.0 % of"], &not);
    let rows = (0..200).map(|i| (0.0, normal(i)));
    check(
        &folder,
        rows,
        &[CALIBRATED],
        &[&LOCATION[..], &[NARROW, COVERAGE]].concat(),
    );
}

/// Targets whose location and spread are right, and that lie elsewhere than predicted.
#[test]
fn of_parts_of_real_targets() {
    let folder = folder("sentences-real-parts");
    let standard = Normal::standard();
    let level = |i: usize| ((i * 163 % 400) as f64 + 0.5) / 400.0;
    // most targets near their mean, and a tenth at three standard deviations: a variance of one
    let peaked = |u: f64| match (u - 0.5).abs() {
        side if side > 0.45 => 3.0 * (u - 0.5).signum(),
        _ => 0.352 * standard.inverse_cdf((u - 0.05) / 0.9),
    };
    let rows = (0..400).map(|i| (0.0, peaked(level(i))));
    let not = [&LOCATION[..], &TREND].concat();
    check(&folder, rows, &[WRONG, COVERAGE], &not);
    // none near its mean
    let hollow = |u: f64| 0.98 * (u - 0.5).signum() + 0.1 * (u - 0.5);
    let rows = (0..400).map(|i| (0.0, hollow(level(i))));
    let shares = "shares of targets between levels of the predictions differ from those predicted";
    check(&folder, rows, &[WRONG, "cover 0.0 % of", shares], &not);
    // errors that grow, or shrink, with the mean
    let rows = |widths: [f64; 2]| {
        (0..400).map(move |i| {
            let mean = (i % 2) as f64;
            (mean, mean + widths[i % 2] * standard.inverse_cdf(level(i)))
        })
    };
    for (widths, at) in [([0.5, 1.3], 0), ([1.3, 0.5], 1)] {
        let not = [LOCATION[0], LOCATION[1], TREND[1 - at]];
        check(&folder, rows(widths), &[WRONG, TREND[at]], &not);
    }
    let fine = [&LOCATION[..], &TREND, &[COVERAGE, "shares of targets"]].concat();
    check(&folder, rows([1.0, 1.0]), &[CALIBRATED], &fine);
}
