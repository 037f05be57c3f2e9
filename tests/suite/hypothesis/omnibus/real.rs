//! Sentences about real targets: true where another aspect is wrong, and found where they should be.

use rand_distr::{Distribution, StandardNormal, StudentT};

use crate::prelude::*;

/// In what share of data sets one of these aspects is accused, and how often the test rejects.
pub(super) fn accused<P: Omnibus>(
    sets: usize,
    aspects: &[&str],
    mut data: impl FnMut(&mut StdRng) -> (P, P::Targets),
) -> [f64; 2] {
    let mut rng = rng(651);
    let test = OmnibusTest::new().with_redraws(199);
    let mut count = [0.0; 2];
    for _ in 0..sets {
        let (predictions, targets) = data(&mut rng);
        let outcome = test.outcome(&predictions, &targets, &mut rng).unwrap();
        let failing = outcome.failing(0.05);
        let is_one = |name: &str| aspects.contains(&name);
        count[0] += f64::from(u8::from(failing.iter().any(|a| is_one(&a.name))));
        count[1] += f64::from(u8::from(outcome.p_value <= 0.05));
    }
    count.map(|count| count / sets as f64)
}

/// Data sets of a share that must be small.
fn sets() -> usize {
    simulated(150)
}

/// Three standard deviations of a share of [`sets`].
fn tolerance(share: f64) -> f64 {
    3.0 * (share * (1.0 - share) / sets() as f64).sqrt()
}

/// The largest share of data sets in which a true null hypothesis is rejected at 5 %.
fn at_most() -> f64 {
    0.05 + tolerance(0.05)
}

/// Means, and targets with errors of so many predicted deviations.
fn data(
    n: usize,
    rng: &mut StdRng,
    mut error: impl FnMut(f64, &mut StdRng) -> f64,
) -> [Tensor<2>; 3] {
    let (mut means, mut deviations, mut targets) = (vec![], vec![], vec![]);
    for _ in 0..n {
        let mean: f64 = StandardNormal.sample(rng);
        let deviation = rng.random_range(0.5..2.0);
        targets.push(vec![2.0 * mean + deviation * error(mean, rng)]);
        means.push(vec![2.0 * mean]);
        deviations.push(vec![deviation]);
    }
    [means, deviations, targets].map(|rows| tensor(&rows))
}

fn normal(
    n: usize,
    rng: &mut StdRng,
    error: impl FnMut(f64, &mut StdRng) -> f64,
) -> (Normal, Tensor<2>) {
    let [means, deviations, targets] = data(n, rng, error);
    (Normal::new(means, deviations), targets)
}

fn standard(rng: &mut StdRng) -> f64 {
    StandardNormal.sample(rng)
}

/// Aspects that are right of errors that are alike everywhere.
const TRENDS: [&str; 4] = [
    "location_by_mean",
    "location_by_deviation",
    "spread_by_mean",
    "spread_by_deviation",
];

#[test]
fn a_right_location_is_not_accused_of_a_wrong_spread() {
    let right = [&["location"][..], &TRENDS].concat();
    for (n, factor) in [(20, 0.5), (50, 1.5), (50, 2.0), (200, 2.0)] {
        let [falsely, found] = accused(sets(), &right, |rng| {
            normal(n, rng, |_, rng| factor * standard(rng))
        });
        assert!(falsely <= at_most(), "{n}, {factor}: {falsely}");
        assert!(found > 0.8 - tolerance(0.8), "{n}, {factor}: {found}");
    }
}

#[test]
fn a_right_spread_is_not_accused_of_a_wrong_location() {
    let right = [&["spread"][..], &TRENDS].concat();
    for shift in [-1.0, 2.0] {
        let [falsely, found] = accused(sets(), &right, |rng| {
            normal(60, rng, |_, rng| shift + standard(rng))
        });
        assert!(falsely <= at_most() && found == 1.0, "{shift}: {falsely}");
        // the normal scores of Laplace errors are closer together after a shift, the errors are not
        let [falsely, found] = accused(sets(), &["spread"], |rng| {
            let [means, scales, targets] = data(60, rng, |_, rng| {
                let magnitude = -(1.0 - rng.random::<f64>()).ln();
                shift + if rng.random() { magnitude } else { -magnitude }
            });
            (Laplace::new(means, scales), targets)
        });
        assert!(falsely <= at_most() && found == 1.0, "{shift}: {falsely}");
    }
}

/// Predictions of `d` coordinates with the same deviation, 0.2 or 2, and targets that are 1 too high, with independent
/// errors of so many deviations.
fn shifted([n, d]: [usize; 2], factor: f64, rng: &mut StdRng) -> (Normal, Tensor<2>) {
    let deviations: Vec<f64> = (0..n)
        .map(|_| if rng.random() { 0.2 } else { 2.0 })
        .collect();
    let deviations = tensor(&table(n, d, |i, _| deviations[i]));
    let mut row = || (0..d).map(|_| factor * standard(rng)).collect::<Vec<f64>>();
    let errors = tensor(&(0..n).map(|_| row()).collect::<Vec<_>>());
    let predictions = Normal::new(deviations.zeros_like(), deviations.clone());
    (predictions, errors * deviations + 1.0)
}

/// A bias in the unit of the targets, beside deviations that vary: in predicted deviations it varies with them.
#[test]
fn a_bias_is_no_spread_and_no_correlation() {
    for n in [50, 200] {
        let [falsely, found] = accused(sets(), &["spread"], |rng| shifted([n, 1], 1.0, rng));
        assert!(falsely <= at_most(), "{n}: {falsely}");
        assert!(found > 0.9, "{n}: {found}");
        let [falsely, found] = accused(sets(), &["correlation"], |rng| shifted([n, 2], 1.0, rng));
        assert!(falsely <= at_most(), "{n}, two coordinates: {falsely}");
        assert!(found > 0.9, "{n}, two coordinates: {found}");
    }
    // errors that are wider as well are found
    let [found, _] = accused(20, &["spread"], |rng| shifted([100, 1], 1.5, rng));
    assert!(found > 0.9, "{found}");
}

type Errors = fn(&mut StdRng) -> f64;

/// Skewed and heavy errors with the predicted variance: most sets have a smaller one, which is no finding.
#[test]
fn errors_of_the_predicted_variance_are_not_too_small() {
    let exponential = |rng: &mut StdRng| -(1.0 - rng.random::<f64>()).ln() - 1.0;
    let heavy = |rng: &mut StdRng| StudentT::new(3.0).unwrap().sample(rng) / 3f64.sqrt();
    let rare = |rng: &mut StdRng| match rng.random_range(0..200) {
        0 => 9.5,
        1 => -9.5,
        _ => 0.31 * standard(rng),
    };
    let errors: [Errors; 3] = [exponential, heavy, rare];
    for (which, error) in errors.into_iter().enumerate() {
        for n in [15, 50] {
            let right = [&["spread"][..], &TRENDS].concat();
            let [falsely, found] =
                accused(sets(), &right, |rng| normal(n, rng, |_, rng| error(rng)));
            assert!(falsely <= at_most(), "{which}, {n}: {falsely}");
            assert!(found > 0.1 - tolerance(0.1), "{which}, {n}: {found}");
        }
    }
    // normal errors that are too small are found
    let [found, _] = accused(20, &["coverage"], |rng| {
        normal(100, rng, |_, rng| 0.6 * standard(rng))
    });
    assert!(found > 0.9, "{found}");
}

/// Heavy tails and the quartiles of the predictions.
#[test]
fn a_right_coverage_is_not_accused_of_tails() {
    let t = StudentT::new(5.0).unwrap();
    for n in [20, 100] {
        let [falsely, _] = accused(sets(), &["coverage"], |rng| {
            normal(n, rng, |_, rng| t.sample(rng) / 1.077_4)
        });
        assert!(falsely <= at_most(), "{n}: {falsely}");
    }
}

/// Predictions of two modes; normal errors with their mean and variance.
#[test]
fn a_right_variance_is_not_accused_of_a_shape() {
    let [falsely, found] = accused(sets(), &["spread", "location"], |rng| {
        let [means, deviations, targets] = data(60, rng, |_, rng| standard(rng));
        let mode = |side: f64| {
            let shift = deviations.clone() * (0.95 * side);
            Normal::new(means.clone() + shift, deviations.clone() * 0.0975f64.sqrt())
        };
        (Mixture::ensemble(&[mode(-1.0), mode(1.0)]), targets)
    });
    let power = 0.9 - tolerance(0.9);
    assert!(falsely <= at_most() && found > power, "{falsely}, {found}");
}

/// By hand: four targets at the levels 0.1, 0.4, 0.6 and 0.9.
#[test]
fn estimates_of_a_few_targets() {
    let score = [-1.281_551_565_544_600_4, -0.253_347_103_135_799_8];
    let scores = [score[0], score[1], -score[1], -score[0]];
    let column = |of: &dyn Fn(usize) -> f64| tensor(&table(4, 1, |row, _| of(row)));
    let deviations = [2.0, 3.0, 1.0, 4.0];
    let predictions = Normal::new(column(&|row| row as f64), column(&|row| deviations[row]));
    let targets = column(&|row| row as f64 + deviations[row] * scores[row]);
    let test = OmnibusTest::new().with_redraws(99);
    let outcome = test.outcome(&predictions, &targets, &mut rng(655)).unwrap();
    let estimate = |name: &str| {
        let aspect = outcome.aspects.iter().find(|aspect| aspect.name == name);
        aspect.unwrap().estimate
    };
    for (name, expected) in [
        ("location", 0.0),
        ("coverage", 0.0),
        // 1.3/√(5 · 0.34); ranks 1, 2, 0 and 3: 0.6/√(5 · 0.34)
        ("location_by_mean", 0.997_054_485_501_581_5),
        ("location_by_deviation", 0.460_178_993_308_422_2),
        ("spread_by_mean", 0.0),
        // squares are equal in pairs: 1/√5
        ("spread_by_deviation", 0.447_213_595_499_957_9),
    ] {
        assert_near(estimate(name), expected, 1e-6);
    }
}

/// Where all predictions are equal, but for rounding, nothing depends on them.
#[test]
fn equal_predictions_have_no_trend() {
    let mut rng = rng(656);
    let n = 40;
    let mut ones = || -> Vec<Vec<f64>> {
        let one = |_| vec![1.0 + 1e-15 * rng.random::<f64>()];
        (0..n).map(one).collect()
    };
    let predictions = Normal::new(tensor(&ones()), tensor(&ones()));
    let targets = tensor(&table(n, 1, |row, _| row as f64 / 20.0));
    let outcome = OmnibusTest::new().with_redraws(99);
    let outcome = outcome.outcome(&predictions, &targets, &mut rng).unwrap();
    for aspect in outcome.aspects {
        if TRENDS.contains(&aspect.name.as_str()) {
            assert_eq!((aspect.estimate, aspect.adjusted_p_value), (0.0, 1.0));
        }
    }
}

/// What one line of NumPy sees: the shares of data sets in which each is found.
#[test]
fn trends_are_found() {
    let shrunk = |rng: &mut StdRng| normal(150, rng, |mean, rng| standard(rng) - 0.35 * mean);
    let [found, _] = accused(30, &["location_by_mean"], shrunk);
    assert!(found >= 0.8, "{found}");
    // the error of a standard normal number and a predicted deviation
    let by_deviation = |rng: &mut StdRng, error: fn(f64, f64) -> f64| {
        let deviations: Vec<Vec<f64>> =
            (0..300).map(|_| vec![rng.random_range(0.5..2.0)]).collect();
        let target = |row: &Vec<f64>| vec![row[0] * error(standard(rng), row[0])];
        let targets: Vec<Vec<f64>> = deviations.iter().map(target).collect();
        let [deviations, targets] = [deviations, targets].map(|rows| tensor(&rows));
        (Normal::new(deviations.zeros_like(), deviations), targets)
    };
    let [found, _] = accused(30, &["location_by_deviation"], |rng| {
        by_deviation(rng, |z, s| z + if s > 1.25 { 0.35 } else { -0.35 })
    });
    assert!(found >= 0.8, "{found}");
    let [found, _] = accused(30, &["spread_by_deviation"], |rng| {
        by_deviation(rng, |z, s| {
            z * if s > 1.25 {
                1.5f64.sqrt()
            } else {
                0.5f64.sqrt()
            }
        })
    });
    assert!(found >= 0.8, "{found}");
}

/// Errors with a correlation of 0.3 whose coordinates are predicted independent, and the pair is named; a correlation
/// that is predicted is no finding.
#[test]
fn correlations_are_found() {
    let mut rng = rng(657);
    let draw = |share: f64, rng: &mut StdRng| {
        let predictions = random_normal(120, 3, rng);
        let errors: Vec<Vec<f64>> = (0..120)
            .map(|_| {
                let shared = standard(rng);
                let [a, b, c] = [(); 3].map(|()| standard(rng));
                let both = |own: f64| share.sqrt() * shared + (1.0 - share).sqrt() * own;
                vec![both(a), b, both(c)]
            })
            .collect();
        let targets = predictions.mean() + predictions.standard_deviation() * tensor(&errors);
        (predictions, targets)
    };
    let [found, _] = accused(30, &["correlation"], |rng| draw(0.4, rng));
    assert!(found >= 0.8, "{found}");
    let (predictions, targets) = draw(0.7, &mut rng);
    let outcome = OmnibusTest::new();
    let outcome = outcome.outcome(&predictions, &targets, &mut rng).unwrap();
    begins(
        &finding(&outcome, "correlation"),
        "errors of coordinates 0 and 2 are ",
    );
    let [falsely, _] = accused(sets(), &["correlation"], |rng| {
        let predictions = random_normal(40, 2, rng);
        let mode = |side: f64| {
            let shift = predictions.standard_deviation() * (2.0 * side);
            Normal::new(predictions.mean() + shift, predictions.standard_deviation())
        };
        let both = Mixture::ensemble(&[mode(-1.0), mode(1.0)]).compared_by_quantiles();
        let targets = both.sample(rng);
        (both, targets)
    });
    assert!(falsely <= at_most(), "{falsely}");
}

/// Draws from the true distribution but for a shift, and targets that vary more than the draws.
#[test]
fn draws_are_compared_with_the_others() {
    let data = |n: usize, each: usize, shift: f64, factor: f64, rng: &mut StdRng| {
        let truth = random_normal(n, 1, rng);
        let draws = Samples::drawn_from(&truth, each, rng);
        let error = |_| vec![shift + factor * standard(rng)];
        let errors: Vec<Vec<f64>> = (0..n).map(error).collect();
        let errors = tensor(&errors);
        let targets = truth.mean() + truth.standard_deviation() * errors;
        (draws, targets)
    };
    let right = [&["spread"][..], &TRENDS].concat();
    for (each, shift) in [(10, 1.0), (20, 2.0)] {
        let [falsely, found] = accused(60, &right, |rng| data(150, each, shift, 1.0, rng));
        assert!(falsely <= 0.15 && found > 0.9, "{each}: {falsely}, {found}");
    }
    let mut rng = rng(658);
    for each in [2, 5, 20, 50] {
        let (draws, targets) = data(1000, each, 0.0, 20.0, &mut rng);
        let outcome = OmnibusTest::new().with_redraws(99);
        let outcome = outcome.outcome(&draws, &targets, &mut rng).unwrap();
        let finding = finding(&outcome, "spread");
        let start = "predictions are too narrow: after a common shift, errors are ";
        let factor = finding.strip_prefix(start).unwrap();
        let (factor, _) = factor.split_once(' ').unwrap();
        let factor: f64 = factor.parse().unwrap();
        assert!((factor / 20.0 - 1.0).abs() < 0.1, "{each}: {factor}");
    }
}

fn finding<'a>(outcome: &'a OmnibusOutcome, name: &str) -> &'a str {
    let aspect = outcome.failing(0.05).into_iter().find(|a| a.name == name);
    let aspect = aspect.unwrap_or_else(|| panic!("{name}: {outcome}"));
    &aspect.finding
}

/// Two of 200 targets at nine deviations, one to either side: `1 − Φ(9)` is not lost beside 1.
#[test]
fn outliers_are_found_and_named() {
    let mut rng = rng(652);
    let mut row = 0;
    let (predictions, targets) = normal(200, &mut rng, |_, rng| {
        row += 1;
        match row {
            78 => 9.0,
            131 => -8.9,
            _ => standard(rng),
        }
    });
    let outcome = OmnibusTest::new();
    let outcome = outcome.outcome(&predictions, &targets, &mut rng).unwrap();
    assert_eq!(outcome.p_value, 0.001);
    let tails = finding(&outcome, "tails");
    assert!(tails.starts_with("targets are far outside more often than predicted: "));
    let furthest = finding(&outcome, "furthest_target");
    begins(&furthest, "the target of row 77 is too far outside");
    contains(&furthest, "a probability of 2.3e-19 to");
    // the row is that of all predictions in a group too
    let of_half = |row: usize| if row < 60 { "first" } else { "second" };
    let groups = Group::by_value("half", &(0..200).map(of_half).collect::<Vec<_>>());
    let test = GroupTest::new().with_redraws(999);
    let outcome = test
        .outcome(&predictions, &targets, &groups, &mut rng)
        .unwrap();
    let furthest = finding(&outcome.groups[1].outcome, "furthest_target");
    begins(&furthest, "the target of row 77 is");
}

/// A model that is right but for the tails, and one whose errors grow with the mean: most data sets are
/// rejected, at the old aspects 4 to 11 % were.
#[test]
fn tails_and_trends_are_found() {
    let [tails, _] = accused(20, &["tails", "furthest_target"], |rng| {
        normal(1000, rng, |_, rng| {
            if rng.random_bool(0.01) {
                6.0
            } else {
                standard(rng)
            }
        })
    });
    assert!(tails >= 0.95, "{tails}");
    let t = StudentT::new(5.0).unwrap();
    let [_, heavy] = accused(60, &[], |rng| {
        normal(200, rng, |_, rng| t.sample(rng) / 1.077) // the quartiles of the normal distribution
    });
    assert!(heavy >= 0.7, "{heavy}");
    let [trend, _] = accused(20, &["spread_by_mean"], |rng| {
        normal(1000, rng, |mean, rng| {
            (0.15 * mean - 0.0225).exp() * standard(rng)
        })
    });
    assert!(trend >= 0.9, "{trend}");
}

/// One bad target among 150 right ones: its row is named, and no spread is called too narrow.
#[test]
fn one_bad_target_is_no_spread() {
    let mut rng = rng(660);
    let (predictions, targets) = normal(150, &mut rng, |_, rng| standard(rng));
    let mut values = vector(targets);
    values[77] = 1e6;
    let rows: Vec<Vec<f64>> = values.into_iter().map(|y| vec![y]).collect();
    let outcome = OmnibusTest::new().with_redraws(199);
    let outcome = outcome
        .outcome(&predictions, &tensor(&rows), &mut rng)
        .unwrap();
    let failing = outcome.failing(0.05);
    let has = |name: &str| failing.iter().any(|aspect| aspect.name == name);
    assert!(outcome.is_rejected() && has("furthest_target"), "{outcome}");
    assert!(!has("spread"), "{outcome}");
    contains(
        &finding(&outcome, "furthest_target"),
        "of row 77 is too far outside",
    );
}

/// Shares of transforms that no mean shows: two modes with the mean and the variance of the predictions.
#[test]
fn shapes_are_found() {
    let [found, _] = accused(20, &["transforms", "coverage"], |rng| {
        normal(1000, rng, |_, rng| {
            let side = if rng.random() { 0.8 } else { -0.8 };
            side + 0.6 * standard(rng)
        })
    });
    assert!(found >= 0.9, "{found}");
}
