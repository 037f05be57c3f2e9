//! The Dirichlet models of Widmann et al. 2019: closed forms against special cases and simulation.

use crate::prelude::*;

fn rows(model: &DirichletModel, n: usize, rng: &mut StdRng) -> (Vec<Vec<f64>>, Vec<usize>) {
    let (predictions, labels) = model.sample(n, (&device(), DType::F64), rng);
    (rows_of(predictions.probabilities()), classes_of(&labels))
}

type Parameters = (Vec<f64>, f64, Vec<f64>);

fn parameters() -> [Parameters; 5] {
    [
        (vec![0.1; 10], 0.0, vec![0.1; 10]),
        (vec![0.1; 10], 0.5, identity(10).remove(0)),
        (vec![0.1; 10], 1.0, vec![0.1; 10]),
        (vec![1.0, 1.0], 0.7, vec![0.3, 0.7]),
        (vec![0.3, 2.0, 5.0], 0.4, vec![0.2, 0.5, 0.3]),
    ]
}

/// Means of samples against closed forms, within four standard errors.
#[test]
fn closed_forms_agree_with_simulation() {
    let mut rng = rng(501);
    let n = 20_000;
    let close = |values: &[f64], expected: f64| assert_mean(values, expected, 4.0);
    for (alpha, pi, beta) in parameters() {
        let model = DirichletModel::new(alpha.clone(), pi, beta.clone());
        let (rows, classes) = rows(&model, n, &mut rng);
        // Δ = π(β − P), by the definition of the model
        let errors: Vec<f64> = rows.iter().map(|p| 0.5 * pi * l1(p, &beta)).collect();
        close(&errors, model.expected_calibration_error());
        let total: f64 = alpha.iter().sum();
        for c in 0..alpha.len() {
            let mean = alpha[c] / total;
            let entries: Vec<f64> = rows.iter().map(|p| p[c]).collect();
            close(&entries, mean);
            let squares: Vec<f64> = entries.iter().map(|p| p * p).collect();
            close(&squares, mean * (alpha[c] + 1.0) / (total + 1.0)); // E[P_c²] of a Beta variable
            let occurred: Vec<f64> = classes.iter().map(|&y| f64::from(y == c)).collect();
            close(&occurred, pi * beta[c] + (1.0 - pi) * mean);
        }
        // the labels know of their prediction as much as they should: E[P_Y]
        let observed: Vec<f64> = rows.iter().zip(&classes).map(|(p, &y)| p[y]).collect();
        let terms = alpha.iter().zip(&beta).map(|(a, b)| {
            let mean = a / total;
            pi * b * mean + (1.0 - pi) * mean * (a + 1.0) / (total + 1.0)
        });
        close(&observed, terms.sum());
    }
}

#[test]
fn special_cases() {
    let [m1, m2, m3, ..] = parameters().map(|(a, pi, b)| DirichletModel::new(a, pi, b));
    assert_eq!(m1.expected_calibration_error(), 0.0);
    // appendix J.2.1: π(m − 1)/m for a one-hot β
    assert_relative(m2.expected_calibration_error(), 0.45, 1e-12);
    // and for a uniform β, π/(a B(a, (m−1)a)) ((m−1)^{m−1}/m^m)^a
    let (a, m) = (0.1, 10.0f64);
    let beta = statrs_free_beta(a, 0.9);
    let expected = (9.0f64.powi(9) / m.powi(10)).powf(a) / (a * beta);
    assert_relative(m3.expected_calibration_error(), expected, 1e-9);
    // predictions at the vertices sum to 1 too
    let vertices = DirichletModel::new(vec![1e-7; 4], 0.0, vec![0.25; 4]);
    let (rows, _) = rows(&vertices, 50, &mut rng(502));
    let is_one = |p: &Vec<f64>| (p.iter().sum::<f64>() - 1.0).abs() < 1e-15;
    assert!(rows.iter().all(is_one));
}

/// `B(a, b) = ∫ t^{a−1} (1−t)^{b−1} dt` for `a, b ≤ 1`, by `t = u^{1/a}` below ½ and likewise above.
fn statrs_free_beta(a: f64, b: f64) -> f64 {
    let half = |a: f64, b: f64| {
        let (cells, top) = (200_000, 0.5f64.powf(a));
        let at = |i: usize| ((i as f64 + 0.5) / cells as f64 * top).powf(1.0 / a);
        let sum: f64 = (0..cells).map(|i| (1.0 - at(i)).powf(b - 1.0)).sum();
        sum * top / cells as f64 / a
    };
    half(a, b) + half(b, a)
}

/// Estimates from many samples come close to what they estimate.
#[test]
fn estimators_find_the_analytic_error() {
    let mut rng = rng(503);
    let model = DirichletModel::new(vec![1.0, 1.0], 0.7, vec![0.3, 0.7]);
    let (predictions, labels) = model.sample(40_000, (&device(), DType::F64), &mut rng);
    let truth = model.expected_calibration_error();
    for ece in [Ece::uniform(20), Ece::median_variance(1000)] {
        let estimate = ece.on(&predictions, &labels);
        assert_relative(estimate, truth, 0.05);
    }
    // calibrated: the unbiased SKCE is around 0, with a deviation of order 1/n
    let model = DirichletModel::new(vec![0.1; 10], 0.0, vec![0.1; 10]);
    let bandwidth = Bandwidth::Fixed(0.8);
    let (predictions, labels) = model.sample(1000, (&device(), DType::F64), &mut rng);
    let skce = Skce::unbiased(Kernel::exponential().with_bandwidth(bandwidth));
    assert!(skce.on(&predictions, &labels).abs() < 1e-3);
}
