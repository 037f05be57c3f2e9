//! Confidence intervals of errors, and whether an error is above a tolerance.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::levels::normal;
use crate::prelude::*;

type Data = (Categorical, Tensor<1, Int>);

/// `n` predictions `(r, 1 − r)`, of which the first so many are right.
fn right(r: f64, n: usize, right: usize) -> Data {
    let classes: Vec<usize> = (0..n).map(|i| usize::from(i >= right)).collect();
    (categorical(&vec![vec![r, 1.0 - r]; n]), labels(&classes))
}

fn overconfidence((predictions, labels): &Data) -> ErrorSize {
    let size = Overconfidence::default().size(predictions, labels);
    size.unwrap()
}

/// Of equal predictions with few errors, or few right, the intervals are those of Clopper and Pearson, but for the
/// saddlepoint approximation; of even numbers those of Student, by SciPy.
#[test]
fn frequencies_by_tables() {
    let interval = |r, n, successes, level| {
        let size = overconfidence(&right(r, n, successes));
        size.interval(level).unwrap()
    };
    for (n, successes, lower, upper) in [
        (10, 0, 0.0, 0.3085),
        (10, 5, 0.1230, 0.8770),
        (10, 10, 0.6915, 1.0),
        (20, 1, 0.0013, 0.2487),
        (100, 50, 0.4003, 0.5997),
    ] {
        let found = interval(0.75, n, successes, 0.95);
        assert_near(found.estimate, 0.75 - successes as f64 / n as f64, 1e-12);
        assert_relative_eq!(0.75 - found.upper, lower, epsilon = 2e-3);
        assert_relative_eq!(0.75 - found.lower, upper, epsilon = 2e-3);
        assert_eq!(found.level, 0.95);
    }
    // in closed form
    let none = interval(0.75, 30, 0, 0.99);
    assert_near(0.75 - none.upper, 0.0, 1e-9);
    assert_near(0.75 - none.lower, 1.0 - 0.005f64.powf(1.0 / 30.0), 2e-3);
    // one class of several, and its complement
    let (predictions, labels) = right(0.75, 10, 4);
    let of = |class| {
        let event = Event::Class(class);
        let size = Overconfidence { event }.size(&predictions, &labels);
        size.unwrap().interval(0.9).unwrap()
    };
    assert_relative_eq!(of(0).lower, -of(1).upper, epsilon = 1e-12);
    assert_relative_eq!(of(0).upper, -of(1).lower, epsilon = 1e-12);
}

/// Simulates so many intervals of 95 %, of which at least a share has to cover the truth.
pub fn coverage(
    (what, sets, least): (&str, usize, f64),
    widest: f64,
    truth: f64,
    mut interval: impl FnMut(&mut StdRng) -> Result<Interval, Error>,
) {
    let (mut rng, mut intervals) = (rng(701), Intervals::new(0.95));
    for _ in 0..sets {
        intervals.push(interval(&mut rng), truth);
    }
    intervals.assert(least, 0, widest, what);
}

/// Predictions `(r, 1 − r)` with `r` of a few values, right with the probability `truth(r)`.
fn few_values(values: &[f64], n: usize, truth: impl Fn(f64) -> f64, rng: &mut StdRng) -> Data {
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    for i in 0..n {
        let r = values[i % values.len()];
        rows.push(vec![r, 1.0 - r]);
        classes.push(usize::from(!rng.random_bool(truth(r))));
    }
    (categorical(&rows), labels(&classes))
}

/// Of 93 % or more, whatever the frequencies are.
#[test]
fn overconfidence_is_covered() {
    let check = |what, n: usize, values: &'static [f64], truth: fn(f64) -> f64| {
        let count = values.len() as f64;
        let error = values.iter().map(|&r| r - truth(r)).sum::<f64>() / count;
        coverage((what, simulated(500), 0.93), 1.7, error, |rng| {
            overconfidence(&few_values(values, n, truth, rng)).interval(0.95)
        })
    };
    check("overconfidence, calibrated", 40, &[0.6, 0.9], |r| r);
    check("overconfidence, confident", 40, &[0.99], |r| r);
    check("overconfidence, too sure", 60, &[0.6, 0.8, 0.99], |r| r * r);
}

fn skce() -> Skce {
    Skce::unbiased(exponential(0.5))
}

/// Estimates of the SKCE with bandwidth ½ over the total variation. The truth is by predictions that no estimate is
/// made of.
fn skce_coverage(skce: Skce, least: f64, (pi, alpha): (f64, f64), n: usize) {
    let model = DirichletModel::new(vec![alpha; 4], pi, vec![1.0, 0.0, 0.0, 0.0]);
    let what = format!("{skce:?}, π = {pi}, n = {n}");
    let kernel = |p: &[f64], q: &[f64]| (-0.5 * l1(p, q) / 0.5).exp();
    let truth = model.skce(&kernel, 5000, &mut rng(706));
    let widest = if pi == 0.0 { 3.3 } else { 1.5 };
    coverage((&what, simulated(400), least), widest, truth, |rng| {
        let (predictions, labels) = model.sample(n, (&device(), DType::F64), rng);
        let interval = skce.size(&predictions, &labels).unwrap().interval(0.95);
        assert!((interval.as_ref()).is_ok_and(|i| 0.0 <= i.lower && i.lower <= i.upper));
        interval
    });
}

#[test]
fn skce_is_covered() {
    skce_coverage(skce(), 0.94, (0.5, 0.5), 100);
    skce_coverage(skce(), 0.91, (0.2, 0.5), 100);
    skce_coverage(skce(), 0.93, (1.0, 0.1), 60);
    skce_coverage(skce(), 0.95, (0.0, 0.5), 150);
    skce_coverage(skce(), 0.95, (0.0, 0.1), 400);
    let kernel = exponential(0.5);
    skce_coverage(Skce::block(kernel, 5), 0.94, (0.5, 0.5), 200);
}

/// Residuals of few wrong labels do not tell the variance: with the odds of errors four times as large as said,
/// one data set of eight has no error in 50 rows, and an interval of nearly [0, 0].
#[test]
fn the_skce_has_no_size_with_few_errors() {
    let (predictions, labels) = right(0.99, 50, 31);
    let size = skce().size(&predictions, &labels).unwrap();
    let expected = Error::TooFewErrors {
        what: "the size of the SKCE",
        needed: 20,
        got: 19,
    };
    assert!(size.estimate > 0.1);
    assert_eq!(
        size.interval(0.95).unwrap_err().to_string(),
        expected.to_string()
    );
    assert_eq!(
        size.p_value_above(0.0).unwrap_err().to_string(),
        expected.to_string()
    );
    let (predictions, labels) = right(0.99, 50, 30);
    let size = skce().size(&predictions, &labels).unwrap();
    assert!(size.interval(0.95).unwrap().lower > 0.05);
}

/// Few distinct predictions, each in a bin of its own: the error is known, and the estimate unbiased.
#[test]
fn tce_is_covered() {
    let tce = Tce::default();
    let check = |what: &str, least, n: usize, values: &[f64], truth: &dyn Fn(f64) -> f64| {
        let square = |r: &f64| (r - truth(*r)).powi(2);
        let error = (values.iter().map(square).sum::<f64>() / values.len() as f64).sqrt();
        // most sets of few rows have no error
        let (sets, widest) = if n < 100 {
            (500, 3.7)
        } else {
            (simulated(500), 1.5)
        };
        coverage((what, sets, least), widest, error, |rng| {
            let (predictions, labels) = few_values(values, n, truth, rng);
            tce.size(&predictions, &labels).unwrap().interval(0.95)
        })
    };
    let three = [0.6, 0.75, 0.9];
    check("TCE, calibrated", 0.95, 120, &three, &|r| r);
    check("TCE, calibrated, large", 0.95, 1200, &three, &|r| r);
    check("TCE, 10 points", 0.95, 300, &three, &|r| r - 0.1);
    check("TCE, 3 points", 0.95, 600, &three, &|r| r - 0.03);
    check("TCE, 30 points", 0.95, 300, &three, &|r| r - 0.3);
    // most data sets have no error
    check("TCE, 99 %", 0.95, 50, &[0.99], &|r| r);
    check("TCE, 97 % to 99 %", 0.95, 60, &[0.97, 0.98, 0.99], &|r| r);
    check("TCE, 90 % of ten", 0.95, 10, &[0.9], &|r| r);
}

/// A confident model that is calibrated is tolerated, also where no label is wrong.
#[test]
fn no_errors_are_no_evidence() {
    let (predictions, labels) = right(0.9, 10, 10); // one time in three
    let p = |test: &dyn CalibrationTest| test.p_value(&predictions, &labels, 0);
    assert!(p(&ToleranceTest::new(Tce::default(), 0.0)) > 0.1);
    let of_skce = ToleranceTest::new(skce(), 0.0).outcome(&predictions, &labels, &mut rng(0));
    assert!(matches!(of_skce, Err(Error::TooFewErrors { got: 0, .. })));
    assert!(p(&ToleranceTest::new(Overconfidence::default(), 0.0)) > 0.1);
}

/// At an error that equals the tolerance the test keeps its level, beyond it has power, below it
/// hardly ever rejects.
#[test]
fn tolerance() {
    let sets = 300;
    let rejections = |test: &dyn CalibrationTest, n: usize, truth: &dyn Fn(f64) -> f64| {
        let mut rng = rng(703);
        let mut rejects = || {
            let (predictions, labels) = few_values(&[0.7, 0.9], n, truth, &mut rng);
            test.p_value(&predictions, &labels, 0) <= 0.05
        };
        (0..sets).filter(|_| rejects()).count() as f64 / sets as f64
    };
    let bound = 0.05 + 3.0 * (0.05f64 * 0.95 / sets as f64).sqrt();
    let of_confidence = ToleranceTest::new(Overconfidence::default(), 0.05);
    let of_bins = ToleranceTest::new(Tce::default(), 0.05);
    let tests: [&dyn CalibrationTest; 2] = [&of_confidence, &of_bins];
    for (what, test) in ["overconfidence", "TCE"].into_iter().zip(tests) {
        let over = rejections(test, 400, &|r| r - 0.05);
        let under = rejections(test, 400, &|r| r + 0.05);
        let none = rejections(test, 400, &|r| r);
        let beyond = rejections(test, 400, &|r| r - 0.15);
        assert!(over <= bound && under <= bound, "{what}: {over}, {under}");
        assert!(none <= 0.01 && beyond >= 0.95, "{what}: {none}, {beyond}");
    }
    // of the SKCE: the unit of the kernel is squared probability
    let kernel = exponential(1e6); // 1 everywhere
    let square = 2.0 * 0.1 * 0.1; // both classes
    let test = ToleranceTest::new(Skce::unbiased(kernel), square);
    let at = rejections(&test, 150, &|r| r - 0.1);
    let beyond = rejections(&test, 150, &|r| r - 0.3);
    assert!(at <= bound + 0.02 && beyond >= 0.95, "{at}, {beyond}");
}

/// `p ≤ α` if and only if the lower end of the one-sided interval of level `1 − α` is above the
/// tolerance; of the frequencies both sides are asked for.
#[test]
fn p_values_are_those_of_the_intervals() {
    let mut rng = rng(704);
    for n in [10, 40, 150] {
        for truth in [0.0, 0.1, 0.25] {
            let (predictions, labels) = few_values(&[0.7, 0.9], n, |r| r - truth, &mut rng);
            let skce = skce().size(&predictions, &labels).unwrap();
            let tce = Tce::default().size(&predictions, &labels).unwrap();
            let count = Overconfidence::default().size(&predictions, &labels);
            let count = count.unwrap();
            for level in [0.01, 0.05, 0.2] {
                for tolerance in [1e-4, 0.003, 0.01, 0.03, 0.1, 0.2] {
                    for size in [&skce, &tce] {
                        if size.interval(0.9).is_err() {
                            assert!(size.p_value_above(tolerance).is_err()); // few wrong labels
                            continue;
                        }
                        let lower = size.interval(1.0 - 2.0 * level).unwrap().lower;
                        let p = size.p_value_above(tolerance).unwrap();
                        assert_eq!(p <= level, lower >= tolerance, "{p}, {lower}, {tolerance}");
                    }
                    let interval = count.interval(1.0 - level).unwrap();
                    let outside = interval.lower >= tolerance || interval.upper <= -tolerance;
                    let p = count.p_value_above(tolerance).unwrap();
                    assert_eq!(p <= level, outside, "{p}, {interval:?}, {tolerance}");
                }
            }
        }
    }
    // by the binomial distribution, but for the saddlepoint approximation
    let size = overconfidence(&right(0.9, 20, 2));
    for tolerance in [0.5, 0.6, 0.7] {
        let binomial = Binomial::new(0.9 - tolerance, 20).unwrap();
        let expected = 2.0 * binomial.cdf(2);
        let p = size.p_value_above(tolerance).unwrap();
        assert_relative(p, expected.min(1.0), 0.1);
    }
    assert_eq!(size.p_value_above(1.0).unwrap(), 1.0);
}

#[test]
fn intervals_of_normal_predictions() {
    let scaled = |truth: &Normal, factor: f64| {
        Normal::new(truth.mean(), truth.standard_deviation() * factor)
    };
    let size = IntervalOverconfidence::default();
    // P(|Z| ≤ 1.6449 f)
    for (what, factor, covered) in [
        ("normal intervals, calibrated", 1.0, 0.9),
        ("normal intervals, too narrow", 0.5, 0.589_181_4),
        ("normal intervals, too wide", 1.5, 0.986_369),
    ] {
        let error = 0.9 - covered;
        coverage((what, simulated(300), 0.95), 1.8, error, |rng| {
            let truth = normal(50, 1, rng);
            let targets = truth.sample(rng);
            let size = size.size(&scaled(&truth, factor), &targets).unwrap();
            size.interval(0.95)
        });
    }
    let mut rng = rng(705);
    let truth = normal(300, 2, &mut rng);
    let targets = truth.sample(&mut rng);
    let p = |factor, tolerance: f64| {
        let test = ToleranceTest::new(size, tolerance);
        test.p_value(&scaled(&truth, factor), &targets, 0)
    };
    assert!(p(1.0, 0.0) > 0.01 && p(0.5, 0.1) <= 0.001 && p(0.5, 0.45) > 0.5);
    // of one coordinate the p-value is proved; of several, each sample counts in part, and it is not
    for (d, is_proved) in [(1, true), (2, false)] {
        let truth = normal(300, d, &mut rng);
        let targets = truth.sample(&mut rng);
        let test = ToleranceTest::new(size, 0.0);
        let outcome = test.outcome(&truth, &targets, &mut rng).unwrap();
        assert_eq!(outcome.is_bound, is_proved, "{d}");
    }
}

#[test]
fn what_data_can_get_wrong() {
    let (predictions, labels) = right(0.9, 2, 1);
    refuses(skce().size(&predictions, &labels));
    let plug_in = Tce::default().with_form(TceForm::PlugIn { order: 2.0 });
    refuses(plug_in.size(&predictions, &labels));
    // one bin of one sample says nothing
    let (one, label) = right(0.9, 1, 0);
    let size = Tce::default().size(&one, &label).unwrap();
    assert_eq!(size.p_value_above(0.0).unwrap(), 1.0);
    let interval = size.interval(0.95).unwrap();
    assert_relative_eq!(interval.upper, 0.9, epsilon = 1e-12); // 90 % sure: no error is larger
    assert_eq!(interval.lower, 0.0);
    let one_block = Skce::block(Kernel::exponential(), 2).size(&predictions, &labels);
    refuses(one_block.unwrap().interval(0.95));
    let event = Event::Class(2);
    assert!(
        Overconfidence { event }
            .size(&predictions, &labels)
            .is_err()
    );
}

/// The least p-value of an approximation is a bound, and the outcome says so.
#[test]
fn the_least_p_value_above_a_tolerance_is_a_bound() {
    let (predictions, labels) = right(0.95, 2000, 1000);
    let tests: [&dyn CalibrationTest; 2] = [
        &ToleranceTest::new(Tce::default(), 0.05),
        &ToleranceTest::new(LpCalibrationError::new(2.0), 0.05),
    ];
    for test in tests {
        let outcome = test.outcome(&predictions, &labels, &mut rng(0)).unwrap();
        assert!(outcome.is_bound && outcome.p_value <= 0.001, "{outcome}");
    }
    let near = ToleranceTest::new(Tce::default(), 0.45);
    assert!(
        !near
            .outcome(&predictions, &labels, &mut rng(0))
            .unwrap()
            .is_bound
    );
}
