//! Kernels on kinds of predictions whose distance is not that of a Hilbert space.

use nalgebra::{DMatrix, SymmetricEigen};
use proptest::{collection::vec, prelude::*};

use super::data::Rows;
use crate::prelude::*;

/// `(μ, σ)` of the components of a mixture, or two draws.
type Points = Vec<[f64; 2]>;

fn columns(predictions: &[Points]) -> [Tensor<2>; 2] {
    [0, 1].map(|c| column(predictions.iter().flatten().map(|point| point[c])))
}

/// Of equal weights.
fn mixtures(predictions: &[Points]) -> Mixture<Normal> {
    let [location, scale] = columns(predictions);
    let (n, k) = (predictions.len(), predictions[0].len());
    let weights = tensor(&vec![vec![(k as f64).recip(); k]; n]);
    Mixture::new(weights, Normal::new(location, scale))
}

fn samples(predictions: &[Points]) -> Samples {
    let (n, k) = (predictions.len(), predictions[0].len());
    let draws = Tensor::cat(columns(predictions).to_vec(), 1);
    Samples::new(draws.reshape([n, k, 2]))
}

fn distances<P: Geometry>(predictions: &P) -> Vec<f64> {
    vector(predictions.distances(predictions, Distance::Euclidean, 1))
}

/// The least eigenvalue of the Gram matrix of a kernel of fixed bandwidth.
fn least_eigenvalue<P: Geometry>(kernel: Kernel, predictions: &P) -> f64 {
    let bandwidth = fixed_bandwidth(&kernel);
    let distances = predictions.distances(predictions, kernel.distance, 1);
    let gram = vector(kernel.profile.of(distances * bandwidth.recip()));
    let n = predictions.len();
    let eigen = SymmetricEigen::new(DMatrix::from_row_slice(n, n, &gram));
    eigen.eigenvalues.min()
}

/// Against Widmann et al. 2021, Theorem D.1.
fn counterexample() -> Vec<Points> {
    vec![
        vec![[2.0, 2.0], [0.0, 3.0]],
        vec![[1.0, 1.0], [2.0, 3.0]],
        vec![[2.0, 2.0], [0.0, 2.0]],
        vec![[2.0, 1.0], [2.0, 3.0]],
    ]
}

#[test]
fn mixtures_of_two_normals() {
    let predictions = mixtures(&counterexample());
    let kernel = Kernel::gaussian().with_bandwidth_of_predictions(&predictions);
    let kernel = kernel.unwrap();
    assert_near(fixed_bandwidth(&kernel), 1.403, 5e-4);
    assert_near(least_eigenvalue(kernel, &predictions), -0.0276, 5e-5);
    assert!(kernel.is_positive_definite() && !kernel.is_positive_definite_on(&predictions));

    // the biased estimate is negative, and the bound for it refuses
    let kernel = TensorKernel::new(kernel, RealKernel::gaussian(10.0));
    let targets = tensor(&[[3.26], [4.22], [-1.72], [-0.26]]);
    let estimate = Skce::biased(kernel).estimate(&predictions, &targets);
    assert_relative_eq!(estimate.unwrap(), -3.3e-4, epsilon = 5e-6);
    let bound = |skce| {
        let test = DistributionFreeSkceTest::new(skce);
        test.outcome(&predictions, &targets, &mut rng(0))
    };
    let error = bound(Skce::biased(kernel)).unwrap_err();
    assert!(matches!(error, Error::NotPositiveDefinite { .. }));
    begins(
        &error,
        "the distribution-free test of the biased SKCE needs a kernel that is",
    );
    for skce in [Skce::unbiased(kernel), Skce::block(kernel, 2)] {
        let p_value = bound(skce).unwrap().p_value;
        assert!(p_value > 0.9 && p_value <= 1.0);
    }
}

/// The same points as draws of empirical distributions in two dimensions have the same distances.
#[test]
fn samples_of_two_draws_in_two_dimensions() {
    let predictions = samples(&counterexample());
    let mixed = distances(&mixtures(&counterexample()));
    let drawn = distances(&predictions);
    all_near(&mixed, &drawn, 1e-7);
    let kernel = Kernel::gaussian().with_bandwidth_of_predictions(&predictions);
    let kernel = kernel.unwrap();
    assert!(least_eigenvalue(kernel, &predictions) < -0.0275);
    assert!(!kernel.is_positive_definite_on(&predictions));
    let kernel = TensorKernel::new(kernel, RealKernel::gaussian(10.0));
    let test = DistributionFreeSkceTest::new(Skce::biased(kernel));
    let targets = tensor(&[[0.0; 2]; 4]);
    refuses(test.outcome(&predictions, &targets, &mut rng(0)));
}

/// Found by ascent of the centred matrix of distances, which is not of negative type.
#[test]
fn the_exponential_profile_of_three_components() {
    let points = [
        [[2.108, 3.567], [0.058, 1.998], [4.376, 2.039]],
        [[0.162, 2.255], [4.603, -0.191], [3.929, 2.682]],
        [[3.747, 2.758], [3.279, -0.081], [1.528, 4.294]],
        [[2.29, 3.319], [3.076, 0.705], [-0.294, 2.839]],
        [[0.293, 1.02], [1.331, 2.908], [4.342, 3.612]],
        [[2.938, 5.091], [2.058, 0.014], [3.595, 2.278]],
        [[4.008, 4.449], [2.165, 1.715], [0.302, 0.996]],
        [[4.101, 1.349], [0.768, 3.18], [3.599, 3.494]],
    ];
    let shifted = |point: &[f64; 2]| [point[0], point[1] + 1.0]; // scales are positive
    let points: Vec<Points> = points
        .iter()
        .map(|row| row.iter().map(shifted).collect())
        .collect();
    let kernel = Kernel::wasserstein().with_bandwidth(Bandwidth::Fixed(20.0));
    for least in [
        least_eigenvalue(kernel, &mixtures(&points)),
        least_eigenvalue(kernel, &samples(&points)),
    ] {
        assert!(least < -1e-3, "{least}");
    }
}

#[test]
fn predictions_with_coordinates() {
    let rows = Rows::random(6, 2, &mut rng(91));
    let (normal, one) = (rows.normal(), Mixture::ensemble(&[rows.normal()]));
    let line = Samples::new(tensor(&random_rows(6, 4, 2.0, &mut rng(92))).reshape([6, 4, 1]));
    for kernel in [Kernel::wasserstein(), Kernel::gaussian()] {
        assert!(kernel.is_positive_definite_on(&normal) && kernel.is_positive_definite_on(&one));
        assert!(kernel.is_positive_definite_on(&rows.laplace()));
        assert!(kernel.is_positive_definite_on(&line));
    }
    let wide = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(5.0));
    assert!(least_eigenvalue(wide, &one) > -1e-12 && least_eigenvalue(wide, &line) > -1e-12);
}

/// A profile that is not positive definite over its distance is refused on classes as well.
#[test]
fn gaussian_profile_over_total_variation() {
    let predictions = categorical(&random_probabilities(20, 4, &mut rng(93)));
    let classes = labels(&random_labels(20, 4, &mut rng(94)));
    let kernel = Kernel::gaussian().with_distance(Distance::TotalVariation);
    let evaluate = |skce| {
        let test = DistributionFreeSkceTest::new(skce);
        test.outcome(&predictions, &classes, &mut rng(0))
    };
    refuses(evaluate(Skce::biased(kernel)));
    assert!(evaluate(Skce::unbiased(kernel)).is_ok());
    assert!(evaluate(Skce::biased(Kernel::gaussian())).is_ok());
}

proptest! {
    #![proptest_config(cases(64))]

    /// The bound of the unbiased and block forms does not need a positive definite kernel: the estimate
    /// from two samples is `h` of their pair.
    #[test]
    fn h_is_bounded_on_mixtures(points in vec((-3.0..3.0f64, 0.01..2.0f64), 4), y in vec(-4.0..4.0f64, 2), length in 0.05..4.0f64) {
        let points: Vec<Points> = points.chunks(2)
            .map(|pair| pair.iter().map(|(location, scale)| [*location, *scale]).collect())
            .collect();
        let predictions = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(3.0));
        let kernel = TensorKernel::new(predictions, RealKernel::gaussian(length));
        let targets = tensor(&[vec![y[0]], vec![y[1]]]);
        let h = Skce::unbiased(kernel).on(&mixtures(&points), &targets);
        prop_assert!(h.abs() <= 2.0, "{h}");
    }
}
