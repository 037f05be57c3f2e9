//! Which maps of given parameters are injective, on predictions and on log-probabilities.

use proptest::prelude::*;

use crate::prelude::*;

/// Parameters with their names, values and shapes.
pub fn named(parameters: &[(&str, &[f64], &[usize])]) -> Vec<NamedParameter> {
    let parameters = parameters.iter();
    let named = parameters
        .map(|(name, values, shape)| NamedParameter::new(*name, shape.to_vec(), values.to_vec()));
    named.collect()
}

fn vector_scaling(a: &[f64]) -> VectorScaling {
    VectorScaling::from_parameters(a.to_vec(), vec![0.5; a.len()], &device()).unwrap()
}

fn matrix_scaling(w: &[f64], m: usize) -> MatrixScaling {
    MatrixScaling::from_parameters(w.to_vec(), vec![0.5; m], &device()).unwrap()
}

fn dirichlet(w: &[f64], m: usize) -> DirichletCalibration {
    DirichletCalibration::from_parameters(w.to_vec(), vec![0.5; m], &device()).unwrap()
}

/// At the knots −2, 0, 2.
fn diagonal(slopes: [f64; 3]) -> DiagonalScaling {
    let mut values = [0.0, slopes[0] + slopes[1], 0.0];
    values[2] = values[1] + slopes[1] + slopes[2];
    let parameters = named(&[
        ("knots", &[-2.0, 0.0, 2.0], &[3]),
        ("values", &values, &[3]),
        ("slopes", &slopes, &[3]),
    ]);
    DiagonalScaling::from_named_parameters(parameters, &device()).unwrap()
}

/// The prediction of a row of logits, before and after.
fn predictions(map: &impl Recalibration, row: &[f64]) -> [Vec<f64>; 2] {
    let logits = tensor(&[row.to_vec()]);
    [logits.clone(), map.forward(logits)].map(|z| softmax(&vector(z)))
}

fn distance(p: &[f64], q: &[f64]) -> f64 {
    p.iter().zip(q).fold(0.0, |d, (p, q)| d.max((p - q).abs()))
}

/// Different predictions become the same.
fn merges(map: &impl Recalibration, a: &[f64], b: &[f64]) -> bool {
    let ([p, p_after], [q, q_after]) = (predictions(map, a), predictions(map, b));
    distance(&p, &q) > 1e-3 && distance(&p_after, &q_after) < 1e-12
}

/// Whether it is said of all logits, and of log-probabilities.
fn injective(map: &impl Recalibration) -> (bool, bool) {
    let kept = map.guarantees();
    (kept.injective, kept.injective_on_log_probabilities)
}

/// Logits of different predictions, at different heights.
#[test]
fn diagonal_scaling_can_merge_predictions() {
    let bent = diagonal([1.0, 1.5, 2.0]);
    assert!(merges(&bent, &[-1.0, 1.0], &[-6.0, -3.0]));
    assert_eq!(injective(&bent), (false, true));
    assert_eq!(injective(&diagonal([1.5; 3])), (true, true)); // z ↦ 1.5 z + c
}

#[test]
fn vector_scaling_can_merge_predictions() {
    let scaling = vector_scaling(&[1.0, 2.0]);
    assert!(merges(&scaling, &[0.0, 0.0], &[1.0, 0.5]));
    assert_eq!(injective(&scaling), (false, true));
    assert_eq!(injective(&vector_scaling(&[1.5; 3])), (true, true));
    assert_eq!(injective(&vector_scaling(&[-1.5; 3])), (true, true));
    assert_eq!(injective(&vector_scaling(&[1.0, -2.0])), (false, false));
    assert_eq!(injective(&vector_scaling(&[0.0, 0.0])), (false, false));
}

#[test]
fn matrix_scaling_can_merge_predictions() {
    // logits without their mean: singular, and nothing is lost
    let centring = [2.0, -1.0, -1.0, -1.0, 2.0, -1.0, -1.0, -1.0, 2.0];
    // two classes that become one, with equal sums
    let merging = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 3.0];
    let cases: [(&[f64], usize, (bool, bool)); 7] = [
        (&[2.0, 1.0, 1.0, 2.0], 2, (true, true)),
        (&[1.0, 0.0, 0.0, 2.0], 2, (false, true)),
        (&[-1.0, 0.0, 0.0, 2.0], 2, (false, false)),
        (&[1.0, 1.0, 1.0, 1.0], 2, (false, false)),
        (&[0.0; 4], 2, (false, false)),
        (&centring, 3, (true, true)),
        (&merging, 3, (false, false)),
    ];
    for (w, m, expected) in cases {
        assert_eq!(injective(&matrix_scaling(w, m)), expected, "{w:?}");
        // normalises its logits itself
        let on_any = (expected.1, expected.1);
        assert_eq!(injective(&dirichlet(w, m)), on_any);
    }
    let uneven = matrix_scaling(&[1.0, 0.0, 0.0, 2.0], 2);
    assert!(merges(&uneven, &[0.0, 0.0], &[1.0, 0.5]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Of three classes: the logits that do not change the prediction are the cross product of two
    /// differences of rows. They are a direction between predictions if they have both signs.
    #[test]
    fn of_three_classes_by_a_cross_product(w in prop::collection::vec(-2.0..2.0f64, 9), z in prop::collection::vec(-2.0..2.0f64, 3)) {
        let of = matrix_scaling(&w, 3);
        let [a, b] = [0, 1].map(|i| [0, 1, 2].map(|c| w[3 * i + c] - w[6 + c]));
        let v = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
        let largest = v.iter().fold(0.0f64, |x, y| x.max(y.abs()));
        prop_assume!(v.iter().all(|x| x.abs() > 1e-3 * largest) && largest > 1e-2);
        let one_sign = v.iter().all(|x| *x > 0.0) || v.iter().all(|x| *x < 0.0);
        prop_assert_eq!(injective(&of), (false, one_sign));
        let beside: Vec<f64> = z.iter().zip(v).map(|(z, v)| z + v / largest).collect();
        let ([p, p_after], [q, q_after]) = (predictions(&of, &z), predictions(&of, &beside));
        prop_assert!(distance(&p_after, &q_after) < 1e-9);
        prop_assert!(distance(&p, &q) > 0.0);
    }
}
