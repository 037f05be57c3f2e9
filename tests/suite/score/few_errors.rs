//! Intervals and p-values where few errors happen, or none.

use burn_calibration::{
    distribution::Categorical,
    error::Error,
    estimator::{Skce, Tce},
    kernel::Kernel,
    score::{Brier, Improvement, LogScore, LpBound, Quantify, Score},
};
use rand::{RngExt, rngs::StdRng};

use crate::data::*;

fn shifted(p: f64, factor: f64) -> f64 {
    let odds = factor * p / (1.0 - p);
    odds / (1.0 + odds)
}

/// Probabilities of an event of about 1 %.
fn rare(n: usize, rng: &mut StdRng) -> Vec<f64> {
    (0..n)
        .map(|_| 1e-4 - 0.01 * rng.random::<f64>().ln())
        .map(|p| p.min(0.3))
        .collect()
}

fn drawn(truth: &[f64], rng: &mut StdRng) -> Vec<usize> {
    truth
        .iter()
        .map(|&p| usize::from(rng.random::<f64>() < p))
        .collect()
}

fn predictions(events: &[f64]) -> Categorical {
    categorical(&events.iter().map(|&p| vec![1.0 - p, p]).collect::<Vec<_>>())
}

/// A share that must be at least so much, but for four binomial standard deviations.
fn at_least(count: usize, runs: usize, share: f64, what: &str) {
    let deviation = (share * (1.0 - share) / runs as f64).sqrt();
    let found = count as f64 / runs as f64;
    println!("{what}: {found}");
    assert!(found > share - 4.0 * deviation, "{what}: {found}");
}

/// The second model has the true probabilities and the first has two thirds of the odds, or the other way round.
/// Student's interval covers the difference in 40 % of these data sets.
#[test]
fn differences_of_scores_are_covered() {
    let runs = 400;
    for n in [20, 50, 200] {
        for factor in [1.5, 1.0 / 1.5] {
            let mut rng = rng(901);
            let mut covered = [0; 2];
            let mut not_wrong = [0; 2];
            for _ in 0..runs {
                let truth = rare(n, &mut rng);
                let other: Vec<f64> = truth.iter().map(|&p| shifted(p, factor)).collect();
                let y = drawn(&truth, &mut rng);
                let pair = (predictions(&other), predictions(&truth));
                let brier = |p: f64, event: bool| 2.0 * (if event { 1.0 - p } else { p }).powi(2);
                let log = |p: f64, event: bool| -(if event { p } else { 1.0 - p }).ln();
                type OfEvent<'a> = &'a dyn Fn(f64, bool) -> f64;
                let gains = [
                    (
                        Brier.improvement(&pair.0, &pair.1, &labels(&y)),
                        &brier as OfEvent,
                    ),
                    (LogScore.improvement(&pair.0, &pair.1, &labels(&y)), &log),
                ];
                for (k, (gain, score)) in gains.into_iter().enumerate() {
                    let gain: Improvement = gain.unwrap();
                    let of = |p: f64, q: f64| q * score(p, true) + (1.0 - q) * score(p, false);
                    let terms = truth.iter().zip(&other).map(|(&q, &p)| of(q, q) - of(p, q));
                    let expected = terms.sum::<f64>() / n as f64;
                    let (low, high) = gain.confidence_interval(0.95).unwrap();
                    covered[k] += usize::from(low <= expected && expected <= high);
                    not_wrong[k] += usize::from(low <= 0.0); // the truth is never worse
                }
            }
            for k in 0..2 {
                at_least(
                    covered[k],
                    runs,
                    0.95,
                    &format!("covered, {n} at odds × {factor:.2}"),
                );
                at_least(not_wrong[k], runs, 0.975, "the truth is not worse");
            }
        }
    }
}

/// Fifty rows without an error: the jackknife would be sure of a difference.
#[test]
fn no_difference_of_the_skce_without_errors() {
    let truth = rare(50, &mut rng(902));
    let before: Vec<f64> = truth.iter().map(|&p| shifted(p, 1.0 / 1.5)).collect();
    let gain = Skce::unbiased(Kernel::exponential()).improvement(
        &predictions(&before),
        &predictions(&truth),
        &labels(&[0; 50]),
    );
    let gain = gain.unwrap();
    let expected = Error::TooFewErrors {
        what: "an interval of the difference of two SKCE",
        needed: 20,
        got: 0,
    };
    assert_eq!(gain.confidence_interval(0.95).unwrap_err(), expected);
    assert_eq!(gain.p_value().unwrap_err(), expected);
}

/// Of a kernel that is 1 everywhere the SKCE is twice the squared mean error of an event, a rare one with four times
/// the odds. The interval of Student covers it in about half of the data sets of 50.
#[test]
fn skce_of_rare_events_is_covered() {
    use burn_calibration::kernel::Bandwidth;
    let skce = Skce::unbiased(Kernel::exponential().with_bandwidth(Bandwidth::Fixed(1e6)));
    let runs = 300;
    for n in [20, 50, 200] {
        let mut rng = rng(903);
        let mut covered = 0;
        for _ in 0..runs {
            let p = rare(n, &mut rng);
            let truth: Vec<f64> = p.iter().map(|&p| shifted(p, 4.0)).collect();
            let y = drawn(&truth, &mut rng);
            let errors = || p.iter().zip(&truth).map(|(p, q)| p - q);
            let (sum, squares) = (errors().sum::<f64>(), errors().map(|e| e * e).sum::<f64>());
            let expected = 2.0 * (sum * sum - squares) / (n * (n - 1)) as f64;
            let size = skce.size(&predictions(&p), &labels(&y)).unwrap();
            let interval = size.interval(0.95).unwrap();
            assert!(interval.upper > 0.0, "{interval:?}");
            covered += usize::from(interval.lower <= expected && expected <= interval.upper);
        }
        at_least(covered, runs, 0.95, &format!("SKCE, {n}"));
    }
}

/// Eight of eight wrong at 98 to 99 %.
#[test]
fn all_wrong_is_an_error_of_nearly_one() {
    let p = [0.010, 0.012, 0.014, 0.016, 0.018, 0.02, 0.022, 0.024];
    let size = Tce::default()
        .size(&predictions(&p), &labels(&[1; 8]))
        .unwrap();
    let interval = size.interval(0.95).unwrap();
    assert!((interval.estimate - 0.983).abs() < 0.01, "{interval:?}");
    assert!(
        interval.lower > 0.5 && interval.lower < 0.98,
        "{interval:?}"
    );
    assert!(
        interval.upper >= 0.983 && interval.upper <= 1.0,
        "{interval:?}"
    );
}

/// One prediction, off by 10 or by 70 points or not at all: of 10, 20 and 50 samples.
#[test]
fn ece_of_few_samples_is_covered() {
    let runs = 300;
    for n in [10, 20, 50] {
        for off in [0.0, 0.1, 0.7] {
            let mut rng = rng(904);
            let mut covered = 0;
            for _ in 0..runs {
                let p: Vec<f64> = (0..n).map(|_| 0.88 + 0.04 * rng.random::<f64>()).collect();
                let truth: Vec<f64> = p.iter().map(|p| p - off).collect();
                let y = drawn(&truth, &mut rng);
                let size = Tce::default().size(&predictions(&p), &labels(&y)).unwrap();
                let interval = size.interval(0.95).unwrap();
                assert!(interval.upper <= 1.0);
                covered +=
                    usize::from(interval.lower <= off + 1e-9 && off <= interval.upper + 1e-9);
            }
            at_least(covered, runs, 0.93, &format!("{n} samples off by {off}"));
        }
    }
}

/// What is at least so much has no upper end.
#[test]
fn lower_bounds_have_no_upper_end() {
    use burn_calibration::estimator::{Aspect, Event};
    let (p, g) = (predictions(&[0.1; 40]), predictions(&[0.3; 40]));
    let y: Vec<usize> = (0..40).map(|i| usize::from(i % 3 == 0)).collect();
    let bound = LpBound::of(2.0, Aspect::Event(Event::TopLabel), &p, &g, &labels(&y)).unwrap();
    let interval = bound.size().interval(0.95).unwrap();
    assert_eq!(interval.upper, f64::INFINITY);
    assert!(interval.lower < interval.estimate);
}
