use proptest::prelude::*;

use super::population::by_groups;
use crate::prelude::*;

fn rows(r: &[f64]) -> Vec<Vec<f64>> {
    r.iter().map(|r| vec![1.0 - r, *r]).collect()
}

fn corp(score: &dyn Divergence, r: &[f64], c: &[usize]) -> Corp {
    Corp::of(score, SECOND, &binary(r), &labels(c)).unwrap()
}

/// By scikit-learn 1.x, `x = IsotonicRegression().fit(r, c).predict(r)`, and means of `2(p − c)²` and of
/// `−ln p_c` of `r`, `x` and the mean of `c` in NumPy; `r_i = (i + ½)/40`,
/// `c_i = 1[(i² + 3i) mod 11 < 3 + ⌊6i/40⌋]`.
#[test]
fn values_of_scikit_learn() {
    let (r, c) = forty_events();
    let cases: [(&dyn Divergence, [f64; 4]); 2] = [
        (
            &Brier,
            [
                0.5040625,
                0.13220643939393933,
                0.08314393939393933,
                0.45499999999999996,
            ],
        ),
        (
            &LogScore,
            [
                0.7965883867231419,
                0.24258946562443828,
                0.09344771793592888,
                0.6474466390346325,
            ],
        ),
    ];
    for (score, expected) in cases {
        let found = corp(score, &r, &c);
        let numbers = [
            found.score,
            found.miscalibration,
            found.discrimination,
            found.uncertainty,
        ];
        all_relative(numbers, expected, 1e-12);
        assert_eq!((found.levels, found.samples), (6, 40));
    }
}

/// Frequencies that increase with the predictions are their own isotonic regression: the decomposition by
/// groups of equal predictions.
#[test]
fn agrees_with_groups_that_increase() {
    let r = [0.2, 0.2, 0.2, 0.2, 0.6, 0.6, 0.9, 0.9];
    let c = [0, 0, 1, 0, 0, 1, 1, 1];
    for score in [&Brier as &dyn Divergence, &LogScore, &Spherical] {
        let found = corp(score, &r, &c);
        let [calibration, sharpness, entropy] = by_groups(score, &rows(&r), &c);
        for (found, expected) in [
            (found.score, calibration - sharpness + entropy),
            (found.miscalibration, calibration),
            (found.discrimination, sharpness),
            (found.uncertainty, entropy),
        ] {
            assert_relative_eq!(found, expected, max_relative = 1e-12, epsilon = 1e-15);
        }
    }
}

/// One sample, one class, equal predictions, probabilities of 0 and 1.
#[test]
fn degenerate_data() {
    let one = corp(&Brier, &[0.25], &[1]);
    assert_eq!((one.score, one.miscalibration), (1.125, 1.125));
    assert_eq!((one.discrimination, one.uncertainty), (0.0, 0.0));
    assert_eq!(one.levels, 1);
    let single = corp(&LogScore, &[0.2, 0.5, 0.9], &[1, 1, 1]);
    assert_eq!((single.uncertainty, single.discrimination), (0.0, 0.0));
    assert_relative_eq!(single.miscalibration, single.score);
    let equal = corp(&Brier, &[0.5; 4], &[0, 1, 1, 1]);
    assert_eq!((equal.miscalibration, equal.discrimination), (0.125, 0.0));
    assert_eq!(equal.levels, 1);
    let sure = corp(&LogScore, &[0.0, 1.0, 1.0], &[0, 1, 1]);
    assert_eq!((sure.score, sure.miscalibration), (0.0, 0.0));
    assert_relative(sure.discrimination, sure.uncertainty, 1e-12);
    // against the order: no discrimination
    let reversed = corp(&Brier, &[0.1, 0.9], &[1, 0]);
    assert_eq!((reversed.discrimination, reversed.levels), (0.0, 1));
    let wrong = Corp::of(&LogScore, SECOND, &binary(&[0.0, 0.5]), &labels(&[1, 0]));
    assert!(matches!(wrong, Err(Error::Score { row: 0, .. })));
    let missing = Corp::of(&Brier, Event::Class(2), &binary(&[0.5]), &labels(&[1]));
    assert!(matches!(missing, Err(Error::Parameter { .. })));
}

/// Of three classes: each class and the top label are the two classes of their lens.
#[test]
fn lenses() {
    let mut rng = rng(531);
    let predictions = categorical(&random_probabilities(50, 3, &mut rng));
    let classes = labels(&random_labels(50, 3, &mut rng));
    let each = Corp::class_wise(&LogScore, &predictions, &classes).unwrap();
    for (class, found) in each.iter().enumerate() {
        let (binary, is_class) = predictions.class_wise(class, &classes).unwrap();
        let alone = Corp::of(&LogScore, SECOND, &binary, &is_class).unwrap();
        assert_eq!(*found, alone);
        let mean = LogScore.mean(&binary, &is_class).unwrap();
        assert_eq!(found.score, mean.estimate);
    }
    let (binary, right) = predictions.top_label(&classes).unwrap();
    let top = Corp::of(&Brier, Event::TopLabel, &predictions, &classes).unwrap();
    let of_right = Corp::of(&Brier, SECOND, &binary, &right).unwrap();
    assert_eq!(top, of_right);
    contains(&each[0], " miscalibration − ");
    ends(&each[0], "(n = 50)");
}

proptest! {
    #![proptest_config(cases(64))]

    /// `S = MCB − DSC + UNC`; none is negative; the isotonic regression is that of min and max; a strictly
    /// increasing map of the predictions changes MCB alone.
    #[test]
    fn identities(
        data in prop::collection::vec((0usize..=12, 0usize..2), 1..40),
    ) {
        let r: Vec<f64> = data.iter().map(|(r, _)| 0.02 + *r as f64 / 13.0).collect();
        let c: Vec<usize> = data.iter().map(|(_, c)| *c).collect();
        let squared: Vec<f64> = r.iter().map(|r| r * r).collect();
        // max_{s ≤ r} min_{t ≥ r} of the mean of c over s ≤ r_i ≤ t
        let mean = |s: f64, t: f64| {
            let inside: Vec<f64> = (r.iter().zip(&c))
                .filter(|(r, _)| (s..=t).contains(*r))
                .map(|(_, c)| *c as f64)
                .collect();
            inside.iter().sum::<f64>() / inside.len() as f64
        };
        let isotonic = |x: f64| {
            let lower = r.iter().filter(|s| **s <= x);
            lower.map(|&s| {
                let upper = r.iter().filter(|t| **t >= x);
                upper.map(|&t| mean(s, t)).fold(f64::INFINITY, f64::min)
            }).fold(f64::NEG_INFINITY, f64::max)
        };
        let regressed: Vec<Vec<f64>> = rows(&r.iter().map(|r| isotonic(*r)).collect::<Vec<_>>());
        for score in [&Brier as &dyn Divergence, &LogScore, &Spherical] {
            let found = corp(score, &r, &c);
            let sum = found.miscalibration - found.discrimination + found.uncertainty;
            prop_assert!((found.score - sum).abs() < 1e-12);
            prop_assert!(found.miscalibration > -1e-12 && found.discrimination >= 0.0);
            prop_assert!(found.discrimination <= found.uncertainty + 1e-12);
            let best = score.mean(&categorical(&regressed), &labels(&c)).unwrap().estimate;
            prop_assert!((found.score - found.miscalibration - best).abs() < 1e-12);
            let other = corp(score, &squared, &c);
            prop_assert!((found.discrimination - other.discrimination).abs() < 1e-12);
            prop_assert_eq!(found.uncertainty, other.uncertainty);
        }
    }
}

/// Probabilities that differ by rounding alone say the same, and are one value of the regression: 0.1 + 0.2 is
/// 0.3, in whatever order the outcomes come.
#[test]
fn rounding_makes_no_difference() {
    let exact = [0.3, 0.3, 0.3, 0.3, 0.7, 0.7];
    let c = [0, 1, 0, 1, 1, 1];
    let rounded = [0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2, 0.7, 0.8 - 0.1];
    assert_ne!(exact, rounded);
    for score in [&Brier as &dyn Divergence, &LogScore] {
        let (found, expected) = (corp(score, &rounded, &c), corp(score, &exact, &c));
        assert_eq!(found.levels, expected.levels);
        assert_near(found.miscalibration, expected.miscalibration, 1e-12);
        assert_near(found.discrimination, expected.discrimination, 1e-12);
    }
}
