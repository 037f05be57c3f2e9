use crate::prelude::*;

#[test]
fn logits_become_probabilities() {
    let logits = [vec![1.0, 2.0, 3.0], vec![-1e4, 0.0, 1e4]];
    let predictions = Categorical::from_logits(tensor(&logits)).unwrap();
    let expected: Vec<f64> = logits.iter().flat_map(|row| softmax(row)).collect();
    all_near(vector(predictions.probabilities()), &expected, 1e-15);
    assert_eq!(predictions.probabilities().dtype(), DType::F64);
    assert_eq!(vector(predictions.log_probabilities())[3], -2e4);
}

#[test]
fn residuals_by_hand() {
    let p = tensor(&[[0.25, 0.75], [0.5, 0.5]]);
    let values = vector(residuals(p, labels(&[1, 0])));
    assert_eq!(values, [-0.25, 0.25, 0.5, -0.5]);
}

#[test]
fn lenses_by_hand() {
    let predictions = categorical(&[[0.5, 0.25, 0.25], [0.125, 0.25, 0.625]]);
    let labels = labels(&[0, 1]);
    let (top, correct) = predictions.top_label(&labels).unwrap();
    assert_eq!(vector(top.probabilities()), [0.5, 0.5, 0.375, 0.625]);
    assert_eq!(classes_of(&correct), [1, 0]);
    let (second, is_second) = predictions.class_wise(1, &labels).unwrap();
    assert_eq!(vector(second.probabilities()), [0.75, 0.25, 0.75, 0.25]);
    assert_eq!(classes_of(&is_second), [0, 1]);
}
