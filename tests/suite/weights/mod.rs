//! Weights of samples: numbers of scikit-learn 1.9.1 and NumPy, rows that are repeated, refusals, error rates.

use crate::prelude::*;

mod distributions;
mod estimates;
mod events;
mod fits;
mod hypotheses;
mod intervals;
mod losses;
mod pit;
mod quantiles;

const N: usize = 60;

/// Logits of three classes by formulas that other programs have too.
pub fn logit_rows() -> Vec<Vec<f64>> {
    let z = |i: usize, c: usize| {
        let (i, c) = (i as f64, c as f64);
        2.0 * (1.3 * i + 2.1 * c + 0.7 * i * c).sin()
    };
    (0..N).map(|i| (0..3).map(|c| z(i, c)).collect()).collect()
}

fn classes() -> Vec<usize> {
    let part = |i: usize| (0.754877666 * i as f64 + 0.3).fract();
    (0..N).map(|i| (3.0 * part(i)) as usize).collect()
}

pub fn sample_weights() -> Vec<f64> {
    (0..N)
        .map(|i| (1.2 * (0.9 * i as f64).sin()).exp())
        .collect()
}

pub fn weight_tensor(weights: &[f64]) -> Tensor<1> {
    let data = TensorData::new(weights.to_vec(), [weights.len()]);
    Tensor::from_data(data, (&device(), DType::F64))
}

pub fn plain() -> (Categorical, Tensor<1, Int>) {
    let predictions = Categorical::from_logits(tensor(&logit_rows())).unwrap();
    (predictions, labels(&classes()))
}

pub fn weighted(weights: &[f64]) -> (Categorical, Tensor<1, Int>) {
    let (predictions, labels) = plain();
    predictions
        .weighted(&weight_tensor(weights), &labels)
        .unwrap()
}

/// Small whole numbers, 0 among them.
fn whole_weights() -> Vec<f64> {
    (0..N).map(|i| (i * 7 % 5) as f64).collect()
}

/// The rows as often as their whole weights say.
fn repeated() -> (Categorical, Tensor<1, Int>) {
    let (predictions, labels) = plain();
    let weights = whole_weights();
    let rows = (0..N).flat_map(|i| vec![i; weights[i] as usize]);
    let rows: Vec<usize> = rows.collect();
    (predictions.select_rows(&rows), labels.select_rows(&rows))
}

#[test]
fn weights_are_checked() {
    let (predictions, labels) = plain();
    let error = |weights: &[f64]| {
        refuses(predictions.weighted(&weight_tensor(weights), &labels));
    };
    let with = |row: usize, weight: f64| {
        let mut weights = vec![1.0; N];
        weights[row] = weight;
        weights
    };
    error(&with(3, -0.5));
    error(&with(59, f64::NAN));
    error(&with(0, f64::INFINITY));
    error(&[1.0; 4]);
    error(&[0.0; N]);
}

/// Weights of 0 are absent rows, and equal ones are none, to the last digit.
#[test]
fn zeros_are_absent_and_equal_weights_are_none() {
    let (predictions, labels) = plain();
    let mut weights = vec![0.1; N];
    weights[7] = 0.0;
    weights[30] = 0.0;
    let (found, found_labels) = weighted(&weights);
    let rows: Vec<usize> = (0..N).filter(|i| ![7, 30].contains(i)).collect();
    let (expected, expected_labels) = (predictions.select_rows(&rows), labels.select_rows(&rows));
    assert!(found.sample_weights().is_none());
    assert_eq!(
        found_labels.into_data(),
        expected_labels.clone().into_data()
    );
    assert_eq!(
        found.probabilities().into_data(),
        expected.probabilities().into_data()
    );
    let (some, labels) = weighted(&whole_weights());
    assert!(some.len() < N && labels.len() == some.len());
    let largest = vec![f64::MAX; N];
    assert!(weighted(&largest).0.sample_weights().is_none());
    let mut spread = sample_weights();
    let small: Vec<f64> = spread.iter().map(|w| w * 1e-300).collect();
    spread.iter_mut().for_each(|w| *w *= 1e300);
    for weights in [small, spread] {
        let (huge, labels) = weighted(&weights);
        let accuracy = Accuracy.on(&huge, &labels);
        assert_relative(accuracy, 0.29918258982424845, 1e-12);
    }
}

/// Weights follow rows, devices, dtypes and lenses.
#[test]
fn weights_follow_the_rows() {
    let (predictions, labels) = weighted(&sample_weights());
    let rows = [5, 3, 41];
    let expected: Vec<f64> = rows.iter().map(|&i| sample_weights()[i]).collect();
    let check = |column: Option<Tensor<2>>| {
        let found = vector(column.unwrap());
        for pair in found.iter().zip(&expected).collect::<Vec<_>>().windows(2) {
            assert_relative(pair[1].0 / pair[0].0, pair[1].1 / pair[0].1, 1e-6);
        }
    };
    let some = predictions.select_rows(&rows);
    check(some.sample_weights());
    for lens in [
        predictions.top_label(&labels),
        predictions.class_wise(1, &labels),
        predictions.top_k(2, &labels),
    ] {
        check(lens.unwrap().0.select_rows(&rows).sample_weights());
    }
    let given = Given::new(some.clone(), tensor(&[[0.0], [1.0], [2.0]]));
    check(given.sample_weights());
    let real = tensor(&vec![vec![0.5]; N]);
    let normal = Normal::new(real.clone(), real.clone() + 1.0);
    let mixture = Mixture::ensemble(&[normal.clone(), normal.clone()]);
    let draws = Samples::new(real.clone().reshape([N, 1, 1]));
    let weights = weight_tensor(&sample_weights());
    let (normal, _) = normal.weighted(&weights, &real).unwrap();
    let (mixture, _) = mixture.weighted(&weights, &real).unwrap();
    let (draws, _) = draws.weighted(&weights, &real).unwrap();
    check(normal.select_rows(&rows).sample_weights());
    check(mixture.select_rows(&rows).sample_weights());
    check(draws.select_rows(&rows).sample_weights());
}

/// A mixture does not lose the weights of its members without a word.
#[test]
fn members_carry_no_weights() {
    let real = tensor(&vec![vec![0.5]; N]);
    let normal = Normal::new(real.clone(), real.clone() + 1.0);
    let weights = weight_tensor(&sample_weights());
    let (weighted, _) = normal.weighted(&weights, &real).unwrap();
    panics(|| Mixture::ensemble(&[weighted.clone(), weighted]));
}
