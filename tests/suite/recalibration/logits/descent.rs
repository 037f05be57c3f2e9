//! Descent of criteria of one's own, by the two logits that a map gives to one row.

use crate::prelude::*;

/// A vector scaling of one row, fitted by a criterion of its logits.
fn descended(criterion: impl Fn(Tensor<1>, Tensor<1>) -> Tensor<1>) -> ([f64; 2], FitReport) {
    let row = tensor(&[[1.0, -0.5]]);
    let of_logits = |predictions: &Categorical, _: &Tensor<1, Int>| {
        let logits = predictions.logits().expect("those of a map");
        let [x, y] = [0, 1].map(|c| logits.clone().slice([0..1, c..c + 1]).reshape([1]));
        criterion(x, y)
    };
    let config = VectorScalingConfig::new().with_tolerance(1e-8);
    let map = config.fit_to_by(&of_logits, &row, &labels(&[0]));
    let logits = vector(map.forward(row));
    ([logits[0], logits[1]], map.report().unwrap().clone())
}

#[test]
fn a_curved_valley() {
    let rosenbrock = |x: Tensor<1>, y: Tensor<1>| {
        (y - x.clone() * x.clone()).square() * 100.0 + (x - 1.0).square()
    };
    let (logits, report) = descended(rosenbrock);
    assert_eq!(report.status, FitStatus::Converged, "{report}");
    assert!(logits.iter().all(|x| (x - 1.0).abs() < 1e-7), "{logits:?}");
}

#[test]
fn beside_a_wall() {
    // t − log t of t = x + 100: flat where the descent starts, and not a number below 0
    let wall = |x: Tensor<1>, _| x.clone() - (x + 100.0).log();
    let (logits, report) = descended(wall);
    assert_eq!(report.status, FitStatus::Converged, "{report}");
    assert!((logits[0] + 99.0).abs() < 1e-6, "{logits:?}");
}

#[test]
fn nothing_to_descend() {
    let (logits, report) = descended(|x, _| x.zeros_like() + 2.0);
    let by_log_loss = VectorScalingConfig::new().with_tolerance(1e-8);
    let row = tensor(&[[1.0, -0.5]]);
    let map = by_log_loss.fit(row.clone(), labels(&[0])).unwrap();
    assert_eq!(vector(map.forward(row)), logits);
    converged(&map);
    assert_eq!((report.objective, report.evaluations), (2.0, 1));
}
