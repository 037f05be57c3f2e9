//! The isotonic diagram.

use burn_calibration::diagram::{Band, CorpReliability, CorpStep};
use burn_calibration_report::Draw;

use crate::support::parsed;
use burn_calibration_testing::data::*;

/// Probabilities 0.2 ×4 with 1 in 4, 0.4 and 0.6 with one after none, 0.9 ×2: steps 1/4, then 1/3 pooled.
#[test]
fn steps_by_hand() {
    let r = [0.2, 0.2, 0.2, 0.2, 0.4, 0.5, 0.6, 0.9, 0.9];
    let c = [0, 1, 0, 0, 1, 0, 0, 1, 1];
    let (p, y) = (binary(&r), labels(&c));
    let diagram = CorpReliability::new(SECOND).diagram(&p, &y).unwrap();
    let steps = diagram.steps.iter();
    let found = steps.map(|s| (s.lower, s.upper, s.count, s.frequency));
    let (first, second) = ((0.2, 0.2, 4, 0.25), (0.4, 0.6, 3, 1.0 / 3.0));
    assert!(found.eq([first, second, (0.9, 0.9, 2, 1.0)]));
    let decomposition = Corp::of(&Brier, SECOND, &p, &y).unwrap();
    assert_eq!(diagram.decomposition, decomposition);
    assert_eq!(diagram.band.len(), 5);
    let [lower, upper] = [true, false].map(|is_lower| {
        let ends = diagram.band.iter().map(|point| point.band);
        let end = |band: Band| if is_lower { band.lower } else { band.upper };
        let ends: Vec<f64> = ends.map(end).collect();
        assert!(ends.is_sorted() && ends[0] >= 0.0 && ends[4] <= 1.0);
        ends
    });
    assert!(lower.iter().zip(&upper).all(|(low, high)| low <= high));
    // the seed decides
    let again = CorpReliability::new(SECOND).with_seed(0).diagram(&p, &y);
    assert_eq!(again.unwrap(), diagram);
    let svg = diagram.to_svg();
    parsed(&svg);
    assert!(svg.contains("Isotonic reliability diagram of class 1") && svg.contains("3 steps"));
}

/// The regression of calibrated data lies in the band at one probability as often as it says, and that of
/// a model that is too sure leaves it.
#[test]
fn the_band_covers() {
    let mut rng = rng(541);
    let (sets, n) = (200, 150);
    let mut inside = 0;
    for set in 0..sets {
        let r = grid(n);
        let c = draw_events(r.iter().copied(), &mut rng);
        let settings = CorpReliability::new(SECOND).with_seed(set);
        let settings = settings.with_level(0.9).with_redraws(99);
        let diagram = settings.diagram(&binary(&r), &labels(&c)).unwrap();
        let point = diagram.band[50];
        let mut steps = diagram.steps.iter();
        let here = |s: &&CorpStep| (s.lower..=s.upper).contains(&point.probability);
        let frequency = steps.find(here).unwrap().frequency;
        inside += usize::from(point.band.contains(frequency));
    }
    assert!(inside >= 165, "{inside}"); // 180 expected, or more: there are ties
    let r = grid(400);
    let c = draw_events(r.iter().map(|r| 0.35 + 0.3 * r), &mut rng);
    let diagram = CorpReliability::new(SECOND).diagram(&binary(&r), &labels(&c));
    let diagram = diagram.unwrap();
    assert_eq!(diagram.band.len(), 101);
    assert!(diagram.outside() >= 2 && !diagram.steps[0].is_inside);
}

/// The middles of `n` equal parts of the unit interval.
fn grid(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect()
}

/// One sample, equal and certain predictions, one class; a level or a number of redraws that is none.
#[test]
fn degenerate_data() {
    for (r, c) in [
        (vec![0.3], vec![1]),
        (vec![0.3; 5], vec![0, 1, 0, 0, 0]),
        (vec![0.0, 1.0, 1.0], vec![0, 1, 1]),
        (vec![0.2, 0.4, 0.6], vec![1, 1, 1]),
    ] {
        let diagram = CorpReliability::default().diagram(&binary(&r), &labels(&c));
        let diagram = diagram.unwrap();
        assert_eq!(diagram.samples, r.len());
        parsed(&diagram.to_svg());
    }
    let sure = binary(&[0.0, 1.0]);
    let certain = CorpReliability::new(SECOND).diagram(&sure, &labels(&[0, 0]));
    let certain = certain.unwrap();
    assert_eq!(certain.band[1].band, [1.0; 2].into());
    assert_eq!(certain.outside(), 1); // the step at 0 and 1 together has frequency 0
    for wrong in [
        CorpReliability::default().with_level(1.0),
        CorpReliability::default().with_redraws(0),
    ] {
        assert!(wrong.diagram(&sure, &labels(&[0, 1])).is_err());
    }
}
