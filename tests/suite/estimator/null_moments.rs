//! Variance and skewness of the unbiased SKCE of calibrated models.

use crate::prelude::*;

/// `exp` of uniform numbers of so large a range, normalised.
fn predictions(n: usize, m: usize, range: f64, seed: u64) -> Categorical {
    let mut rng = rng(seed);
    let mut row = |_| {
        let logits: Vec<f64> = (0..m).map(|_| range * rng.random::<f64>()).collect();
        softmax(&logits)
    };
    categorical(&(0..n).map(&mut row).collect::<Vec<_>>())
}

/// `E[S²]` and `E[S³]` of `S = n(n−1)·SKCE_uq` over all labellings.
fn enumerated(predictions: &Categorical) -> [f64; 2] {
    let n = predictions.len();
    let (mut first, mut moments) = (0.0, [0.0; 2]);
    for (classes, probability) in labellings(&rows_of(predictions.probabilities())) {
        let labels = predictions.observed(&classes);
        let skce = Skce::unbiased(exponential(0.4)).on(predictions, &labels);
        let sum = skce * (n * (n - 1)) as f64;
        first += probability * sum;
        moments[0] += probability * sum.powi(2);
        moments[1] += probability * sum.powi(3);
    }
    assert!(first.abs() < 1e-13, "{first}");
    moments
}

#[test]
fn moments_by_enumeration() {
    let sizes: [(usize, &[usize]); 4] = [(2, &[2, 3]), (3, &[2, 3, 4]), (4, &[2, 3]), (5, &[2])];
    for (n, m) in sizes
        .into_iter()
        .flat_map(|(n, all)| all.iter().map(move |m| (n, *m)))
    {
        for (range, seed) in [(2.0, 1), (5.0, 2), (12.0, 3)] {
            let predictions = predictions(n, m, range, seed);
            let [second, third] = enumerated(&predictions);
            let mut rng = StdRng::seed_from_u64(0);
            let variance = null_variance(&exponential(0.4), &predictions, &mut rng).unwrap();
            let expected = second / ((n - 1) * (n - 1)) as f64;
            assert_near_in((n, m, range), variance, expected, 1e-10 * expected);
            let skewness = null_skewness(&exponential(0.4), &predictions, &mut rng).unwrap();
            let expected = third / second.powf(1.5);
            let tolerance = 1e-10 * expected.abs().max(1.0);
            assert_near_in((n, m, range), skewness, expected, tolerance);
        }
    }
}

/// `M = I`, given as a matrix.
fn identity(m: usize) -> MatrixKernel {
    MatrixKernel::from_rows(exponential(0.4), &crate::data::identity(m)).unwrap()
}

/// The variance of many samples of many classes, in several tiles of rows and columns: one pass, and tensor operations
/// for a matrix.
#[test]
fn variances_in_tiles() {
    let predictions = predictions(1200, 240, 18.0, 8);
    let mut rng = StdRng::seed_from_u64(9);
    let found = null_variance(&exponential(0.4), &predictions, &mut rng).unwrap();
    let expected = null_variance(&identity(240), &predictions, &mut rng).unwrap();
    assert_relative(found, expected, 1e-12);
}

/// With a matrix the skewness comes from redrawn labels: of all samples, and of some where there are more than 512.
#[test]
fn redrawn_labels_agree() {
    for (n, redraws) in [(40, 10), (700, 4)] {
        let predictions = predictions(n, 3, 4.0, 6);
        let mut rng = StdRng::seed_from_u64(7);
        let matrix = identity(3);
        let exact = null_skewness(&exponential(0.4), &predictions, &mut rng).unwrap();
        let found = (0..redraws).map(|_| null_skewness(&matrix, &predictions, &mut rng).unwrap());
        let mean = found.sum::<f64>() / redraws as f64;
        assert_near(mean, exact, 0.1 * exact.abs());
    }
}

#[test]
fn one_sample_has_no_variance() {
    let mut rng = StdRng::seed_from_u64(0);
    refuses(null_variance(
        &exponential(0.4),
        &predictions(1, 3, 2.0, 4),
        &mut rng,
    ));
}
