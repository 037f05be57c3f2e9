//! Multiple testing.

use crate::prelude::*;

fn assert_all_close(got: &[f64], expected: &[f64]) {
    all_relative(got, expected, 1e-12);
}

/// `p.adjust(p, "holm")` and `p.adjust(p, "BH")` of R, by their definitions on paper.
#[test]
fn adjusted_by_hand() {
    let p = [0.01, 0.02, 0.03, 0.04, 0.05];
    assert_all_close(&holm(&p).unwrap(), &[0.05, 0.08, 0.09, 0.09, 0.09]);
    assert_all_close(&benjamini_hochberg(&p).unwrap(), &[0.05; 5]);
    // unsorted, with a tie, and beyond 1
    let p = [0.6, 0.001, 0.3, 0.3];
    assert_all_close(&holm(&p).unwrap(), &[0.9, 0.004, 0.9, 0.9]);
    assert_all_close(&benjamini_hochberg(&p).unwrap(), &[0.6, 0.004, 0.4, 0.4]);
    assert_all_close(&holm(&[0.7, 0.8]).unwrap(), &[1.0, 1.0]);
    assert!(holm(&[]).unwrap().is_empty() && benjamini_hochberg(&[]).unwrap().is_empty());
}

/// Benjamini and Hochberg 1995, section 4.1: 15 p-values, of which their method rejects four at
/// level 5 % and Bonferroni's three; so does Holm's.
#[test]
fn published_example() {
    let p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
        0.5719, 0.6528, 0.7590, 1.0,
    ];
    let rejected = |adjusted: Vec<f64>| adjusted.iter().filter(|p| **p <= 0.05).count();
    assert_eq!(rejected(benjamini_hochberg(&p).unwrap()), 4);
    assert_eq!(rejected(holm(&p).unwrap()), 3);
}

#[test]
fn not_a_p_value() {
    for value in [-0.1, 1.1, f64::NAN] {
        for adjust in [holm, benjamini_hochberg] {
            let error = adjust(&[0.5, value]).unwrap_err();
            assert!(matches!(error, Error::Parameter { .. }), "{error}");
        }
    }
}

/// The class that labels go to too often, M2, is found; each outcome is that of its lens.
#[test]
fn class_wise_tests() {
    let (rows, classes) = draw(Model::M2, 250, 10, &mut rng(111));
    let (predictions, labels) = (categorical(&rows), labels(&classes));
    let test = AsymptoticSkceTest::new(Kernel::exponential());
    let found = class_wise(&test, &predictions, &labels, &mut rng(0)).unwrap();
    assert_eq!(found.len(), 10);
    for (class, outcome) in found.iter().enumerate() {
        let (binary, one) = predictions.class_wise(class, &labels).unwrap();
        let alone = test.seeded(&binary, &one, 0);
        assert_eq!(outcome, &alone);
    }
    let p_values: Vec<f64> = found.iter().map(|outcome| outcome.p_value).collect();
    assert!(found[0].is_bound);
    assert_eq!(holm(&p_values).unwrap()[0], 10.0 * 1e-3, "{p_values:?}");
}
