//! Proper scores of real predictions. References: `∫ (F(x) − 1[y ≤ x])² dx` by mpmath's quadrature in 30
//! digits, scalar loops, hand.

use super::*;
use crate::prelude::*;

pub const TARGETS: [f64; 4] = [-2.0, 0.25, 1.9, 7.0];

/// Of N(½, 2²), Laplace(½, 2), and the mixtures of three normals and of three Laplace distributions.
pub const CRPS: [[f64; 4]; 4] = [
    [
        1.5739683061262988,
        0.4798406930985418,
        0.843138340146928,
        5.372235699582607,
    ],
    [
        1.5730095937203803,
        0.5149938051691908,
        0.893170607582819,
        5.077548415663444,
    ],
    [
        1.9143362223433302,
        0.44737947030026826,
        0.6418679129997933,
        5.610633944646752,
    ],
    [
        1.8654863844194438,
        0.458587630889204,
        0.6447855892417088,
        5.511662079348288,
    ],
];

#[test]
fn crps_by_quadrature() {
    let targets = column(TARGETS);
    let (location, scale) = (repeated(0.5, 4), repeated(2.0, 4));
    let got = [
        Crps.values(&Normal::new(location.clone(), scale.clone()), &targets),
        Crps.values(&Laplace::new(location, scale), &targets),
        Crps.values(&normal_mixture(4), &targets),
        Crps.values(&laplace_mixture(4), &targets),
    ];
    for (got, expected) in got.into_iter().zip(CRPS) {
        assert_eq!(got.dtype(), DType::F64);
        all_relative(vector(got), expected, 1e-13);
    }
}

#[test]
fn crps_in_f32() {
    let targets = column(TARGETS).cast(DType::F32);
    let normals = normal_mixture(4).like(&as_f32(normal_mixture(4)));
    assert_eq!(normals.dtype(), DType::F32);
    all_relative(vector(Crps.values(&normals, &targets)), CRPS[2], 2e-6);
    let (location, scale) = parameters(4);
    let laplace = Laplace::new(location.cast(DType::F32), scale.cast(DType::F32));
    let laplaces = Mixture::new(weights(4).cast(DType::F32), laplace);
    let values = Crps.values(&laplaces, &targets);
    assert_eq!(values.dtype(), DType::F32);
    all_relative(vector(values), CRPS[3], 2e-6);
}

fn as_f32(mixture: Mixture<Normal>) -> Mixture<Normal> {
    let components = mixture.all_components();
    let (mean, deviation) = (components.mean(), components.standard_deviation());
    let components = Normal::new(mean.cast(DType::F32), deviation.cast(DType::F32));
    Mixture::new(mixture.weights().cast(DType::F32), components)
}

/// Scales that nearly or exactly agree, where the closed form of the difference of two Laplace variables
/// is 0/0: compared with a quadrature of `∫ (F + G − 2FG)` in scalar f64.
#[test]
fn laplace_differences_through_equal_scales() {
    let scales = [0.2, 0.999, 1.0 - 1e-9, 1.0, 1.0 + 1e-5, 1.5, 8.0];
    for distance in [0.0, 1e-3, 0.7, 5.0] {
        let expected: Vec<f64> = scales
            .iter()
            .map(|&c| difference(distance, 1.0, c))
            .collect();
        let n = scales.len();
        for (dtype, precision) in [(DType::F64, 1e-9), (DType::F32, 1e-6)] {
            let of = |x: Tensor<2>| x.cast(dtype);
            let p = Laplace::new(of(repeated(3.0, n)), of(repeated(1.0, n)));
            let q = Laplace::new(of(repeated(3.0 + distance, n)), of(column(scales)));
            all_relative(vector(p.absolute_difference(&q)), &expected, precision);
            all_relative(vector(q.absolute_difference(&p)), &expected, precision);
        }
    }
}

/// `E|X − Y| = ∫ F(1 − G) + G(1 − F) dx`, by Simpson's rule between the kinks.
fn difference(distance: f64, b: f64, c: f64) -> f64 {
    let tails = |z: f64| match z < 0.0 {
        true => (0.5 * z.exp(), 1.0 - 0.5 * z.exp()),
        false => (1.0 - 0.5 * (-z).exp(), 0.5 * (-z).exp()),
    };
    let integrand = |x: f64| {
        let ((f, not_f), (g, not_g)) = (tails(x / b), tails((x - distance) / c));
        f * not_g + g * not_f
    };
    let reach = 40.0 * b.max(c);
    let piece = |low: f64, high: f64| {
        let steps = 40_000;
        let h = (high - low) / f64::from(steps);
        let weight = |i| match i {
            0 => 1.0,
            i if i == steps => 1.0,
            i if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (0..=steps)
            .map(|i| weight(i) * integrand(low + f64::from(i) * h))
            .sum::<f64>()
            * h
            / 3.0
    };
    piece(-reach, 0.0) + piece(0.0, distance) + piece(distance, distance + reach)
}

#[test]
fn sample_scores_by_hand() {
    let predictions = samples(&[vec![vec![4.0], vec![1.0], vec![2.0]]]);
    let target = column([2.5]);
    // 7/6 − ½ · 12/9, and 7/6 − ½ · 12/6
    all_relative(vector(Crps.values(&predictions, &target)), [0.5], 1e-15);
    all_relative(
        vector(FairCrps.values(&predictions, &target)),
        [1.0 / 6.0],
        1e-14,
    );
    // a single draw is a point: the absolute error
    let point = samples(&[vec![vec![4.0]]]);
    assert_eq!(vector(Crps.values(&point, &target)), [1.5]);
}

/// `S⁻¹ Σ |x_s − y| − ½ S⁻² ΣΣ |x_s − x_t|`, summed over coordinates, by scalar loops; far from 0 as well.
#[test]
fn sample_scores_by_loops() {
    let rng = &mut rng(3);
    let (n, s) = (5, 7);
    for d in [1, 3] {
        let draws: Vec<Vec<Vec<f64>>> = (0..n).map(|_| random_rows(s, d, 2.0, rng)).collect();
        let targets = random_rows(n, d, 2.0, rng);
        let distance =
            |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| (x - y).abs()).sum() };
        let brute = |pairs: f64| -> Vec<f64> {
            let score = |(draws, y): (&Vec<Vec<f64>>, &Vec<f64>)| {
                let error: f64 = draws.iter().map(|x| distance(x, y)).sum();
                let all = draws
                    .iter()
                    .flat_map(|x| draws.iter().map(|z| distance(x, z)));
                error / s as f64 - 0.5 * all.sum::<f64>() / pairs
            };
            draws.iter().zip(&targets).map(score).collect()
        };
        let (predictions, y) = (samples(&draws), tensor(&targets));
        let square = (s * s) as f64;
        all_relative(vector(Crps.values(&predictions, &y)), brute(square), 1e-12);
        let distinct = (s * (s - 1)) as f64;
        all_relative(
            vector(FairCrps.values(&predictions, &y)),
            brute(distinct),
            1e-11,
        );
        // 10⁴ away, in f32
        let far = Samples::new((predictions.draws() + 8192.0).cast(DType::F32));
        let values = vector(Crps.values(&far, &(y + 8192.0).cast(DType::F32)));
        for (got, expected) in values.iter().zip(brute(square)) {
            let tolerance = 2e-3 * d as f64;
            assert!((got - expected).abs() < tolerance, "{got}, {expected}");
        }
    }
}

/// Translation by 5 and scaling by 3: the CRPS scales, the log score moves by `d ln 3`.
#[test]
fn equivariance() {
    let rng = &mut rng(6);
    let (n, k, d) = (4, 3, 2);
    let location = tensor(&random_rows(n * k, d, 2.0, rng));
    let scale = tensor(&positive_rows(n * k, d, [0.2, 2.0], rng));
    let weights = tensor(&random_probabilities(n, k, rng));
    let targets = tensor(&random_rows(n, d, 2.0, rng));
    let moved = |x: &Tensor<2>| x.clone() * 3.0 + 5.0;
    let mixture = |location: Tensor<2>, scale: Tensor<2>| {
        Mixture::new(weights.clone(), Laplace::new(location, scale))
    };
    let before = mixture(location.clone(), scale.clone());
    let after = mixture(moved(&location), scale * 3.0);
    let expected = vector(Crps.values(&before, &targets) * 3.0);
    all_relative(
        vector(Crps.values(&after, &moved(&targets))),
        &expected,
        1e-12,
    );
    let expected = vector(LogScore.values(&before, &targets) + 2.0 * 3f64.ln());
    all_relative(
        vector(LogScore.values(&after, &moved(&targets))),
        &expected,
        1e-12,
    );

    let draws: Vec<Vec<Vec<f64>>> = (0..n).map(|_| random_rows(5, d, 2.0, rng)).collect();
    let before = samples(&draws);
    let after = Samples::new(before.draws() * 3.0 + 5.0);
    let expected = vector(Crps.values(&before, &targets) * 3.0);
    all_relative(
        vector(Crps.values(&after, &moved(&targets))),
        &expected,
        1e-12,
    );
}

/// A mixture of one, and of equal ones, scores as its component; coordinates add up.
#[test]
fn trivial_mixtures() {
    let rng = &mut rng(7);
    let (n, d) = (5, 2);
    let component = Laplace::new(
        tensor(&random_rows(n, d, 2.0, rng)),
        tensor(&positive_rows(n, d, [0.2, 2.0], rng)),
    );
    let targets = tensor(&random_rows(n, d, 3.0, rng));
    let expected = vector(Crps.values(&component, &targets));
    for members in [1, 3] {
        let mixture = Mixture::ensemble(&vec![component.clone(); members]);
        all_relative(vector(Crps.values(&mixture, &targets)), &expected, 1e-13);
        all_relative(
            vector(mixture.mean_difference()),
            vector(component.mean_difference()),
            1e-13,
        );
    }
    let coordinate = |c: usize| {
        let of = |x: Tensor<2>| x.slice([0..n, c..c + 1]);
        let predictions = Laplace::new(of(component.location()), of(component.scale()));
        Crps.values(&predictions, &of(targets.clone()))
    };
    all_relative(vector(coordinate(0) + coordinate(1)), &expected, 1e-14);
}
