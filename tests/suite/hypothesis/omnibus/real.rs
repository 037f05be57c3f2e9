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

/// Of 150 data sets: 5 % and three binomial errors.
const AT_MOST: f64 = 0.05 + 3.0 * 0.0178;

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

#[test]
fn a_right_location_is_not_accused_of_a_wrong_spread() {
    for (n, factor) in [(50, 1.5), (50, 2.0), (200, 2.0)] {
        let [falsely, found] = accused(150, &["location", "trend"], |rng| {
            normal(n, rng, |_, rng| factor * standard(rng))
        });
        assert!(falsely <= AT_MOST, "{n}, {factor}: {falsely}");
        assert!(found > 0.8, "{n}, {factor}: {found}");
    }
}

#[test]
fn a_right_spread_is_not_accused_of_a_wrong_location() {
    for shift in [-1.0, 2.0] {
        let [falsely, found] = accused(150, &["spread", "trend"], |rng| {
            normal(60, rng, |_, rng| shift + standard(rng))
        });
        assert!(falsely <= AT_MOST && found == 1.0, "{shift}: {falsely}");
        // the normal scores of Laplace errors are closer together after a shift, the errors are not
        let [falsely, found] = accused(150, &["spread"], |rng| {
            let [means, scales, targets] = data(60, rng, |_, rng| {
                let magnitude = -(1.0 - rng.random::<f64>()).ln();
                shift + if rng.random() { magnitude } else { -magnitude }
            });
            (Laplace::new(means, scales), targets)
        });
        assert!(falsely <= AT_MOST && found == 1.0, "{shift}: {falsely}");
    }
}

/// Skewed errors with the predicted variance: most sets have a smaller one, which is no finding.
#[test]
fn skewed_errors_are_not_too_small() {
    let exponential = |rng: &mut StdRng| -(1.0 - rng.random::<f64>()).ln() - 1.0;
    for n in [15, 30, 50] {
        let [falsely, found] = accused(150, &["spread"], |rng| {
            normal(n, rng, |_, rng| exponential(rng))
        });
        assert!(falsely <= AT_MOST, "{n}: {falsely}");
        assert!(found > 0.2, "{n}: {found}");
    }
    // normal errors that are too small are found
    let [found, _] = accused(20, &["spread"], |rng| {
        normal(100, rng, |_, rng| 0.6 * standard(rng))
    });
    assert!(found > 0.9, "{found}");
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
    let [trend, _] = accused(20, &["trend"], |rng| {
        normal(1000, rng, |mean, rng| {
            (0.15 * mean - 0.0225).exp() * standard(rng)
        })
    });
    assert!(trend >= 0.9, "{trend}");
}

/// Shares of transforms that no mean shows: two modes with the mean and the variance of the predictions.
#[test]
fn shapes_are_found() {
    let [found, _] = accused(20, &["transforms", "middle"], |rng| {
        normal(1000, rng, |_, rng| {
            let side = if rng.random() { 0.8 } else { -0.8 };
            side + 0.6 * standard(rng)
        })
    });
    assert!(found >= 0.9, "{found}");
}
