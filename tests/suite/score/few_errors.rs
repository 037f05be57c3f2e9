//! Intervals and p-values where few errors happen, or none.

use crate::prelude::*;

fn shifted(p: f64, factor: f64) -> f64 {
    let odds = factor * p / (1.0 - p);
    odds / (1.0 + odds)
}

/// Probabilities of an event of about 1 %.
fn rare(n: usize, rng: &mut StdRng) -> Vec<f64> {
    let p = (0..n).map(|_| 1e-4 - 0.01 * rng.random::<f64>().ln());
    p.map(|p| p.min(0.3)).collect()
}

fn drawn(truth: &[f64], rng: &mut StdRng) -> Vec<usize> {
    draw_events(truth.iter().copied(), rng)
}

/// A share that must be at least so much, but for four binomial standard deviations.
fn at_least(count: usize, runs: usize, share: f64, what: &str) {
    let deviation = (share * (1.0 - share) / runs as f64).sqrt();
    let found = count as f64 / runs as f64;
    assert!(found > share - 4.0 * deviation, "{what}: {found}");
}

/// The second model has the true probabilities and the first has two thirds of the odds, or the other way round.
/// Student's interval covers the difference in 40 % of these data sets.
#[test]
fn differences_of_scores_are_covered() {
    let runs = simulated(400);
    for n in [8, 20, 50, 200] {
        for factor in [1.5, 1.0 / 1.5] {
            let mut rng = rng(901);
            let mut differences = [0.95; 2].map(Intervals::new);
            let mut not_wrong = [0; 2];
            for _ in 0..runs {
                let truth = rare(n, &mut rng);
                let other: Vec<f64> = truth.iter().map(|&p| shifted(p, factor)).collect();
                let y = drawn(&truth, &mut rng);
                let pair = (binary(&other), binary(&truth));
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
                    let interval = gain.interval(0.95).unwrap();
                    not_wrong[k] += usize::from(interval.lower <= 0.0); // the truth is never worse
                    differences[k].push(Ok(interval), expected);
                }
            }
            for k in 0..2 {
                let what = format!("score {k}, {n} at odds × {factor:.2}");
                let widest = if n < 50 { 3.7 } else { 2.6 };
                differences[k].assert(0.95, 0, widest, what);
                at_least(not_wrong[k], runs, 0.975, "the truth is not worse");
            }
        }
    }
}

/// All risks are 0.2 %, and the other model says between 0 and 0.4 %: 0.06 events are expected of 30 samples.
#[test]
fn differences_of_rare_risks_are_covered() {
    let mut rng = rng(905);
    let runs = simulated(400);
    let truth = [0.002; 30];
    let mut covered = 0;
    for _ in 0..runs {
        let other: Vec<f64> = (0..30).map(|_| rng.random_range(1e-6..0.004)).collect();
        let y = drawn(&truth, &mut rng);
        let gain = LogScore.improvement(&binary(&other), &binary(&truth), &labels(&y));
        let Interval { lower, upper, .. } = gain.unwrap().interval(0.95).unwrap();
        let log = |p: f64| -(0.002 * p.ln() + 0.998 * (-p).ln_1p());
        let each = other.iter().map(|&p| log(0.002) - log(p));
        let expected = each.sum::<f64>() / 30.0;
        covered += usize::from(lower <= expected && expected <= upper);
    }
    at_least(covered, runs, 0.95, "the interval covers");
}

/// Models that differ in three of 100 rows, of which 30 samples often have none: the interval of the difference covers, and
/// has no ends where all rows are the same.
#[test]
fn differences_in_few_rows_are_covered() {
    let mut rng = rng(906);
    let runs = simulated(400);
    let (mut covered, mut same) = (0, 0);
    for _ in 0..runs {
        let after = |_| if rng.random::<f64>() < 0.03 { 0.9 } else { 0.5 };
        let after: Vec<f64> = (0..30).map(after).collect();
        let y = drawn(&[0.5; 30], &mut rng);
        let gain = Brier.improvement(&binary(&[0.5; 30]), &binary(&after), &labels(&y));
        let gain = gain.unwrap();
        let Interval { lower, upper, .. } = gain.interval(0.95).unwrap();
        // 2(1 − p)² in the mean of both labels: 0.5 before, 0.82 after
        covered += usize::from(lower <= 0.03 * 0.32 && 0.03 * 0.32 <= upper);
        let is_same = after == [0.5; 30];
        same += usize::from(is_same);
        assert_eq!(gain.unbounded().is_some(), is_same);
        assert_eq!(lower.is_infinite() && upper.is_infinite(), is_same);
        assert!(!is_same || gain.p_value().unwrap() == 1.0);
    }
    at_least(covered, runs, 0.95, "the interval covers");
    at_least(same, runs, 0.97f64.powi(30), "no row differs");
}

/// Fifty rows without an error: the jackknife would be sure of a difference.
#[test]
fn no_difference_of_the_skce_without_errors() {
    let truth = rare(50, &mut rng(902));
    let before: Vec<f64> = truth.iter().map(|&p| shifted(p, 1.0 / 1.5)).collect();
    let skce = Skce::unbiased(Kernel::exponential());
    let gain = skce.improvement(&binary(&before), &binary(&truth), &labels(&[0; 50]));
    let gain = gain.unwrap();
    let expected = Error::TooFewErrors {
        what: "the difference of two SKCE",
        needed: 20,
        got: 0,
    };
    assert_eq!(
        gain.interval(0.95).unwrap_err().to_string(),
        expected.to_string()
    );
    assert_eq!(
        gain.p_value().unwrap_err().to_string(),
        expected.to_string()
    );
}

/// Pairs of wrong labels within blocks tell the variance, and these are rarer: without the rule 79 of 100 intervals
/// covered at 2,000 samples with some 80 wrong labels.
#[test]
fn blocks_need_more_errors() {
    let truth = rare(2000, &mut rng(904));
    let mut wrong = vec![0; 2000];
    wrong[..200].fill(1);
    let kernel = exponential(0.2);
    for (size, needed) in [(2, Some(283)), (3, None), (25, None)] {
        let block = Skce::block(kernel, size);
        let found = block.size(&binary(&truth), &labels(&wrong)).unwrap();
        let expected = needed.map(|needed| Error::TooFewErrors {
            what: "the size of the SKCE",
            needed,
            got: 200,
        });
        let found = found.interval(0.95).err().map(|e| e.to_string());
        assert_eq!(found, expected.map(|e| e.to_string()), "{size}");
    }
}

/// Of a kernel that is 1 everywhere the SKCE is twice the squared mean error of an event, less a term of the
/// diagonal. Confident predictions of an event at a temperature of 2.5, and 70 points too high.
#[test]
fn skce_of_wrong_models_is_covered() {
    let skce = Skce::unbiased(exponential(1e6));
    let runs = simulated(300);
    type Draw = fn(&mut StdRng) -> (f64, f64);
    let confident: Draw = |rng| {
        let z = 6.0 * rng.random::<f64>();
        (1.0 / (1.0 + (-z).exp()), 1.0 / (1.0 + (-z / 2.5).exp()))
    };
    let high: Draw = |rng| {
        let p = 0.88 + 0.04 * rng.random::<f64>();
        (p, p - 0.7)
    };
    for (what, draw, n) in [("confident", confident, 100), ("high", high, 30)] {
        let mut rng = rng(903);
        let mut intervals = Intervals::new(0.95);
        for _ in 0..runs {
            let (p, truth): (Vec<f64>, Vec<f64>) = (0..n).map(|_| draw(&mut rng)).unzip();
            let y = drawn(&truth, &mut rng);
            let errors = || p.iter().zip(&truth).map(|(p, q)| p - q);
            let (sum, squares) = (errors().sum::<f64>(), errors().map(|e| e * e).sum::<f64>());
            let expected = 2.0 * (sum * sum - squares) / (n * (n - 1)) as f64;
            let size = skce.size(&binary(&p), &labels(&y)).unwrap();
            let interval = size.interval(0.95);
            assert!(
                !interval
                    .as_ref()
                    .is_ok_and(|interval| interval.upper <= 0.0)
            );
            intervals.push(interval, expected);
        }
        intervals.assert(0.95, runs.div_ceil(2) - 1, 1.9, what);
    }
}

/// Eight of eight wrong at 98 to 99 %.
#[test]
fn all_wrong_is_an_error_of_nearly_one() {
    let p = [0.010, 0.012, 0.014, 0.016, 0.018, 0.02, 0.022, 0.024];
    let size = Tce::default().size(&binary(&p), &labels(&[1; 8])).unwrap();
    let interval = size.interval(0.95).unwrap();
    assert!((interval.estimate - 0.983).abs() < 0.01, "{interval:?}");
    assert!((0.5..0.98).contains(&interval.lower), "{interval:?}");
    assert!((0.983..=1.0).contains(&interval.upper), "{interval:?}");
}

/// One prediction, off by 10 or by 70 points or not at all: of 8, 20 and 50 samples.
#[test]
fn ece_of_few_samples_is_covered() {
    let runs = simulated(300);
    for n in [8, 20, 50] {
        for off in [0.0, 0.1, 0.7] {
            let mut rng = rng(904);
            let mut intervals = Intervals::new(0.95);
            for _ in 0..runs {
                let p: Vec<f64> = (0..n).map(|_| 0.88 + 0.04 * rng.random::<f64>()).collect();
                let truth: Vec<f64> = p.iter().map(|p| p - off).collect();
                let y = drawn(&truth, &mut rng);
                let size = Tce::default().size(&binary(&p), &labels(&y)).unwrap();
                let interval = size.interval(0.95).unwrap();
                assert!(interval.upper <= 1.0);
                intervals.push(Ok(interval), off);
            }
            let widest = if off == 0.0 { 3.0 } else { 1.8 };
            intervals.assert(0.95, 0, widest, format!("{n} samples off by {off}"));
        }
    }
}

/// Of a calibrated model no lower bound is above 0, though a recalibration that lowers a rare risk is a sure gain
/// where no event happens, as in six of ten of the data sets of 50. Nor is there an upper end.
#[test]
fn lower_bounds_are_below_the_error() {
    let runs = simulated(300);
    for (order, n) in [(1.0, 50), (2.0, 8), (2.0, 50)] {
        let mut rng = rng(905);
        let mut below = 0;
        for _ in 0..runs {
            let truth = rare(n, &mut rng);
            let lower: Vec<f64> = truth.iter().map(|&p| shifted(p, 0.25)).collect();
            let y = drawn(&truth, &mut rng);
            let (p, g) = (binary(&truth), binary(&lower));
            let event = Aspect::Event(Event::Class(1));
            let bound = LpBound::of(order, event, &p, &g, &labels(&y)).unwrap();
            let parts = bound.parts().unwrap();
            for size in [&bound.size(), &parts[0], &parts[1]] {
                assert_eq!(size.interval(0.95).unwrap().upper, f64::INFINITY);
            }
            let interval = bound.size().interval(0.95).unwrap();
            below += usize::from(interval.lower == 0.0);
            let is_above = bound.size().p_value_above(0.0).unwrap() < 0.025;
            assert_eq!(is_above, interval.lower > 0.0);
        }
        at_least(below, runs, 0.975, &format!("order {order}, {n}"));
    }
}
