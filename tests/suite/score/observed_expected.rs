use crate::prelude::*;

fn counts(r: &[f64], c: &[usize]) -> ObservedExpected {
    ObservedExpected::of(SECOND, &binary(r), &labels(c)).unwrap()
}

/// SciPy: `binomtest(10, 100).proportion_ci(0.95)` is [0.0490, 0.1762].
#[test]
fn values_by_hand() {
    let c: Vec<usize> = (0..100).map(|i| usize::from(i < 10)).collect();
    let found = counts(&[0.2; 100], &c);
    assert_eq!((found.observed, found.samples), (10, 100));
    assert_relative(found.expected, 20.0, 1e-12);
    let ratio = found.ratio(0.95).unwrap();
    assert_relative(ratio.estimate, 0.5, 1e-12);
    assert_relative(ratio.lower, 0.049_005 / 0.2, 1e-4);
    assert_relative(ratio.upper, 0.176_223 / 0.2, 1e-4);
    // no event is no certainty that there is none: 1 − 0.025^(1/100)
    let none = counts(&[0.2; 100], &[0; 100]).ratio(0.95).unwrap();
    assert_eq!((none.estimate, none.lower), (0.0, 0.0));
    let upper = (1.0 - 0.025f64.powf(0.01)) / 0.2;
    assert_relative(none.upper, upper, 1e-9);
    let all = counts(&[0.0; 3], &[0, 1, 0]);
    assert!(all.ratio(0.95).is_err());
    assert_eq!(all.to_string(), "0 expected, 1 observed");
    assert!(all.ratio(1.0).is_err());
}

/// The share of data sets whose interval covers the true ratio.
fn coverage(n: usize, sets: usize, chance: &dyn Fn(usize) -> (f64, f64), rng: &mut StdRng) -> f64 {
    let rows: Vec<(f64, f64)> = (0..n).map(chance).collect();
    let (r, q): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
    let predictions = binary(&r);
    let truth = q.iter().sum::<f64>() / r.iter().sum::<f64>();
    let covers = (0..sets).filter(|_| {
        let c: Vec<usize> = (q.iter())
            .map(|&q| usize::from(rng.random::<f64>() < q))
            .collect();
        let counts = ObservedExpected::of(SECOND, &predictions, &labels(&c)).unwrap();
        let ratio = counts.ratio(0.95).unwrap();
        (ratio.lower..=ratio.upper).contains(&truth)
    });
    covers.count() as f64 / sets as f64
}

/// The interval of O/E covers in 93 % of data sets or more: calibrated or not, of rare events, of few samples,
/// and where risks differ between samples.
#[test]
fn the_interval_covers() {
    let mut rng = rng(34);
    for n in [8, 50, 400] {
        for risk in [0.002, 0.05, 0.4] {
            for factor in [0.5, 1.0, 2.0] {
                let same = |_: usize| (risk, factor * risk);
                // a few have most of the risk
                let skewed = |i: usize| {
                    let is_high = i.is_multiple_of(8);
                    let r: f64 = if is_high { 2.0 * risk } else { 0.1 * risk };
                    (r, factor * r.min(0.5))
                };
                for (name, chance) in [("same", &same as &dyn Fn(usize) -> _), ("skewed", &skewed)]
                {
                    let share = coverage(n, 400, chance, &mut rng);
                    assert!(share >= 0.93, "{name} {n} {risk} {factor}: {share}");
                }
            }
        }
    }
}

/// Predictions of an event have aspects of the event: what is expected and observed in words, the largest gap
/// along the probability, and nothing of a top label.
#[test]
fn an_event_has_aspects_of_the_event() {
    let r: Vec<f64> = (0..200).map(|i| if i < 100 { 0.3 } else { 0.7 }).collect();
    let c: Vec<usize> = (0..200)
        .map(|i| usize::from(if i < 100 { i < 50 } else { i < 190 }))
        .collect();
    let (classes, outcomes) = (binary(&r), labels(&c));
    let event = classes.clone().about(Subject::Event).unwrap();
    let test = OmnibusTest::new();
    let outcome = omnibus(test, &event, &outcomes, 1);
    let aspect = |name: &str| {
        let found = outcome.aspects.iter().find(|aspect| aspect.name == name);
        found.unwrap_or_else(|| panic!("{name} in {:?}", outcome.aspects))
    };
    let large = aspect("in_the_large");
    assert_relative_eq!(large.estimate, -0.2, epsilon = 1e-12);
    says(&large.finding);
    let ks = KolmogorovSmirnov::new(SECOND);
    let ks = ks.on(&classes, &outcomes);
    assert_relative_eq!(aspect("cumulative_risk").estimate, ks, epsilon = 1e-12);
    for aspect in &outcome.aspects {
        let (name, finding) = (aspect.name.as_str(), &aspect.finding);
        assert!(!["confidence", "class_0", "class_1", "cumulative_confidence"].contains(&name));
        assert!(!finding.contains("confiden"), "{finding}");
    }
    // the same numbers as two classes: the confidence is right, the class is not
    let two = omnibus(test, &classes, &outcomes, 1);
    assert_relative_eq!(two.aspects[0].estimate, 0.0, epsilon = 1e-12);
    assert!(classes.about(Subject::Correctness).is_ok());
    let three = categorical(&[[0.2, 0.3, 0.5]]);
    assert!(three.about(Subject::Event).is_err());
}
