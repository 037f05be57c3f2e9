use crate::estimator::Estimator;
use burn::tensor::{DType, Device, Tensor, TensorData};
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{
    estimator::Skce,
    kernel::{Bandwidth, MatrixKernel},
};

fn kernel() -> Kernel {
    Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.4))
}

/// `exp` of uniform numbers of so large a range, normalised.
fn predictions(n: usize, m: usize, range: f64, seed: u64) -> Categorical {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut row = || {
        let weights: Vec<f64> = (0..m)
            .map(|_| (range * rng.random::<f64>()).exp())
            .collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(move |w| w / sum)
    };
    let rows: Vec<f64> = (0..n).flat_map(|_| row().collect::<Vec<_>>()).collect();
    let rows = Tensor::from_data(TensorData::new(rows, [n, m]), (&Device::flex(), DType::F64));
    Categorical::from_probabilities(rows).unwrap()
}

/// `E[S²]` and `E[S³]` over all labellings.
fn enumerated(predictions: &Categorical) -> NullMoments {
    let (n, m) = (predictions.len(), predictions.classes());
    let p = to_vec(predictions.probabilities());
    let mut moments = NullMoments::default();
    let mut first = 0.0;
    for code in 0..m.pow(n as u32) {
        let classes: Vec<usize> = (0..n).map(|i| code / m.pow(i as u32) % m).collect();
        let probability: f64 = classes
            .iter()
            .enumerate()
            .map(|(i, c)| p[i * m + c])
            .product();
        let labels = predictions.observed(&classes);
        let skce = Skce::unbiased(kernel())
            .estimate(predictions, &labels)
            .unwrap();
        let sum = skce * (n * (n - 1)) as f64;
        first += probability * sum;
        moments.second += probability * sum.powi(2);
        moments.third += probability * sum.powi(3);
    }
    assert!(first.abs() < 1e-13, "{first}");
    moments
}

fn assert_close(got: f64, expected: f64, tolerance: f64) {
    assert!(
        (got - expected).abs() <= tolerance * expected.abs(),
        "{got}, not {expected}"
    );
}

#[test]
fn moments_by_enumeration() {
    for (n, m) in [
        (2, 2),
        (2, 3),
        (3, 2),
        (3, 3),
        (3, 4),
        (4, 2),
        (4, 3),
        (5, 2),
    ] {
        for (range, seed) in [(2.0, 1), (5.0, 2), (12.0, 3)] {
            let predictions = predictions(n, m, range, seed);
            let expected = enumerated(&predictions);
            let sample = Sample::of_classes(&predictions, 10, &mut StdRng::seed_from_u64(0));
            assert_eq!(sample.weights, vec![1.0; n]);
            let found = moments_of_classes(
                &kernel(),
                &predictions,
                predictions.probabilities(),
                &sample,
            );
            assert_close(found.second, expected.second, 1e-10);
            assert!(
                (found.third - expected.third).abs()
                    < 1e-10 * expected.second.powf(1.5).max(expected.third.abs()),
                "n = {n}, m = {m}, range {range}: {found:?}, not {expected:?}"
            );
        }
    }
}

/// The mean over many samples is what all samples give.
#[test]
fn weighted_samples_are_unbiased() {
    let predictions = predictions(24, 3, 9.0, 4);
    let mut rng = StdRng::seed_from_u64(5);
    let all = Sample::of_classes(&predictions, 24, &mut rng);
    let expected = moments_of_classes(&kernel(), &predictions, predictions.probabilities(), &all);
    let sets = 1500;
    let (mut size, mut sum, mut squares) = (0, [0.0; 2], [0.0; 2]);
    for _ in 0..sets {
        let sample = Sample::of_classes(&predictions, 12, &mut rng);
        size += sample.rows.len();
        let found = moments_of_classes(
            &kernel(),
            &predictions,
            predictions.probabilities(),
            &sample,
        );
        for (at, value) in [found.second, found.third].into_iter().enumerate() {
            sum[at] += value / sets as f64;
            squares[at] += value * value / sets as f64;
        }
    }
    assert!((size as f64 / sets as f64 - 12.0).abs() < 0.3, "{size}");
    for (at, expected) in [expected.second, expected.third].into_iter().enumerate() {
        let error = ((squares[at] - sum[at] * sum[at]) / sets as f64).sqrt();
        assert!(
            (sum[at] - expected).abs() < 4.0 * error,
            "{sum:?}, {expected}, {error}"
        );
        assert!(error < 0.1 * expected.abs());
    }
}

#[test]
fn certain_samples_are_left_out() {
    assert_eq!(
        inclusion_probabilities(&[0.0, 0.5, 0.0, 0.1], 2),
        [0.0, 1.0, 0.0, 1.0]
    );
    let weights: Vec<f64> = (0..100).map(|i| 0.9f64.powi(i)).collect();
    let found = inclusion_probabilities(&weights, 20);
    assert_close(found.iter().sum::<f64>(), 20.0, 1e-9);
    assert!(found.windows(2).all(|pair| pair[0] >= pair[1]) && found[0] == 1.0);
    assert!(found[99] > 0.05 * found[60] && found[99] < 1.0);
}

/// With `M = I` given as a matrix the moments come from redrawn labels.
#[test]
fn redrawn_labels_agree() {
    let predictions = predictions(40, 3, 4.0, 6);
    let mut rng = StdRng::seed_from_u64(7);
    let identity: Vec<Vec<f64>> = (0..3)
        .map(|k| (0..3).map(|l| f64::from(k == l)).collect())
        .collect();
    let matrix = MatrixKernel::new(kernel(), &identity).unwrap();
    let exact = kernel().null_skewness(&predictions, &mut rng).unwrap();
    let mean = (0..10)
        .map(|_| matrix.null_skewness(&predictions, &mut rng).unwrap() / 10.0)
        .sum::<f64>();
    assert_close(mean, exact, 0.1);
}
