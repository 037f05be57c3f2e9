//! Spiegelhalter, Hosmer–Lemeshow, Cox: values, degenerate data, levels and power.

use crate::prelude::*;

/// The outcome of the test by the usual distribution.
fn outcome(test: &dyn CalibrationTest, r: &[f64], c: &[usize]) -> TestOutcome {
    test.seeded(&binary(r), &labels(c), 0)
}

/// By NumPy 2.4 and SciPy 1.17 from the formulas, with groups of four neighbours; Cox by statsmodels:
/// `sm.Logit(c, sm.add_constant(np.log(r/(1-r)))).fit(tol=1e-14)`, `params`, `bse`, `2(llf − ℓ(0, 1))`.
#[test]
fn values_of_other_programs() {
    let (r, c) = forty_events();
    let z = outcome(&Spiegelhalter::new(SECOND), &r, &c);
    assert_relative(z.statistic, 2.953007570815701, 1e-13);
    assert_relative(z.p_value, 0.00314694244971851, 1e-9);
    let h = outcome(&HosmerLemeshow::new(SECOND), &r, &c);
    assert_relative(h.statistic, 23.61575404299863, 1e-13);
    assert_relative(h.p_value, 0.008688297051339094, 1e-9);
    let g = outcome(&Cox::new(SECOND), &r, &c);
    assert_relative(g.statistic, 14.157565334302348, 1e-12);
    assert_relative(g.estimate, 14.157565334302348 / 80.0, 1e-12);
    assert!(g.is_bound); // 8.4e-4
    let (predictions, labels) = (binary(&r), labels(&c));
    let fit = Cox::new(SECOND).fit(&predictions, &labels).unwrap();
    let (a, b) = (&fit.intercept, &fit.slope);
    let found = [a.estimate, a.standard_error, b.estimate, b.standard_error];
    let expected = [
        -0.6567444211116585,
        0.3445668862848904,
        0.2944829556371543,
        0.20621269924239582,
    ];
    all_relative(found, expected, 1e-9);
    let Interval {
        lower: low,
        upper: high,
        ..
    } = fit.slope.interval(0.95).unwrap();
    assert_relative(high - low, 2.0 * 1.959963984540054 * expected[3], 1e-9);
}

/// The intercept with the slope fixed at 1, by statsmodels:
/// `sm.GLM(c, np.ones(8), family=sm.families.Binomial(), offset=np.log(r/(1-r))).fit(tol=1e-14)`.
#[test]
fn cox_in_the_large() {
    let r = [0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 0.05, 0.9];
    let c = [0, 1, 0, 0, 1, 0, 0, 1];
    let (predictions, outcomes) = (binary(&r), labels(&c));
    let cox = Cox::new(SECOND);
    let found = cox.in_the_large(&predictions, &outcomes).unwrap();
    assert_relative(found.estimate, -0.28747182659719644, 1e-10);
    assert_relative(found.standard_error, 0.9144525604903033, 1e-10);
    // the joint one is where the log-odds are 0, and another
    let joint = cox.fit(&predictions, &outcomes).unwrap();
    assert!((joint.intercept.estimate - found.estimate).abs() > 0.01);
    // the calibrated sum is that of the events, also far from 0
    let far = [0.999_9; 40];
    let occurred: Vec<usize> = (0..40).map(|i| usize::from(i < 4)).collect();
    let (predictions, outcomes) = (binary(&far), labels(&occurred));
    let found = cox.in_the_large(&predictions, &outcomes).unwrap();
    let logit = |p: f64| (p / (1.0 - p)).ln();
    assert_relative(found.estimate, logit(0.1) - logit(0.999_9), 1e-9);
    for constant in [0, 1] {
        let (predictions, outcomes) = (binary(&r), labels(&[constant; 8]));
        refuses(cox.in_the_large(&predictions, &outcomes));
    }
    let (predictions, outcomes) = (binary(&[0.0, 0.5, 0.5]), labels(&[1, 0, 1]));
    refuses(cox.in_the_large(&predictions, &outcomes));
}

/// The same estimates where the likelihood is a sum of so many terms that rounding hides its last digits,
/// which no step can raise.
#[test]
fn many_samples() {
    let times = 2500;
    let (r, c) = forty_events();
    let fit = |r: &[f64], c: &[usize]| Cox::new(SECOND).fit(&binary(r), &labels(c)).unwrap();
    let (few, many) = (fit(&r, &c), fit(&r.repeat(times), &c.repeat(times)));
    for (few, many) in [(few.intercept, many.intercept), (few.slope, many.slope)] {
        assert_relative(few.estimate, many.estimate, 1e-8);
        let error = few.standard_error / (times as f64).sqrt();
        assert_relative(error, many.standard_error, 1e-8);
    }
}

/// The opposite event: the same test, with the intercept of the other sign.
#[test]
fn opposite_events() {
    let (r, c) = forty_events();
    let (predictions, labels) = (binary(&r), labels(&c));
    let of = |event| {
        let cox = Cox::new(event);
        let fit = cox.fit(&predictions, &labels).unwrap();
        let z = Spiegelhalter::new(event).seeded(&predictions, &labels, 0);
        [
            z.statistic,
            cox.on(&predictions, &labels),
            fit.slope.estimate,
            fit.intercept.estimate.abs(),
        ]
    };
    all_relative(of(SECOND), of(Event::Class(0)), 1e-9);
    // of two classes z does not depend on which is taken
    assert_relative(of(Event::TopLabel)[0], of(SECOND)[0], 1e-9);
}

/// What no other program gives: certain probabilities, one class, equal and separating probabilities.
#[test]
fn degenerate_data() {
    let tests: [(&dyn CalibrationTest, &str); 3] = [
        (&Spiegelhalter::new(SECOND), "z"),
        (&HosmerLemeshow::new(SECOND), "H"),
        (&Cox::new(SECOND), "G"),
    ];
    for (test, name) in tests {
        // certain and right: no evidence; certain and wrong: all there can be
        let right = outcome(test, &[0.0, 1.0, 1.0], &[0, 1, 1]);
        assert_eq!((right.statistic, right.p_value), (0.0, 1.0), "{name}");
        let wrong = outcome(test, &[0.0, 1.0, 1.0], &[0, 1, 0]);
        assert_eq!(wrong.statistic.abs(), f64::INFINITY, "{name}");
        assert!(wrong.is_bound, "{name}");
        // one sample, one class, all predictions equal
        for (r, c) in [
            (vec![0.3], vec![1]),
            (vec![0.3, 0.6, 0.8], vec![0, 0, 0]),
            (vec![0.3; 4], vec![0, 1, 0, 0]),
            (vec![0.5; 4], vec![0, 1, 0, 0]),
            (vec![1e-300, 0.5, 1.0], vec![0, 1, 1]),
        ] {
            let outcome = outcome(test, &r, &c);
            assert!(outcome.statistic.is_finite(), "{name}, {r:?}: {outcome}");
            assert!((0.0..=1.0).contains(&outcome.p_value), "{name}, {r:?}");
        }
    }
    let ratio = |r: &[f64], c: &[usize]| outcome(&Cox::new(SECOND), r, c).statistic;
    let entropy = |p: f64| p * p.ln() + (1.0 - p) * (1.0 - p).ln();
    // one class: sup ℓ = 0
    let own: f64 = [0.3f64, 0.6, 0.8].iter().map(|r| (1.0 - r).ln()).sum();
    assert_relative(ratio(&[0.3, 0.6, 0.8], &[0; 3]), -2.0 * own, 1e-12);
    // separated, in either direction
    let own = 2.0 * (0.8f64.ln() + 0.7f64.ln());
    let found = ratio(&[0.2, 0.3, 0.7, 0.8], &[0, 0, 1, 1]);
    assert_relative(found, -2.0 * own, 1e-12);
    let own = 2.0 * (0.2f64.ln() + 0.3f64.ln());
    let found = ratio(&[0.2, 0.3, 0.7, 0.8], &[1, 1, 0, 0]);
    assert_relative(found, -2.0 * own, 1e-12);
    // but for ties at the border, of which one in three occurs
    let own = 0.8f64.ln() + 2.0 * 0.6f64.ln() + 0.4f64.ln() + 0.9f64.ln();
    let found = ratio(&[0.2, 0.4, 0.4, 0.4, 0.9], &[0, 0, 1, 0, 1]);
    assert_relative(found, 2.0 * (3.0 * entropy(1.0 / 3.0) - own), 1e-12);
    // all equal: the frequency, one degree of freedom
    let equal = outcome(&Cox::new(SECOND), &[0.3; 4], &[1, 1, 0, 1]);
    let expected = 2.0 * (4.0 * entropy(0.75) - 3.0 * 0.3f64.ln() - 0.7f64.ln());
    assert_relative(equal.statistic, expected, 1e-12);
    // P(χ²_1 > 3.8414588) = 0.05 and so on: by P(χ²_1 > x) = 2Φ(−√x)
    let one = statrs_tail(expected);
    assert_relative(equal.p_value, one, 1e-9);
    for (r, c) in [
        (vec![0.2, 0.8], vec![0, 1]), // which a number separates
        (vec![0.2, 0.2], vec![0, 1]),
        (vec![0.2, 0.0, 0.4], vec![0, 1, 1]),
    ] {
        refuses(Cox::new(SECOND).fit(&binary(&r), &labels(&c)));
    }
    let (predictions, labels) = (binary(&[0.2, 0.8]), labels(&[0, 1]));
    let none = HosmerLemeshow::default().with_groups(0);
    assert!(none.estimate(&predictions, &labels).is_err());
    let third = Cox::new(Event::Class(2));
    assert!(third.estimate(&predictions, &labels).is_err());
}

/// `2Φ(−√x)` by the continued fraction of the normal tail.
fn statrs_tail(x: f64) -> f64 {
    let t = x.sqrt();
    let fraction = (1..400).rev().fold(t, |f, k| t + f64::from(k) / f);
    2.0 * (-0.5 * x).exp() / (2.0 * std::f64::consts::PI).sqrt() / fraction
}

/// Extreme log-odds and a slope far from 1: the maximum is where the gradient is 0.
#[test]
fn the_maximum_is_found() {
    let mut rng = rng(91);
    for (n, scale, slope) in [
        (50, 1.0, 1.0),
        (200, 30.0, 0.05),
        (200, 0.01, 40.0),
        (500, 10.0, -0.3),
    ] {
        let x: Vec<f64> = (0..n).map(|_| rng.random_range(-scale..scale)).collect();
        let sigma = |t: f64| 1.0 / (1.0 + (-t).exp());
        let r: Vec<f64> = x.iter().map(|x| sigma(*x)).collect();
        let c = draw_events(x.iter().map(|x| sigma(0.3 + slope * x)), &mut rng);
        let (predictions, labels) = (binary(&r), labels(&c));
        let fit = Cox::new(SECOND).fit(&predictions, &labels).unwrap();
        let (a, b) = (fit.intercept.estimate, fit.slope.estimate);
        let odds = |i: usize| r[i].ln() - (-r[i]).ln_1p(); // x but for the rounding of r
        let residual = |i: usize| c[i] as f64 - sigma(a + b * odds(i));
        let sums = (0..n).map(|i| (residual(i), residual(i) * odds(i)));
        let (first, second) = sums.fold((0.0, 0.0), |(s, t), (a, b)| (s + a, t + b));
        assert!(first.abs() < 1e-6, "{first}");
        assert!(second.abs() < 1e-6 * scale.max(1.0), "{second}");
        let away = (b - slope).abs() / fit.slope.standard_error;
        assert!(away < 4.0, "{b}, expected {slope}");
    }
}

/// Many sets at once are as one by one, for every event.
#[test]
fn evaluators_agree() {
    let mut rng = rng(92);
    let mut rows = random_probabilities(60, 3, &mut rng);
    rows[0] = vec![1.0, 0.0, 0.0];
    rows[1] = vec![0.5, 0.5, 0.0];
    rows[2] = rows[3].clone();
    let predictions = categorical(&rows);
    let sets = (predictions.redrawer().draw)(9, &mut rng);
    fn check(statistic: impl Statistic, predictions: &Categorical, sets: &RedrawnBy<Categorical>) {
        let evaluator = statistic.evaluator(predictions).unwrap();
        let values = evaluator.values(sets).unwrap();
        for (set, value) in values.into_iter().enumerate() {
            let targets = predictions.observed(&sets.set(set));
            let expected = statistic.on(predictions, &targets);
            assert_relative(value, expected, 1e-12);
        }
    }
    for event in [Event::TopLabel, Event::Class(0), Event::Class(2)] {
        check(Spiegelhalter::new(event), &predictions, &sets);
        check(HosmerLemeshow::new(event), &predictions, &sets);
        check(Cox::new(event), &predictions, &sets);
    }
}

/// Probabilities from `range`, and outcomes whose log-odds are `slope` times theirs plus `shift`.
fn drawn(
    (n, range): (usize, std::ops::Range<f64>),
    (shift, slope): (f64, f64),
    rng: &mut StdRng,
) -> (Vec<f64>, Vec<usize>) {
    let r: Vec<f64> = (0..n).map(|_| rng.random_range(range.clone())).collect();
    let truth = |r: &f64| 1.0 / (1.0 + (-shift - slope * (r / (1.0 - r)).ln()).exp());
    let c = draw_events(r.iter().map(truth), rng);
    (r, c)
}

fn rejected(
    test: &dyn CalibrationTest,
    (sets, seed): (usize, u64),
    data: impl Fn(&mut StdRng) -> (Vec<f64>, Vec<usize>),
) -> usize {
    let mut rng = rng(seed);
    let mut rejects = || {
        let (r, c) = data(&mut rng);
        let (predictions, labels) = (binary(&r), labels(&c));
        let outcome = test.outcome(&predictions, &labels, &mut rng).unwrap();
        outcome.p_value <= 0.05 + 1e-12
    };
    (0..sets).filter(|_| rejects()).count()
}

/// With 400 samples that are uncertain the usual distributions hold.
#[test]
fn levels_by_the_usual_distributions() {
    let sets = simulated(2000);
    let tests: [&dyn CalibrationTest; 3] = [
        &Spiegelhalter::new(SECOND),
        &HosmerLemeshow::new(SECOND),
        &Cox::new(SECOND),
    ];
    for test in tests {
        let count = rejected(test, (sets, 93), |rng| {
            drawn((400, 0.02..0.98), (0.0, 1.0), rng)
        });
        assert_binomial(count, sets, (0.05, 3.5), "");
    }
}

/// With few expected errors too, at its nominal level or below: there are ties.
#[test]
fn exact_levels() {
    let sets = simulated(400);
    let tests: [&dyn CalibrationTest; 3] = [
        &ExactTest::new(Spiegelhalter::new(SECOND)).with_replicates(39),
        &ExactTest::new(HosmerLemeshow::new(SECOND)).with_replicates(39),
        &ExactTest::new(Cox::new(SECOND)).with_replicates(39),
    ];
    for test in tests {
        let count = rejected(test, (sets, 94), |rng| {
            drawn((30, 0.9..0.999), (0.0, 1.0), rng)
        });
        assert_at_most(count, sets, (0.05, 3.5), "");
    }
}

/// Overconfidence is found by all, a shift by Hosmer–Lemeshow and Cox.
#[test]
fn power() {
    let sets = 60;
    let power = |test: &dyn CalibrationTest, line| {
        rejected(test, (sets, 95), |rng| drawn((400, 0.02..0.98), line, rng))
    };
    let z = Spiegelhalter::new(SECOND);
    let h = HosmerLemeshow::new(SECOND);
    let g = Cox::new(SECOND);
    for (what, line) in [("slope 0.5", (0.0, 0.5)), ("shift 0.6", (0.6, 1.0))] {
        let found = [power(&z, line), power(&h, line), power(&g, line)];
        assert!(found[1] >= 45 && found[2] >= 58, "{what}: {found:?}");
        assert_eq!(found[0] >= 58, what == "slope 0.5", "{what}: {found:?}");
    }
    let exact = ExactTest::new(g).with_replicates(39);
    assert!(power(&exact, (0.0, 0.5)) >= 58);
}
