//! Mixtures, and draws of several coordinates, that kernels compare by their quantiles.

use super::data::{Rows, gaussian};
use crate::prelude::*;

/// Mixtures of three components each, with a weight of 0 and components that are far apart among them.
fn three() -> Mixture<Normal> {
    let weights = [[0.2, 0.5, 0.3], [0.6, 0.4, 0.0], [0.24, 0.26, 0.5]];
    let means = [-1.0, 0.5, 2.0, 0.0, 3.0, 9.0, -4.0, 0.0, 4.0];
    let deviations = [0.5, 1.0, 0.25, 1.0, 0.2, 1.0, 0.1, 0.1, 0.1];
    let components = Normal::new(column(means), column(deviations));
    Mixture::new(tensor(&weights), components)
}

/// `n` mixtures of `k` normal distributions.
fn random(n: usize, k: usize, rng: &mut StdRng) -> Mixture<Normal> {
    let rows = Rows::random(n * k, 1, rng);
    let weights = (0..n).map(|_| {
        let row: Vec<f64> = (0..k).map(|_| rng.random_range(0.1..1.0)).collect();
        let sum: f64 = row.iter().sum();
        row.into_iter().map(|w| w / sum).collect::<Vec<_>>()
    });
    Mixture::new(tensor(&weights.collect::<Vec<_>>()), rows.normal())
}

fn distances<P: Geometry>(predictions: &P) -> Vec<f64> {
    vector(predictions.distances(predictions, Distance::Euclidean, 1))
}

/// scipy 1.17: the roots of mean squared differences of quantiles at the levels `(j − ½)/50`, found by `brentq`, and
/// of their integrals over all levels, by `quad`.
#[test]
fn distances_are_those_of_quantiles() {
    let mixtures = three();
    let found = distances(&mixtures.clone().compared_by_quantiles());
    for (at, by_levels, integral) in [
        (1, 0.6927539449196258, 0.6931695034968898),
        (2, 2.1370685801725573, 2.1340466874241653),
        (5, 1.8229435946217902, 1.819812122941656),
    ] {
        assert_relative(found[at], by_levels, 1e-12);
        assert_relative(found[at], integral, 0.02);
    }
    // no coupling of components is better than that of the distributions
    for (found, of_components) in found.iter().zip(distances(&mixtures)) {
        assert!(*found <= 1.01 * of_components);
    }
}

/// A mixture of equal components has the distances of these, up to the tails beyond the levels; one component has them
/// exactly.
#[test]
fn equal_components() {
    let rows = Rows::random(6, 2, &mut rng(81));
    let of_normal = distances(&rows.normal());
    for members in [1, 3] {
        let ensemble = Mixture::ensemble(&vec![rows.normal(); members]).compared_by_quantiles();
        let tolerance = if members == 1 { 0.0 } else { 0.02 };
        for (found, expected) in distances(&ensemble).iter().zip(&of_normal) {
            assert!((found - expected).abs() <= tolerance * expected);
        }
    }
}

/// The estimate is that of the mixture given its quantiles, by the fused pass and composed; rows, weights and dtypes
/// are taken of the quantiles too.
#[test]
fn estimates_compare_quantiles() {
    let mut rng = rng(82);
    let mixtures = random(30, 4, &mut rng);
    let targets = mixtures.sample(&mut rng);
    let compared = mixtures.clone().compared_by_quantiles();
    let quantiles = compared.coordinates().unwrap();
    assert_eq!(quantiles.dims(), [30, 50]);
    let given = Given::new(mixtures.clone(), quantiles);
    let kernel = gaussian(0.8, 1.2);
    for skce in [
        Skce::biased(kernel),
        Skce::unbiased(kernel),
        Skce::block(kernel, 4),
        Skce::unbiased(kernel.with_bandwidth(Bandwidth::Median)),
    ] {
        let found = skce.estimate(&compared, &targets).unwrap();
        assert_relative(found, skce.estimate(&given, &targets).unwrap(), 1e-12);
        let composed = skce.with_computation(Computation::Composed);
        assert_relative(found, composed.estimate(&compared, &targets).unwrap(), 1e-9);
        assert_relative(found, scalar(skce.value(&compared, &targets)), 1e-9);
    }
    // everything else is that of the mixture
    assert_eq!(
        vector(compared.cdf(&targets)),
        vector(mixtures.cdf(&targets))
    );
    let draws = |p: &Mixture<Normal>| vector(p.sample(&mut self::rng(1)));
    assert_eq!(draws(&compared), draws(&mixtures));

    let rows = [7, 3, 3];
    let all = distances(&compared);
    let expected: Vec<f64> = (rows.iter())
        .flat_map(|i| rows.map(|j| all[i * 30 + j]))
        .collect();
    all_near(distances(&compared.select_rows(&rows)), expected, 1e-12);
    let half = compared.map(&|x| x.cast(DType::F32));
    assert!(half.coordinates().unwrap().dtype() == DType::F32);
    let mut weights = [1.0; 30];
    weights[..10].fill(0.0);
    let weights = tensor(&weights.map(|w| vec![w])).reshape([30]);
    let (weighted, of_weighted) = compared.weighted(&weights, &targets).unwrap();
    let skce = Skce::unbiased(kernel);
    assert_relative(
        skce.estimate(&weighted, &of_weighted).unwrap(),
        skce.estimate(&compared.slice_rows(10..30), &targets.slice(10..30))
            .unwrap(),
        1e-12,
    );
}

/// Points have positive definite kernels, as the components of mixtures do not; there is no L1 distance.
#[test]
fn kernels_of_quantiles_are_positive_definite() {
    let mixtures = three().compared_by_quantiles();
    let kernel = gaussian(1.0, 1.0);
    assert!(kernel.predictions.is_positive_definite_on(&mixtures));
    let targets = tensor(&[vec![0.0], vec![1.0], vec![2.0]]);
    let bound = DistributionFreeSkceTest::new(Skce::biased(kernel));
    assert!(bound.outcome(&mixtures, &targets, &mut rng(0)).is_ok());
    let taxicab = Kernel::wasserstein().with_distance(Distance::L1);
    says(
        taxicab
            .with_bandwidth_of_predictions(&mixtures)
            .unwrap_err(),
    );
}

/// The marginals of draws: each coordinate sorted, also within the halves that are compared.
#[test]
fn draws_of_two_coordinates() {
    let draws = [
        [0.0, 5.0],
        [2.0, 1.0],
        [1.0, 3.0],
        [4.0, 3.0],
        [1.0, 1.0],
        [1.0, 9.0],
    ];
    let rows = draws.map(|row| row.to_vec());
    let samples = Samples::new(tensor(&rows).reshape([2, 3, 2])).compared_by_quantiles();
    // 0, 1, 2 and 1, 3, 5 with 1, 1, 4 and 1, 3, 9
    let expected = ((1.0 + 4.0 + 16.0) / 3.0f64).sqrt();
    all_near(distances(&samples), [0.0, expected, expected, 0.0], 1e-12);
    let half = samples.halves().unwrap().compared;
    assert_eq!(half.coordinates().unwrap().dims(), [2, 2]);
    let (pooled, _) = samples
        .pooled(&tensor(&[vec![0.0; 2], vec![0.0; 2]]))
        .unwrap();
    assert_eq!(pooled.coordinates().unwrap().dims(), [2, 8]);
    let on_line = random_rows(12, 1, 1.0, &mut rng(83));
    let on_line = Samples::new(tensor(&on_line).reshape([4, 3, 1]));
    assert_eq!(
        distances(&on_line),
        distances(&on_line.clone().compared_by_quantiles())
    );
}

/// Of miscalibrated mixtures both kernels find about as many.
#[test]
fn power_beside_that_of_components() {
    let mut rng = rng(84);
    let test = |predictions: &Mixture<Normal>, targets: &Tensor<2>, rng: &mut StdRng| {
        let kernel = gaussian(1.0, 1.0).with_bandwidth(Bandwidth::Median);
        let test = ExactTest::new(Skce::unbiased(kernel)).with_replicates(39);
        let outcome = test.outcome(predictions, targets, rng).unwrap();
        usize::from(outcome.p_value <= 0.05)
    };
    let sets = 30;
    let mut rejected = [0; 2];
    for _ in 0..sets {
        let mixtures = random(40, 4, &mut rng);
        // errors that depend on the prediction
        let shift = mixtures.means().sign();
        let targets = mixtures.sample(&mut rng) + shift;
        rejected[0] += test(&mixtures, &targets, &mut rng);
        rejected[1] += test(&mixtures.compared_by_quantiles(), &targets, &mut rng);
    }
    println!("{rejected:?} of {sets}");
    let [components, quantiles] = rejected;
    assert!(
        components > 10 && quantiles + 5 >= components,
        "{rejected:?}"
    );
}
