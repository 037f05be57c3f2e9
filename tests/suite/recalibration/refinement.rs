//! The log loss that a temperature leaves.

use std::f64::consts::{E, PI};

use crate::prelude::*;

/// The least on a grid of temperatures, of relative steps 10⁻⁴ about the least of a coarse one; the same of logits at
/// any scale and of probabilities.
#[test]
fn is_the_least_log_loss_over_temperatures() {
    let mut rng = rng(51);
    let rows = random_rows(60, 3, 3.0, &mut rng);
    let class = |row: &Vec<f64>| usize::from(row[0] + rng.random_range(-3.0..3.0) <= 0.0);
    let classes: Vec<usize> = rows.iter().map(class).collect();
    let least_of = |middle: f64, step: f64| {
        let of = |k: i32| {
            let x = middle + step * f64::from(k);
            (log_loss_at(x.exp(), &rows, &classes), x)
        };
        let least = (-400..=400).map(of).min_by(|(a, _), (b, _)| a.total_cmp(b));
        least.unwrap()
    };
    let (_, middle) = least_of(0.0, 1e-2);
    let (least, _) = least_of(middle, 1e-4);
    let labels = labels(&classes);
    for scale in [1e-6, 0.1, 1.0, 20.0, 1e6] {
        let scaled = from_logits(&mapped(&rows, |z| z * scale));
        assert_relative(RefinementError.on(&scaled, &labels), least, 1e-8);
    }
    let probabilities = categorical(&softmax_rows(&rows));
    assert_relative(RefinementError.on(&probabilities, &labels), least, 1e-8);
    let log = LogScore.upper_bound(&from_logits(&rows), &labels).unwrap();
    assert!(least < log.estimate);
}

/// Of normal predictions the best temperature is the mean of the squared residuals over the variances.
#[test]
fn of_normal_predictions_by_hand() {
    let (mean, scale) = ([0.1, -0.3, 0.8f64], [0.5, 1.0, 0.7f64]);
    let targets = [0.4, -1.3, 0.2f64];
    let z = |i: usize| (targets[i] - mean[i]) / scale[i];
    let temperature = (0..3).map(|i| z(i).powi(2)).sum::<f64>() / 3.0;
    let spread = scale.iter().map(|s| s.ln()).sum::<f64>() / 3.0;
    let expected = 0.5 * (2.0 * PI * E * temperature).ln() + spread;
    for factor in [1.0, 10.0] {
        let scale = column(scale.map(|s| s * factor));
        let predictions = Normal::new(column(mean), scale);
        let found = RefinementError.estimate(&predictions, &column(targets));
        assert_relative(found.unwrap(), expected, 1e-12);
        let plain = -scalar(predictions.log_density(&column(targets)).mean());
        assert!(plain > expected);
    }
}

/// Below the log loss of the truth by `1/2n` in the mean, half of a chi-squared variable over `n`.
#[test]
fn the_bias_is_that_of_one_parameter() {
    let (mut rng, n, sets) = (rng(52), 100, 1000);
    let differences = (0..sets).map(|_| {
        let rows = random_rows(n, 2, 2.0, &mut rng);
        let class = |row: &Vec<f64>| usize::from(rng.random::<f64>() > softmax(row)[0]);
        let classes: Vec<usize> = rows.iter().map(class).collect();
        let refinement = RefinementError.estimate(&from_logits(&rows), &labels(&classes));
        log_loss(&rows, &classes) - refinement.unwrap()
    });
    let mean = differences.sum::<f64>() / f64::from(sets);
    // 0.005; its standard error is 0.005 · √(2/1000) = 0.0002
    assert!((0.0042..0.0060).contains(&mean), "{mean}");
}

/// All right, all wrong, rows of equal logits, one sample, probabilities of 0, f32.
#[test]
fn degenerate_data() {
    let sure = vec![vec![5.0, 0.0], vec![0.0, 3.0]];
    let of = |rows: &[Vec<f64>], classes: &[usize]| {
        RefinementError.on(&from_logits(rows), &labels(classes))
    };
    assert!(of(&sure, &[0, 1]).abs() < 1e-12);
    let ln_2 = 2f64.ln();
    assert_relative(of(&sure, &[1, 0]), ln_2, 1e-6);
    assert_relative_eq!(of(&vec![vec![0.3, 0.3]; 3], &[0, 1, 0]), ln_2);
    assert!(of(&sure[..1], &[0]).abs() < 1e-12);
    let vertices = categorical(&[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]);
    let entropy = -(2.0 * (2.0f64 / 3.0).ln() + (1.0f64 / 3.0).ln()) / 3.0;
    let found = RefinementError.on(&vertices, &labels(&[0, 1, 1]));
    assert_relative(found, entropy, 1e-9);
    let f32 = Categorical::from_logits(single(&sure)).unwrap();
    let found = RefinementError.on(&f32, &labels(&[0, 0]));
    assert_relative(found, of(&sure, &[0, 0]), 1e-12);

    refuses(RefinementError.estimate(&from_logits(&sure), &labels(&[0, 2])));
    let error = RefinementError.estimate(&from_logits(&sure), &labels(&[0]));
    assert!(matches!(error, Err(Error::Length { .. })));
}
