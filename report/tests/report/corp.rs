//! The isotonic diagram.

use burn_calibration::{
    diagram::CorpReliability,
    estimator::Event,
    score::{Brier, Corp},
};
use burn_calibration_report::Draw;
use rand::RngExt;

use crate::data::*;

const SECOND: Event = Event::Class(1);

fn rows(r: &[f64]) -> Vec<Vec<f64>> {
    r.iter().map(|r| vec![1.0 - r, *r]).collect()
}

/// Probabilities 0.2 ×4 with 1 in 4, 0.4 and 0.6 with one after none, 0.9 ×2: steps 1/4, then 1/3 pooled.
#[test]
fn steps_by_hand() {
    let r = [0.2, 0.2, 0.2, 0.2, 0.4, 0.5, 0.6, 0.9, 0.9];
    let c = [0, 1, 0, 0, 1, 0, 0, 1, 1];
    let (p, y) = (categorical(&rows(&r)), labels(&c));
    let diagram = CorpReliability::new(SECOND).diagram(&p, &y).unwrap();
    let steps: Vec<_> = diagram.steps.iter().collect();
    let found: Vec<_> = steps
        .iter()
        .map(|s| (s.lower, s.upper, s.count, s.frequency))
        .collect();
    assert_eq!(
        found,
        [
            (0.2, 0.2, 4, 0.25),
            (0.4, 0.6, 3, 1.0 / 3.0),
            (0.9, 0.9, 2, 1.0)
        ]
    );
    assert_eq!(
        diagram.decomposition,
        Corp::of(&Brier, SECOND, &p, &y).unwrap()
    );
    assert_eq!(diagram.band.len(), 5);
    let bands = diagram.band.iter().map(|point| point.band);
    assert!(
        bands
            .clone()
            .all(|(low, high)| (0.0..=high).contains(&low) && high <= 1.0)
    );
    assert!(
        bands
            .clone()
            .zip(bands.skip(1))
            .all(|(a, b)| a.0 <= b.0 && a.1 <= b.1)
    );
    // the seed decides
    let again = |seed| {
        CorpReliability::new(SECOND)
            .with_seed(seed)
            .diagram(&p, &y)
            .unwrap()
    };
    assert_eq!(again(0), diagram);
    let svg = diagram.to_svg();
    roxmltree::Document::parse(&svg).unwrap();
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
        let r: Vec<f64> = (0..n)
            .map(|i| (f64::from(i) + 0.5) / f64::from(n))
            .collect();
        let c: Vec<usize> = r.iter().map(|r| usize::from(rng.random_bool(*r))).collect();
        let (p, y) = (categorical(&rows(&r)), labels(&c));
        let settings = CorpReliability::new(SECOND)
            .with_level(0.9)
            .with_redraws(99);
        let diagram = settings.with_seed(set).diagram(&p, &y).unwrap();
        let point = diagram.band[50];
        let mut steps = diagram.steps.iter();
        let here = |s: &&burn_calibration::diagram::CorpStep| {
            (s.lower..=s.upper).contains(&point.probability)
        };
        let frequency = steps.find(here).unwrap().frequency;
        inside += usize::from((point.band.0..=point.band.1).contains(&frequency));
    }
    println!("{inside} of {sets} in a band of 90 %");
    assert!(inside >= 165, "{inside}"); // 180 expected, or more: there are ties
    let r: Vec<f64> = (0..400).map(|i| (f64::from(i) + 0.5) / 400.0).collect();
    let c: Vec<usize> = r
        .iter()
        .map(|r| usize::from(rng.random_bool(0.35 + 0.3 * r)))
        .collect();
    let diagram = CorpReliability::new(SECOND);
    let diagram = diagram
        .diagram(&categorical(&rows(&r)), &labels(&c))
        .unwrap();
    assert_eq!(diagram.band.len(), 101);
    assert!(diagram.outside() >= 2 && !diagram.steps[0].is_inside);
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
        let (p, y) = (categorical(&rows(&r)), labels(&c));
        let diagram = CorpReliability::default().diagram(&p, &y).unwrap();
        assert_eq!(diagram.samples, r.len());
        roxmltree::Document::parse(&diagram.to_svg()).unwrap();
    }
    let sure = categorical(&rows(&[0.0, 1.0]));
    let certain = CorpReliability::new(SECOND)
        .diagram(&sure, &labels(&[0, 0]))
        .unwrap();
    assert_eq!(certain.band[1].band, (1.0, 1.0));
    assert_eq!(certain.outside(), 1); // the step at 0 and 1 together has frequency 0
    for wrong in [
        CorpReliability::default().with_level(1.0),
        CorpReliability::default().with_redraws(0),
    ] {
        assert!(wrong.diagram(&sure, &labels(&[0, 1])).is_err());
    }
}
