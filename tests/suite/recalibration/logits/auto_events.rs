//! The choice among maps for the risks of an event.

use super::auto::{Data, drawn, held_out};
use crate::prelude::*;

/// Risks of an event that are too high by log-odds 1 are shifted from 150 samples on, by a map as good as Platt's.
#[test]
fn a_shift_is_found_where_it_made_the_data() {
    let config = AutoRecalibrationConfig::new().with_subject(Subject::Event);
    let shifted = |row: &[f64]| vec![row[0] + 1.0, row[1]];
    let others = drawn(4000, 2, 800, shifted);
    let is_near = |seed: &u64| {
        let (rows, classes) = drawn(150, 2, *seed, shifted);
        let map = config.fitted(&rows, &classes);
        let platt = PlattScalingConfig::new().fitted(&rows, &classes);
        let excess = held_out(&map, &others) - held_out(&platt, &others);
        map.choice().chosen != "none" && excess < 0.01
    };
    let near = (801..821).filter(is_near).count();
    assert!(near >= 15, "{near}"); // of 20, with log-odds of ±6: the information is 15, of 150 samples
}

/// Data without an event, or with few, do not tell how sharp risks may be, however certain it is that these are too
/// high: no map of them, or a shift alone.
#[test]
fn rare_events_make_no_risk_sharp() {
    let row = |i: usize| vec![0.0, -2.0 + 1.5 * (i * 37 % 100) as f64 / 100.0];
    let rows: Vec<_> = (0..100).map(row).collect();
    let turned: Vec<_> = rows.iter().map(|row| vec![row[1], row[0]]).collect();
    for (events, chosen) in [(0, "none"), (1, "shift"), (3, "shift"), (9, "shift")] {
        let happens = |i: usize| i * 71 % 100 < events;
        let classes: Vec<usize> = (0..100).map(|i| usize::from(happens(i))).collect();
        let others: Vec<usize> = classes.iter().map(|class| 1 - class).collect();
        for (rows, classes, words) in [
            (&rows, &classes, "samples with the event"),
            (&turned, &others, "samples without the event"),
        ] {
            for subject in [Subject::Event, Subject::Correctness] {
                let config = AutoRecalibrationConfig::new().with_subject(subject);
                let map = config.clone().fitted(rows, classes);
                let choice = map.choice();
                assert!(["none", chosen].contains(&choice.chosen), "{choice}");
                if subject == Subject::Event && chosen == "none" {
                    contains(&choice.to_string(), &format!("0 {words}, fewer than 10"));
                }
                if events == 0 {
                    let any = config.with_only_established(false).fitted(rows, classes);
                    assert_eq!(any.choice().chosen, "none", "{}", any.choice());
                }
            }
        }
    }
}

/// Risks of a rare event that are too high by log-odds 1 are shifted, though few samples have the event.
#[test]
fn rare_risks_are_shifted() {
    let config = AutoRecalibrationConfig::new().with_subject(Subject::Event);
    let truth = |row: &[f64]| vec![0.0, row[1] - row[0] - 1.0];
    let drawn = |n: usize, seed: u64| {
        let mut rng: StdRng = rng(seed);
        let rows = random_rows(n, 2, 0.7, &mut rng);
        let rows: Vec<_> = rows.iter().map(|row| vec![2.4, row[1] - row[0]]).collect();
        let classes = (rows.iter())
            .map(|row| draw_class(&softmax(&truth(row)), &mut rng))
            .collect();
        (rows, classes)
    };
    let others: Data = drawn(4000, 900);
    let (mut near, mut few) = (0, 0);
    for seed in 901..921 {
        let (rows, classes) = drawn(250, seed);
        few += usize::from(classes.iter().sum::<usize>() < 10);
        let map = config.fitted(&rows, &classes);
        let platt = PlattScalingConfig::new().fitted(&rows, &classes);
        let excess = held_out(&map, &others) - held_out(&platt, &others);
        near += usize::from(map.choice().chosen != "none" && excess < 0.01);
    }
    assert!(
        near >= 16 && few >= 3,
        "{near} of 20, {few} with few events"
    );
}
