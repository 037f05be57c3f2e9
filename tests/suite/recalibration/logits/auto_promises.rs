//! What a choice among maps promises: no gain that is none, no row that decides, intervals that cover.

use super::{
    auto::{auto, change, drawn, held_out, outputs},
    overconfident,
};
use crate::prelude::*;

/// Of calibrated predictions no gain is established: they stay as they are.
#[test]
fn calibrated_predictions_are_chosen_as_they_are() {
    let mut chosen = 0;
    for seed in 0..12 {
        let n = [60, 250, 400][seed as usize % 3];
        let (rows, classes) = drawn(n, 2 + seed as usize % 3, 300 + seed, |row| row.to_vec());
        let map = auto(&rows, &classes);
        let none = map.choice().chosen == "none";
        chosen += usize::from(!none);
        assert_eq!(map.choice().candidates[0].name, "none");
        if none {
            assert_eq!(map.choice().interval(), None);
            assert_eq!(outputs(&map, &rows), rows.concat());
        }
    }
    assert!(chosen <= 2, "{chosen}"); // of 12 at 2.5 %, 3 have a probability of 0.003
}

/// A wild row decides neither for nor against a map.
#[test]
fn a_wild_row_does_not_choose() {
    let (mut rows, mut classes) = overconfident(400, 140);
    let others = overconfident(2000, 139);
    for class in [0, 1] {
        rows[7] = vec![1e8, 0.0, 0.0, 0.0];
        classes[7] = class;
        let map = auto(&rows, &classes);
        let gain = change(&map, &others);
        assert!(gain < -0.2, "{gain} {}", map.choice());
    }
}

/// The over- or underconfidence of each candidate is that of predictions that it was not fitted to.
#[test]
fn confidence_is_told() {
    let (rows, classes) = overconfident(400, 141);
    let map = auto(&rows, &classes);
    let of = |name: &str| {
        let found = map.choice().candidates.iter().find(|one| one.name == name);
        found.unwrap().overconfidence.unwrap()
    };
    let (before, after) = (of("none"), of("temperature"));
    assert!(before.estimate > 0.1, "{before:?}");
    assert!(after.estimate.abs() < 0.06, "{after:?}");
    let text = map.choice().to_string();
    assert!(text.contains("none                  log loss") && text.contains(", overconfident by"));
}

/// Labels that are random in 12 of 100 cases: a temperature cannot correct that, and the chosen map is neither
/// over- nor underconfident.
#[test]
fn noisy_labels() {
    let sharp = |row: &[f64]| row.iter().map(|z| 3.0 * z).collect::<Vec<f64>>();
    let sample = |n, seed| {
        let (rows, classes) = drawn(n, 6, seed, |row| {
            let noisy = softmax(&sharp(row)).into_iter().map(|p| 0.88 * p + 0.02);
            noisy.map(f64::ln).collect()
        });
        let rows: Vec<_> = rows.iter().map(|row| sharp(row)).collect();
        (rows, classes)
    };
    let others = sample(4000, 311);
    let overconfidence = |map: &dyn Recalibration| {
        let out = vector(map.forward(tensor(&others.0)));
        let excess = |(z, &y): (&[f64], &usize)| {
            let p = softmax(z);
            let likely = argmax(&p);
            p[likely] - f64::from(u8::from(likely == y))
        };
        out.chunks(6).zip(&others.1).map(excess).sum::<f64>() / 4000.0
    };
    for (n, seed) in [(800, 312), (2000, 310)] {
        let (rows, classes) = sample(n, seed);
        let map = auto(&rows, &classes);
        let temperature = TemperatureScalingConfig::new().fitted(&rows, &classes);
        assert_ne!(map.choice().chosen, "temperature");
        let gain = held_out(&temperature, &others) - held_out(&map, &others);
        assert!(gain > 0.02, "{gain} {}", map.choice());
        let found = overconfidence(&map);
        assert!(found.abs() < 0.025, "{found} {}", map.choice());
    }
}

/// The interval of the gain holds the true gain of the map that is given, at least as often as it says.
#[test]
fn the_interval_of_the_gain_covers() {
    let truth = |row: &[f64]| -> Vec<f64> { row.iter().map(|z| z / 4.0).collect() };
    let expected = |rows: &[Vec<f64>], logits: &[f64]| {
        let rows = rows.iter().zip(logits.chunks(3));
        let of_row = |(row, z): (&Vec<f64>, &[f64])| {
            let (p, q) = (softmax(&truth(row)), softmax(z));
            p.iter().zip(q).map(|(p, q)| -p * q.ln()).sum::<f64>()
        };
        rows.map(of_row).sum::<f64>() / logits.len() as f64 * 3.0
    };
    let (mut given, mut held) = (0, 0);
    for seed in 0..150 {
        let (rows, classes) = drawn(150, 3, 7000 + seed, truth);
        let map = auto(&rows, &classes);
        if let Some(interval) = map.choice().interval() {
            let others = random_rows(3000, 3, 3.0, &mut rng(9000 + seed));
            let after = expected(&others, &vector(map.forward(tensor(&others))));
            let gain = after - expected(&others, &others.concat());
            given += 1;
            held += usize::from(interval.lower <= gain && gain <= interval.upper);
        }
    }
    assert!(given > 50, "{given}");
    assert_covers(held, given, 0.95, "");
}

/// The last progress is that of the last fit.
#[test]
fn progress_ends() {
    let (rows, classes) = overconfident(400, 142);
    let mut last = None;
    let mut observe = |at: FitProgress| last = Some((at.fit, at.fits));
    let config = AutoRecalibrationConfig::new();
    let map = config.fit_with(
        tensor(&rows),
        labels(&classes),
        FitOptions::new(None, &mut observe),
    );
    map.unwrap();
    let (fit, fits) = last.unwrap();
    assert_eq!(fit, fits);
}

/// An event has two classes.
#[test]
fn an_event_of_three_classes_is_an_error() {
    let config = AutoRecalibrationConfig::new().with_subject(Subject::Event);
    let found = config.fit(tensor(&[[0.0, 1.0, 2.0]; 30]), labels(&[1; 30]));
    assert!(matches!(found, Err(Error::Unsupported { .. })));
}
