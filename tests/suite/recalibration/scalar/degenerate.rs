//! Data that leave little to fit, and configurations that leave nothing.

use super::*;
use crate::prelude::*;

fn assert_finite(map: &dyn Recalibration, rows: &[Vec<f64>]) {
    for logits in [tensor(rows), single(rows)] {
        let dtype = logits.dtype();
        let output = map.forward(logits);
        assert_eq!(output.dtype(), dtype);
        let values = vector(output);
        all_finite(&values);
        for row in values.chunks(rows[0].len()) {
            let sum: f64 = row.iter().map(|z| z.exp()).sum();
            assert_relative(sum, 1.0, 1e-5);
        }
    }
}

/// One sample, equal logits, separable, misleading, saturated, classes that are never seen: for two
/// and three classes, a distribution everywhere, logits of ±10⁴ included, and a fit that has converged.
#[test]
fn degenerate_data_give_a_distribution() {
    let two: [(&[f64], &[usize]); 9] = [
        (&[0.7], &[1]),
        (&[0.7], &[0]),
        (&[0.3; 5], &[0, 1, 1, 0, 1]),
        (&[0.1, 0.1, 0.1], &[1, 1, 1]),
        (&[-2.0, -1.0, 1.0, 3.0], &[0, 0, 1, 1]),
        (&[-2.0, -1.0, 1.0, 3.0], &[1, 1, 0, 0]),
        (&[-1e4, 1e4, 1e4, -1e4], &[0, 1, 0, 1]),
        (&[-1e4, 0.3, 1e4], &[0, 1, 1]),
        (&[-1e-8, 1e-8, 2e-8], &[0, 1, 0]),
    ];
    let probe = [0.0, 0.3, -5.0, 1e4, -1e4, 2e4];
    for (scores, classes) in two {
        for map in every_of(&two_classes(scores), classes) {
            assert_finite(&*map, &two_classes(&probe));
            converged(&*map);
        }
    }
    let three: [(Vec<Vec<f64>>, &[usize]); 6] = [
        (vec![vec![1.0, 2.0, 3.0]], &[0]),
        (vec![vec![4.0; 3], vec![-0.1; 3], vec![1e3; 3]], &[0, 1, 1]),
        (vec![vec![9.0, 0.0, 0.0], vec![0.0, 9.0, 0.0]], &[0, 1]),
        (vec![vec![9.0, 0.0, 0.0], vec![0.0, 9.0, 0.0]], &[2, 2]),
        (vec![vec![1e4, 0.0, -1e4], vec![-1e4, 1e4, 1e4]], &[0, 0]),
        (vec![vec![0.1, 0.2, 0.3]; 4], &[0, 0, 2, 0]),
    ];
    let probe = [
        vec![0.0; 3],
        vec![1e4, -1e4, 0.0],
        vec![-1e4, 1e4, 1e4],
        vec![1.0, 2.0, 3.0],
    ];
    for (rows, classes) in three {
        for map in every_of(&rows, classes) {
            assert_finite(&*map, &probe);
            converged(&*map);
        }
    }
}

/// Equal log-odds determine the intercept alone: 3 of 5, smoothed to `(3·4/5 + 2·1/4)/5 = 0.58`.
#[test]
fn equal_logits_leave_the_slopes() {
    let (logits, labels) = (tensor(&two_classes(&[0.1; 5])), labels(&[1, 0, 1, 1, 0]));
    let platt = PlattScalingConfig::new().fit_to(&logits, &labels);
    assert_eq!(platt.parameters()[0][0], 1.0);
    assert_relative(probabilities(&platt, &[0.1])[0], 0.58, 1e-9);
    let beta = BetaCalibrationConfig::new().fit(logits, labels).unwrap();
    assert_eq!(beta.parameters()[0][..2], [1.0, 1.0]);
    assert_relative(probabilities(&beta, &[0.1])[0], 0.58, 1e-9);
}

/// Class 2 has the margin, or its smoothed targets, throughout; in bins of 6 or 7 samples the smoothed
/// frequency, 1/14 or less before the values of a row are normalised.
#[test]
fn a_class_that_is_never_seen() {
    let (rows, mut classes) = overconfident(100, 3, 20);
    classes.iter_mut().for_each(|y| *y %= 2);
    let maps = every_of(&rows, &classes);
    for (map, bound) in maps.iter().zip([0.12, 0.12, 0.12, 0.12, 0.12, 0.2]) {
        let values = vector(map.forward(tensor(&rows)));
        for row in values.chunks(3) {
            assert!(row[2] < f64::ln(bound), "{}: {row:?}", map.kind());
        }
    }
    let map = IsotonicRegressionConfig::new().fitted(&rows, &classes);
    assert_eq!(map.knots()[2].len(), 2);
    let never = map.knots()[2][0].value;
    assert_relative(never, 1.0 / 202.0, 1e-12);
}

#[test]
fn no_rows_give_no_rows() {
    for m in [2, 3] {
        let (rows, classes) = overconfident(20, m, 21);
        for map in every_of(&rows, &classes) {
            let none = tensor(&rows).slice([0..0, 0..m]);
            assert_eq!(map.forward(none).dims(), [0, m]);
        }
    }
}

#[test]
fn other_numbers_of_classes_panic() {
    for (m, other) in [(2, 3), (3, 2), (3, 4)] {
        let (rows, classes) = overconfident(20, m, 22);
        for map in every_of(&rows, &classes) {
            panic_of(|| map.forward(tensor(&[vec![0.0; other]])));
        }
    }
}

#[test]
fn configurations_outside_their_domain() {
    fn check<F: Fit>(config: F) {
        refuses(config.fit(tensor(&two_classes(&[0.0, 1.0])), labels(&[0, 1])));
    }
    check(SplineCalibrationConfig::new().with_knots(1));
    check(HistogramBinningConfig::new().with_bins(0));
    for smoothing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        check(HistogramBinningConfig::new().with_smoothing(smoothing));
    }
}

#[test]
fn parameters_outside_their_domain() {
    let platt = |parameters: &[[f64; 2]]| PlattScaling::from_parameters(parameters, &device());
    assert!(platt(&[]).is_err() && platt(&[[1.0, 0.0]; 2]).is_err());
    assert!(platt(&[[f64::NAN, 0.0]]).is_err() && platt(&[[-1.0, -2.0]]).is_ok());
    let beta = |a, b, c| BetaCalibration::from_parameters(&[[a, b, c]], &device());
    assert!(beta(0.0, 0.0, -3.0).is_ok() && beta(-1.0, 0.0, 0.0).is_err());
    assert!(beta(1.0, -1e-9, 0.0).is_err() && beta(1.0, 1.0, f64::INFINITY).is_err());
}
