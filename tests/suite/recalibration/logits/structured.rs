//! Structured vector and matrix scaling.

use super::{fits::sines, overconfident};
use crate::prelude::*;

/// SciPy 1.17: the temperature by `brentq`; then `minimize(method="BFGS")` and `root` of the gradient, to
/// 3·10⁻¹⁷, of the mean log loss with `m/n` and `m(m−1)/n` times the sums of squares.
#[test]
fn agree_with_scipy() {
    let (rows, classes) = sines();
    let (z, y) = (tensor(&rows), labels(&classes));
    let config = StructuredVectorScalingConfig::new().with_tolerance(1e-11);
    let map = config.fit_to(&z, &y);
    assert_relative(map.temperature(), 1.8352459361798032, 1e-10);
    assert_relative(map.smoothing(), 1.0 / 61.0, 1e-15);
    let report = map.report().unwrap();
    converged(&map);
    assert_relative(report.objective, 0.666692093034598, 1e-13);
    let a = [1.0577087237322904, 0.9947898217748175, 1.018124255044624];
    let b = [
        0.07185953634008914,
        -0.07382951245070547,
        0.001969976110616388,
    ];
    all_near(map.weight(), a, 1e-8);
    all_near(map.bias(), b, 1e-8);

    let config = StructuredMatrixScalingConfig::new().with_tolerance(1e-11);
    let map = config.fit(z, y).unwrap();
    let report = map.report().unwrap();
    assert_relative(report.objective, 0.6654560504949142, 1e-13);
    let w = [
        1.0706911157418657,
        -0.021029095172354982,
        -0.03728527985953966,
        -0.01701459952357043,
        0.9887144575773554,
        0.03140106639535576,
        -0.018330958347362484,
        0.026671866383677193,
        1.0117684269283675,
    ];
    let b = [
        0.009470909108426155,
        -0.037029913665694865,
        0.027559004557268663,
    ];
    all_near(map.weight(), w, 1e-8);
    all_near(map.bias(), b, 1e-8);
}

/// The map is what its documentation says, and does not depend on the scale and the shift of logits.
#[test]
fn by_the_definition() {
    let (rows, classes) = overconfident(150, 130);
    let map = StructuredMatrixScalingConfig::new().fitted(&rows, &classes);
    let (t, e) = (map.temperature(), map.smoothing());
    let (w, b) = (map.weight(), map.bias());
    let of_row = |row: &Vec<f64>| {
        let cooler: Vec<f64> = row.iter().map(|z| z / t).collect();
        let p = softmax(&cooler);
        let x: Vec<f64> = p.iter().map(|p| ((1.0 - e) * p + e / 4.0).ln()).collect();
        let product = |c: usize| (0..4).map(|d| w[4 * c + d] * x[d]).sum::<f64>() + b[c];
        (0..4).map(product).collect::<Vec<f64>>()
    };
    let expected: Vec<f64> = rows.iter().flat_map(of_row).collect();
    all_near(vector(map.forward(tensor(&rows))), expected, 1e-12);

    let moved: Vec<Vec<f64>> = mapped(&rows, |z| 1e6 * z + 3.0);
    let again = StructuredMatrixScalingConfig::new().fitted(&moved, &classes);
    all_near(again.weight(), &w, 1e-6);
    assert!(map.guarantees().injective && !map.guarantees().keeps_accuracy);
}

/// Blocks of the Hessian, one a class, take few evaluations to a minimum in 1,640 parameters.
#[test]
fn many_classes() {
    let mut rng = rng(132);
    let rows = random_rows(600, 40, 3.0, &mut rng);
    let truth = softmax_rows(&mapped(&rows, |z| 0.5 * z));
    let classes = draw_classes(&truth, &mut rng);
    let fixed = Regularisation::Fixed(0.01);
    let config = StructuredMatrixScalingConfig::new().with_regularisation(fixed);
    let map = config.fitted(&rows, &classes);
    let report = converged(&map);
    assert!(report.evaluations < 60, "{report}");
}

/// No probability is 0, and the loss of a wrong prediction is bounded, from data in which all are right.
#[test]
fn separable_data_leave_a_bounded_loss() {
    let (rows, _) = overconfident(20, 131);
    let classes = argmaxes(&rows);
    for kind in MapKind::ALL {
        if kind.name().starts_with("structured") {
            let fit = kind.config(0).fit(tensor(&rows), labels(&classes));
            let out = vector(fit.unwrap().forward(tensor(&rows)));
            for row in out.chunks(4) {
                let least = softmax(row).into_iter().fold(1.0, f64::min);
                assert!(least > 1e-4, "{}: {least}", kind.name());
            }
        }
    }
}
