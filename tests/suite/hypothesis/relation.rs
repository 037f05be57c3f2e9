//! Predictions and labels that look unrelated.

use burn_calibration::hypothesis::Unrelated;

use crate::prelude::*;

/// The sets of labels that are called unrelated, of so many.
fn told(sets: usize, mut set: impl FnMut() -> (Vec<Vec<f64>>, Vec<usize>)) -> usize {
    let is_told = |_: &usize| {
        let (rows, classes) = set();
        let predictions = Categorical::from_probabilities(tensor(&rows)).unwrap();
        let found = Unrelated::test(&predictions, &labels(&classes)).unwrap();
        found.is_some()
    };
    (0..sets).filter(is_told).count()
}

/// Labels of which a share is drawn from the predictions, and the others are those of other rows.
fn related(rows: &[Vec<f64>], share: f64, rng: &mut StdRng) -> Vec<usize> {
    let drawn = draw_classes(rows, rng);
    let shifted = drawn.iter().cycle().skip(7);
    let pairs = drawn.iter().zip(shifted);
    pairs
        .map(|(own, other)| if rng.random_bool(share) { *own } else { *other })
        .collect()
}

fn events(risks: impl IntoIterator<Item = f64>) -> Vec<Vec<f64>> {
    risks.into_iter().map(|r| vec![1.0 - r, r]).collect()
}

/// Calibrated predictions are not called unrelated to their labels: near chance, of few rows, of many classes, of rare
/// events, and where a few rows make all the difference.
#[test]
fn calibrated_predictions_are_related() {
    let mut rng = rng(1301);
    for (n, m, scale) in [
        (5, 2, 1.0),
        (20, 2, 0.05),
        (20, 10, 0.05),
        (60, 100, 4.0),
        (400, 2, 0.1),
        (400, 10, 8.0),
    ] {
        let found = told(60, || {
            let rows = softmax_rows(&random_rows(n, m, scale, &mut rng));
            let classes = draw_classes(&rows, &mut rng);
            (rows, classes)
        });
        assert_eq!(found, 0, "{n} × {m}, {scale}");
    }
    for (sure, risk, others) in [
        (1, 0.6, 1e-3),
        (3, 0.5, 2e-3),
        (10, 0.2, 5e-3),
        (0, 0.5, 1e-3),
    ] {
        let found = told(60, || {
            let risks = (0..1000).map(|at| if at < sure { risk } else { others });
            let rows = events(risks);
            let classes = draw_classes(&rows, &mut rng);
            (rows, classes)
        });
        assert_eq!(found, 0, "{sure} of {risk}");
    }
}

/// Models of which a quarter of the claimed relation holds are called unrelated in few sets, and those without any in most.
#[test]
fn weak_models_and_other_rows() {
    let mut rng = rng(1302);
    for (n, m, scale, power) in [(60, 10, 8.0, 80), (400, 2, 5.0, 85), (400, 10, 3.0, 85)] {
        let mut share = |share: f64| {
            told(100, || {
                let rows = softmax_rows(&random_rows(n, m, scale, &mut rng));
                let classes = related(&rows, share, &mut rng);
                (rows, classes)
            })
        };
        assert!(share(0.0) >= power, "{n} × {m}: {}", share(0.0));
        assert!(share(0.25) <= 7, "{n} × {m}");
        assert_eq!(share(0.5), 0, "{n} × {m}");
    }
}
