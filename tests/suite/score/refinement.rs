use approx::assert_relative_eq;
use burn::tensor::{Int, Tensor};
use burn_calibration::{
    error::{Error, Result},
    recalibration::{Fit, Recalibration, TemperatureScalingConfig},
    score::{Brier, LogScore, Refinement},
};
use rand::RngExt;

use super::population::*;
use crate::data::*;

type Map = Box<dyn Fn(Tensor<2>) -> Tensor<2>>;

fn temperature(logits: Tensor<2>, labels: Tensor<1, Int>) -> Result<Map> {
    let map = TemperatureScalingConfig::new()
        .with_prior(None)
        .fit(logits, labels)?;
    Ok(Box::new(move |logits| map.forward(logits)))
}

/// `n` true distributions and a label of each.
fn truth(n: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut rng = rng(seed);
    let logits = random_rows(n, 3, 2.0, &mut rng);
    let mut draw = |z: &Vec<f64>| {
        let (q, u) = (softmax(z), rng.random::<f64>());
        if u < q[0] {
            0
        } else {
            1 + usize::from(u >= q[0] + q[1])
        }
    };
    let labels = logits.iter().map(&mut draw).collect();
    (logits, labels)
}

/// Logits of temperature 4: the refinement is the mean entropy of the truth, and the calibration the
/// score less that, within four standard errors of the mean; the latter to a tenth of itself.
#[test]
fn of_a_known_temperature() {
    let (logits, classes) = truth(3000, 360);
    let sharper: Vec<Vec<f64>> = logits
        .iter()
        .map(|z| z.iter().map(|z| 4.0 * z).collect())
        .collect();
    for score in SCORES {
        let expected = |row: &Vec<f64>, z: &Vec<f64>| -> f64 {
            let (p, q) = (softmax(row), softmax(z));
            (0..3).map(|y| q[y] * by_loop(score, &p, y)).sum()
        };
        let mean = |rows: &[Vec<f64>]| {
            let sum: f64 = rows
                .iter()
                .zip(&logits)
                .map(|(row, z)| expected(row, z))
                .sum();
            sum / 3000.0
        };
        let split = Refinement::of(
            score,
            &tensor(&sharper),
            &labels(&classes),
            5,
            &mut rng(361),
            temperature,
        )
        .unwrap();
        let Refinement {
            score: whole,
            refinement,
            calibration,
            folds,
            ..
        } = split;
        println!("{score:?}\n{split}");
        let close = |found: f64, expected: f64, error: f64| {
            assert!(
                (found - expected).abs() < 4.0 * error,
                "{found} for {expected} ± {error}"
            );
        };
        close(
            refinement.estimate,
            mean(&logits),
            refinement.standard_error,
        );
        let error = mean(&sharper) - mean(&logits);
        close(calibration.estimate, error, calibration.standard_error);
        assert!(calibration.standard_error < 0.1 * error);
        assert_relative_eq!(
            whole.estimate,
            refinement.estimate + calibration.estimate,
            max_relative = 1e-12
        );
        assert_eq!((folds, whole.samples), (5, 3000));
    }
}

/// Each sample is recalibrated once, by a map that has not seen it: with as many folds as samples, a map
/// to the frequencies of the labels that it was fitted to.
#[test]
fn held_out_samples_are_held_out() {
    let classes = [0, 0, 1, 0, 1, 0, 0];
    let (logits, n) = (vec![vec![0.0, 0.0]; 7], 7);
    let mut sizes = vec![];
    let frequencies = |logits: Tensor<2>, labels: Tensor<1, Int>| -> Result<Map> {
        let n = logits.dims()[0];
        assert_eq!(labels.dims(), [n]);
        sizes.push(n);
        let ones = vector(labels.float()).iter().sum::<f64>();
        let row = vec![((n as f64 - ones) / n as f64).ln(), (ones / n as f64).ln()];
        Ok(Box::new(move |logits| {
            tensor(&vec![row.clone(); logits.dims()[0]])
        }))
    };
    let split = Refinement::of(
        &LogScore,
        &tensor(&logits),
        &labels(&classes),
        n,
        &mut rng(362),
        frequencies,
    )
    .unwrap();
    // 5 zeros among 7: a zero is scored by 4 of 6, a one by 1 of 6
    let expected = -(5.0 * (4.0f64 / 6.0).ln() + 2.0 * (1.0f64 / 6.0).ln()) / 7.0;
    assert_relative_eq!(split.refinement.estimate, expected, max_relative = 1e-12);
    assert_relative_eq!(split.score.estimate, 2f64.ln(), max_relative = 1e-12);
    assert!(split.calibration.estimate < 0.0); // a fit that does harm
    assert_eq!(sizes, [6; 7]);
}

/// Maps that leave logits as they are leave every sample where it is; folds differ by at most one.
#[test]
fn the_identity_changes_nothing() {
    let (logits, classes) = truth(23, 363);
    for folds in [2, 5, 23] {
        let mut left = vec![];
        let identity = |logits: Tensor<2>, _: Tensor<1, Int>| -> Result<Map> {
            left.push(23 - logits.dims()[0]);
            Ok(Box::new(|logits| logits))
        };
        let split = Refinement::of(
            &Brier,
            &tensor(&logits),
            &labels(&classes),
            folds,
            &mut rng(364),
            identity,
        )
        .unwrap();
        assert_eq!(split.calibration.estimate, 0.0);
        assert_eq!(split.calibration.standard_error, 0.0);
        assert_eq!((left.len(), left.iter().sum()), (folds, 23));
        assert!(left.iter().max().unwrap() - left.iter().min().unwrap() <= 1);
    }
}

#[test]
fn the_seed_decides() {
    let (logits, classes) = truth(40, 365);
    let estimate = |seed| {
        let (logits, labels) = (tensor(&logits), labels(&classes));
        Refinement::of(&LogScore, &logits, &labels, 4, &mut rng(seed), temperature).unwrap()
    };
    assert_eq!(estimate(1), estimate(1));
    assert_ne!(estimate(1).refinement, estimate(2).refinement);
    assert_eq!(estimate(1).score, estimate(2).score);
}

#[test]
fn bad_data_and_bad_maps() {
    let rows = vec![vec![0.5, -0.5]; 4];
    let run = |classes: &[usize], folds: usize, map: fn(Tensor<2>) -> Tensor<2>| {
        let fit = |_: Tensor<2>, _: Tensor<1, Int>| Ok(map);
        Refinement::of(
            &LogScore,
            &tensor(&rows),
            &labels(classes),
            folds,
            &mut rng(366),
            fit,
        )
        .unwrap_err()
        .to_string()
    };
    let same: fn(Tensor<2>) -> Tensor<2> = |logits| logits;
    for folds in [0, 1, 5] {
        assert_eq!(
            run(&[0, 1, 0, 1], folds, same),
            format!(
                "the number of folds is {folds}, expected at least 2, and at most the number of samples"
            )
        );
    }
    assert_eq!(
        run(&[0, 1, 0, 2], 2, same),
        "row 3: the label is 2, expected a class in 0..2"
    );
    assert_eq!(
        run(&[0, 1, 0], 2, same),
        "4 predictions but 3 labels, expected as many of one as of the other"
    );
    assert_eq!(
        run(&[0, 1, 0, 1], 2, |logits| logits / 0.0),
        "after recalibration: row 0, class 0: the logit is inf, expected a finite number"
    );
    assert_eq!(
        run(&[0, 1, 0, 1], 2, |logits| Tensor::cat(
            vec![logits.clone(), logits],
            1
        )),
        "the predictions have 4 classes, expected 2"
    );
    assert_eq!(
        run(&[0, 1, 0, 1], 2, |logits| Tensor::cat(
            vec![logits.clone(), logits],
            0
        )),
        "4 predictions but 2 labels, expected as many of one as of the other"
    );
    let refuses =
        |_: Tensor<2>, _: Tensor<1, Int>| -> Result<Map> { Err(Error::TooFewClasses { got: 7 }) };
    let error = Refinement::of(
        &LogScore,
        &tensor(&rows),
        &labels(&[0, 1, 0, 1]),
        2,
        &mut rng(0),
        refuses,
    )
    .unwrap_err();
    assert_eq!(error, Error::TooFewClasses { got: 7 });
}
