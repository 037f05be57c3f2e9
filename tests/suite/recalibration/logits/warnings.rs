//! What fits say about their data, and what they do not say of ordinary data.

use super::overconfident;
use crate::prelude::*;

fn warnings(rows: &[Vec<f64>], classes: &[usize]) -> Vec<FitWarning> {
    let map = Robust(TemperatureScalingConfig::new()).fit(tensor(rows), labels(classes));
    map.unwrap().report().unwrap().warnings.clone()
}

/// Two classes: the log-odds of class 1.
fn by_odds(odds: impl Iterator<Item = f64>) -> Vec<Vec<f64>> {
    odds.map(|odds| vec![0.0, odds]).collect()
}

#[test]
fn few_labels_of_a_class() {
    let (rows, mut classes) = overconfident(200, 200);
    assert_eq!(warnings(&rows, &classes), []);
    for class in &mut classes {
        *class = [1, 1, 2, 2][*class];
    }
    classes[9] = 3;
    let found = &warnings(&rows, &classes)[0];
    let expected = FitWarning::FewLabels {
        classes: [(0, 0), (3, 1)].map(ClassCount::from).to_vec(),
        samples: 200,
        binary: false,
    };
    assert_eq!(*found, expected);
    says(found.words(|class| ["cat", "dog", "emu", "fox"][class].into()));
}

/// Softmax outputs are asked about, also rounded ones, whatever the map, and by the choice among maps. Logits are not,
/// where one row is no distribution, and logarithms of probabilities neither.
#[test]
fn probabilities_as_logits() {
    let (rows, classes) = overconfident(200, 204);
    let probabilities = softmax_rows(&rows);
    let rounded = |p: &f64| (p * 1e3).round() / 1e3;
    let rounded = (probabilities.iter()).map(|row| row.iter().map(rounded).collect());
    let rounded: Vec<Vec<f64>> = rounded.collect();
    let asked = FitWarning::ProbabilitiesAsLogits;
    for rows in [&probabilities, &rounded] {
        assert_eq!(warnings(rows, &classes)[0], asked);
        let chosen = AutoRecalibrationConfig::new().fit(tensor(rows), labels(&classes));
        let chosen = chosen.unwrap();
        assert_eq!(chosen.choice().warnings[0], asked);
        for kind in [MapKind::Vector, MapKind::Platt, MapKind::Isotonic] {
            let map = kind.config(0).fit(tensor(rows), labels(&classes)).unwrap();
            assert_eq!(map.report().unwrap().warnings[0], asked, "{kind}");
        }
    }
    let mut mixed = rows.clone();
    mixed[..199].clone_from_slice(&probabilities[..199]);
    let logarithm = |row: &Vec<f64>| row.iter().map(|p| p.ln()).collect();
    let logarithms: Vec<Vec<f64>> = probabilities.iter().map(logarithm).collect();
    for rows in [&rows, &mixed, &logarithms] {
        assert!(!warnings(rows, &classes).contains(&asked));
    }
    says(asked);
}

#[test]
fn no_event_and_one() {
    let rows = by_odds((0..30).map(|i| 0.1 * f64::from(i) - 2.0));
    let mut classes = vec![0; 30];
    for (event, words) in [
        (None, "labels of one class do"),
        (Some(11), "one label of a class does"),
    ] {
        if let Some(event) = event {
            classes[event] = 1;
        }
        let found = warnings(&rows, &classes);
        let said = found.iter().any(|w| w.to_string().contains(words));
        assert!(said, "{found:?}");
    }
    classes[3] = 1;
    let found = warnings(&rows, &classes);
    let few = |warning: &FitWarning| matches!(warning, FitWarning::FewLabels { .. });
    assert!(!found.iter().any(few));
}

/// Log-odds that tell every event from the others do not bound a slope; one exception does.
#[test]
fn a_separable_column() {
    let rows = by_odds((0..60).map(|i| 0.1 * f64::from(i) - 1.5));
    let mut classes: Vec<usize> = (0..60).map(|i| usize::from(i >= 40)).collect();
    let separated = FitWarning::Separated { classes: vec![1] };
    assert!(warnings(&rows, &classes).contains(&separated));
    classes[20] = 1;
    assert_eq!(warnings(&rows, &classes), []);
}

/// Swapped labels are asked about; those of a model that knows nothing are not.
#[test]
fn swapped_labels() {
    let rows = by_odds((0..60).map(|i| 0.1 * f64::from(i) - 3.0));
    let swapped: Vec<usize> = (0..60).map(|i| usize::from(i < 30 || i % 7 == 0)).collect();
    let found = warnings(&rows, &swapped);
    let reversed = FitWarning::Reversed { classes: vec![1] };
    assert!(found.contains(&reversed), "{found:?}");
    ends(&found[0], "labels or columns swapped?");
    let mut rng = rng(201);
    for _ in 0..200 {
        let found = warnings(&rows, &random_labels(60, 2, &mut rng));
        let unrelated = |warning: &FitWarning| matches!(warning, FitWarning::Unrelated { .. });
        assert!(found.iter().all(unrelated), "{found:?}");
    }
}

/// No row of calibrated predictions is left out, sure or unsure, few or many, and no map makes them worse.
#[test]
fn calibrated_rows_are_not_named() {
    let mut rng = rng(202);
    for n in [8, 30, 200] {
        for spread in [1.0, 4.0, 12.0] {
            for _ in 0..20 {
                let rows = random_rows(n, 3, spread, &mut rng);
                let classes = draw_classes(&softmax_rows(&rows), &mut rng);
                for warning in warnings(&rows, &classes) {
                    let of_rows = matches!(
                        warning,
                        FitWarning::SetAside { .. }
                            | FitWarning::Ruled { .. }
                            | FitWarning::Worse { .. }
                            | FitWarning::Reversed { .. }
                    );
                    assert!(!of_rows, "{n} {spread}: {warning}");
                }
            }
        }
    }
}

/// Classes without a label have about the probability that one more sample of each gives, however many they are.
#[test]
fn absent_classes_stay_possible() {
    for (n, m, present) in [(60, 3, 2), (200, 10, 7), (60, 100, 20)] {
        let mut rng = rng(203);
        let rows = random_rows(n, m, 2.0, &mut rng);
        let truth: Vec<_> = rows.iter().map(|row| softmax(&row[..present])).collect();
        let classes = draw_classes(&truth, &mut rng);
        let mut counts = vec![0; m];
        classes.iter().for_each(|&class| counts[class] += 1);
        let absent = counts.iter().filter(|count| **count == 0).count();
        let map = VectorScalingConfig::new().fitted(&rows, &classes);
        let after = softmax_rows(&rows_of(map.forward(tensor(&rows))));
        for class in (0..m).filter(|&class| counts[class] == 0) {
            let mean = after.iter().map(|row| row[class]).sum::<f64>() / n as f64;
            let ratio = mean * (n + absent) as f64;
            assert!((0.3..3.0).contains(&ratio), "{n} {m}: {mean}");
        }
    }
}

/// Labels of other rows are told; those of the same rows are not, also of poor models.
#[test]
fn unrelated_labels() {
    let unrelated = |warning: &FitWarning| matches!(warning, FitWarning::Unrelated { .. });
    let (mut told, mut false_alarms) = (0, 0);
    for seed in 0..40 {
        let (rows, classes) = overconfident([200, 400][seed as usize % 2], 900 + seed);
        let shuffled: Vec<usize> = classes
            .iter()
            .copied()
            .cycle()
            .skip(7)
            .take(classes.len())
            .collect();
        let found = warnings(&rows, &shuffled);
        told += usize::from(found.iter().any(unrelated));
        false_alarms += usize::from(warnings(&rows, &classes).iter().any(unrelated));
        let calibrated: Vec<_> = rows
            .iter()
            .map(|row| row.iter().map(|z| z / 2.5).collect())
            .collect();
        false_alarms += usize::from(warnings(&calibrated, &classes).iter().any(unrelated));
    }
    assert!(told >= 34, "{told}");
    assert_eq!(false_alarms, 0);
    let warning = FitWarning::Unrelated {
        found: 0.334,
        permuted: 0.3331,
    };
    let words = "the labels is 0.334, and 0.333 where rows are permuted: do the rows";
    contains(&warning, words);
}
