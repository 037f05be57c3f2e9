use approx::assert_relative_eq;
use burn::tensor::DType;
use burn_calibration::{
    distribution::Categorical,
    score::{Brier, Decomposition, Divergence, LogScore, Spherical},
};

use super::population::*;
use crate::data::*;

/// Two groups: p = (¾, ¼) with labels 0, 1 and p = (¼, ¾) with labels 1, 1, so that q̄ = (¼, ¾).
#[test]
fn two_groups_by_hand() {
    // in turns, so that equal rows do not follow each other
    let rows = [
        vec![0.75, 0.25],
        vec![0.25, 0.75],
        vec![0.75, 0.25],
        vec![0.25, 0.75],
    ];
    let classes = labels(&[0, 1, 1, 1]);
    let ln2 = 2f64.ln();
    let log_entropy = 0.25 * 4f64.ln() + 0.75 * (4.0f64 / 3.0).ln();
    // ‖q̄‖ = ‖p‖ = √10/4, ‖(½, ½)‖ = √½
    let (norm, half) = (10f64.sqrt() / 4.0, 0.5f64.sqrt());
    let cases: [(&dyn Divergence, f64, f64, f64); 3] = [
        (&Brier, 0.375, 0.125, 0.125),
        (
            &LogScore,
            log_entropy,
            log_entropy - 0.5 * ln2, // the mutual information
            0.5 * (0.5 * (2.0f64 / 3.0).ln() + 0.5 * ln2) + 0.5 * (4.0f64 / 3.0).ln(),
        ),
        (
            &Spherical,
            1.0 - norm,
            0.5 * (half - 0.5 / norm) + 0.5 * (1.0 - 0.75 / norm),
            0.5 * (half - 0.5 / norm) + 0.5 * (1.0 - 0.75 / norm),
        ),
    ];
    for (score, entropy, sharpness, calibration) in cases {
        let found = Decomposition::of(score, &categorical(&rows), &classes).unwrap();
        assert_relative_eq!(found.entropy, entropy, max_relative = 1e-14);
        assert_relative_eq!(found.sharpness, sharpness, max_relative = 1e-14);
        assert_relative_eq!(found.calibration, calibration, max_relative = 1e-14);
        assert_relative_eq!(
            found.score,
            entropy - sharpness + calibration,
            max_relative = 1e-14
        );
        assert_eq!((found.groups, found.samples), (2, 4));
    }
}

/// The identity, with predictions that repeat, from probabilities and from logits.
#[test]
fn entropy_minus_sharpness_plus_calibration_is_the_score() {
    let population = Population::overconfident(351);
    let (rows, _, classes) = population.draw(500, &mut rng(352));
    let logits: Vec<Vec<f64>> = rows
        .iter()
        .map(|p| p.iter().map(|p| p.ln()).collect())
        .collect();
    let from_logits = Categorical::from_logits(tensor(&logits)).unwrap();
    for score in SCORES {
        for predictions in [&categorical(&rows), &from_logits] {
            let found = Decomposition::of(score, predictions, &labels(&classes)).unwrap();
            let sum = found.entropy - found.sharpness + found.calibration;
            assert_relative_eq!(found.score, sum, max_relative = 1e-13);
            let bound = score.upper_bound(predictions, &labels(&classes)).unwrap();
            assert_eq!(found.score, bound.estimate);
            assert_eq!(found.groups, SUPPORT);
            assert!(found.sharpness > 0.0 && found.calibration > 0.0);
        }
    }
}

/// In f32 the scores are rounded to it, the parts are sums in f64 of the rounded predictions.
#[test]
fn the_identity_holds_in_f32() {
    let population = Population::overconfident(357);
    let (rows, _, classes) = population.draw(200, &mut rng(358));
    let rounded = Categorical::from_probabilities(tensor_on(&rows, &device(), DType::F32)).unwrap();
    for score in SCORES {
        let found = Decomposition::of(score, &rounded, &labels(&classes)).unwrap();
        let sum = found.entropy - found.sharpness + found.calibration;
        assert_relative_eq!(found.score, sum, max_relative = 1e-6);
        assert_eq!(found.groups, SUPPORT);
    }
}

/// Of distinct predictions the calibration is the score and the sharpness the entropy; of a constant one
/// there is no sharpness, and of the frequencies of the labels no calibration error either.
#[test]
fn extremes() {
    let rows = random_probabilities(50, 3, &mut rng(353));
    let classes = random_labels(50, 3, &mut rng(354));
    let frequency = |c: usize| classes.iter().filter(|&&y| y == c).count() as f64 / 50.0;
    let marginal: Vec<f64> = (0..3).map(frequency).collect();
    for score in SCORES {
        let decompose = |rows: &[Vec<f64>]| {
            let found = Decomposition::of(score, &categorical(rows), &labels(&classes));
            found.unwrap()
        };
        let distinct = decompose(&rows);
        assert_eq!(distinct.groups, 50);
        assert_relative_eq!(distinct.calibration, distinct.score, max_relative = 1e-13);
        assert_relative_eq!(distinct.sharpness, distinct.entropy, max_relative = 1e-13);
        let constant = decompose(&vec![marginal.clone(); 50]);
        assert_eq!(constant.groups, 1);
        assert_relative_eq!(constant.sharpness, 0.0, epsilon = 1e-15);
        assert_relative_eq!(constant.calibration, 0.0, epsilon = 1e-15);
        assert_relative_eq!(constant.score, constant.entropy, max_relative = 1e-13);

        let one =
            Decomposition::of(score, &categorical(&rows[..1]), &labels(&classes[..1])).unwrap();
        assert_relative_eq!(one.entropy, 0.0, epsilon = 1e-15);
        assert_relative_eq!(one.sharpness, 0.0, epsilon = 1e-15);
        assert_relative_eq!(one.calibration, one.score, max_relative = 1e-13);
    }
}

/// The bias that the documentation states, exactly for the Brier score: over 2000 samples of 30, within
/// four standard errors.
#[test]
fn calibration_of_groups_is_biased_by_their_entropies() {
    let population = Population::overconfident(355);
    let (n, mut rng) = (30, rng(356));
    let found: Vec<f64> = (0..2000)
        .map(|_| {
            let (rows, _, classes) = population.draw(n, &mut rng);
            let found = Decomposition::of(&Brier, &categorical(&rows), &labels(&classes));
            found.unwrap().calibration
        })
        .collect();
    let square = |p: &[f64]| p.iter().map(|p| p * p).sum::<f64>();
    let pairs = || population.before.iter().zip(&population.truth);
    let error: f64 = pairs().map(|(p, q)| euclidean(p, q).powi(2)).sum::<f64>() / SUPPORT as f64;
    // Σ_g g(q_g)/n over the groups that occur
    let occurs = 1.0 - (1.0 - 1.0 / SUPPORT as f64).powi(n as i32);
    let entropies: f64 = population.truth.iter().map(|q| 1.0 - square(q)).sum();
    let expected = error + occurs * entropies / n as f64;
    let (mean, deviation) = moments(&found);
    let tolerance = 4.0 * deviation / 2000f64.sqrt();
    println!("{mean} for {expected} ± {tolerance}, without bias {error}");
    assert!((mean - expected).abs() < tolerance && tolerance < 0.1 * (expected - error));
}

/// A class that neither occurs nor is predicted is no trouble; one that occurs against a probability of
/// 0 is an error of the log score. A negative zero is zero.
#[test]
fn zeros() {
    let rows = [vec![1.0, 0.0, 0.0], vec![1.0, -0.0, 0.0]];
    for score in SCORES {
        let found = Decomposition::of(score, &categorical(&rows), &labels(&[0, 0])).unwrap();
        assert_eq!((found.score, found.entropy), (0.0, 0.0));
        assert_eq!(
            (found.sharpness, found.calibration, found.groups),
            (0.0, 0.0, 1)
        );
    }
    let error = Decomposition::of(&LogScore, &categorical(&rows), &labels(&[0, 2])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 1: the log score of class 2 is infinite, expected a finite number"
    );
    // from logits it is finite, and rows of equal probabilities are told apart
    let logits = tensor(&[vec![0.0, 1000.0], vec![0.0, 2000.0]]);
    let predictions = Categorical::from_logits(logits).unwrap();
    let decompose =
        |score: &dyn Divergence| Decomposition::of(score, &predictions, &labels(&[0, 0])).unwrap();
    let log = decompose(&LogScore);
    assert_eq!(
        (log.score, log.calibration, log.groups),
        (1500.0, 1500.0, 2)
    );
    assert_eq!(decompose(&Brier).groups, 1);
}
