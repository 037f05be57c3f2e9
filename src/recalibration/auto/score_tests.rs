//! Score tests of predictions as they are, against maps of few parameters.
//!
//! The log loss of calibrated predictions has derivatives `U = Σ w (p − e_y)·x` with respect to the parameters of a map,
//! of mean 0 and covariance `V = Σ w² Cov(x)` given the predictions, where the map is the identity. `Uᵀ V⁻¹ U` is about
//! χ² (Rao 1948). No map is fitted for it, so that few samples do.

use nalgebra::{DMatrix, DVector, Matrix2, Vector2};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::{
    logistic::cholesky,
    recalibration::{
        MapKind, TemperatureScalingConfig,
        data::{FitData, softmax},
    },
};

/// The least effective number of samples for which a class is uncertain, `Σ p(1 − p)`: below it the law of the
/// derivative is not nearly normal.
const LEAST: f64 = 5.0;
/// Classes of which a shift is tested, those with the largest variances: the cost grows with their square.
const MOST: usize = 50;

/// The p-value of the score test against a kind of map; none of kinds with many parameters, and where the law of the
/// statistic is not known.
pub fn p_value(kind: MapKind, data: &FitData) -> Option<f64> {
    match kind {
        MapKind::Temperature => {
            let statistic = TemperatureScalingConfig::score_statistic(data);
            chi_squared(statistic * statistic, 1)
        }
        MapKind::Shift => shift_p_value(data),
        MapKind::Platt if data.classes == 2 => platt_p_value(data),
        _ => None,
    }
}

/// The probability that χ² is as large; none of a statistic that is no number.
fn chi_squared(statistic: f64, freedom: usize) -> Option<f64> {
    let law = ChiSquared::new(freedom as f64).expect("a positive number");
    statistic.is_finite().then(|| law.sf(statistic))
}

/// The p-value against shifts of the classes that are uncertain often enough.
fn shift_p_value(data: &FitData) -> Option<f64> {
    let m = data.classes;
    let probabilities = data.probabilities();
    let rows = || probabilities.chunks_exact(m).enumerate();
    let (mut first, mut second) = (vec![0.0; m], vec![0.0; m]);
    for (row, probabilities) in rows() {
        let w = data.weights.at(row);
        for (c, p) in probabilities.iter().enumerate() {
            first[c] += w * p * (1.0 - p);
            second[c] += w * w * p * (1.0 - p);
        }
    }
    let effective = |&c: &usize| first[c] * first[c] / second[c] >= LEAST;
    let mut classes: Vec<usize> = (0..m).filter(effective).collect();
    classes.sort_by(|&a, &b| second[b].total_cmp(&second[a]));
    // the derivatives of all classes sum to 0
    classes.truncate(MOST.min(m - 1));
    let k = classes.len();
    let (mut slope, mut covariance) = (DVector::zeros(k), DMatrix::zeros(k, k));
    for (row, probabilities) in rows() {
        let w = data.weights.at(row);
        for (i, &c) in classes.iter().enumerate() {
            let (p, label) = (probabilities[c], data.labels[row] == c);
            slope[i] += w * (p - f64::from(u8::from(label)));
            covariance[(i, i)] += w * w * p;
            for (j, &d) in classes.iter().enumerate() {
                covariance[(i, j)] -= w * w * p * probabilities[d];
            }
        }
    }
    let solved = cholesky(covariance)?.solve(&slope);
    (k > 0)
        .then(|| chi_squared(slope.dot(&solved), k))
        .flatten()
}

/// The p-value against a slope and an intercept of the log-odds of two classes.
fn platt_p_value(data: &FitData) -> Option<f64> {
    let size = data.rows().map(|row| (row[1] - row[0]).abs());
    let size = size.fold(0.0, f64::max);
    let (mut slope, mut covariance) = (Vector2::zeros(), Matrix2::zeros());
    let mut uncertain = 0.0;
    for (row, logits) in data.rows().enumerate() {
        let (w, p) = (data.weights.at(row), softmax(logits.to_vec())[1]);
        let x = Vector2::new(1.0, (logits[1] - logits[0]) / size);
        slope += x * (w * (p - data.labels[row] as f64));
        covariance += x * x.transpose() * (w * w * p * (1.0 - p));
        uncertain += w * p * (1.0 - p);
    }
    let [intercepts, slopes] = [covariance[(0, 0)], covariance[(1, 1)]];
    let enough = uncertain * uncertain / intercepts >= LEAST;
    // log-odds that are all alike have no slope
    let known = enough && covariance.determinant() > 1e-9 * intercepts * slopes;
    let inverse = covariance.try_inverse().filter(|_| known)?;
    chi_squared(slope.dot(&(inverse * slope)), 2)
}
