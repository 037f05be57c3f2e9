//! Mixtures and ensembles: against brute force over components, and against single models.

use std::slice::from_ref;

use super::data::{Rows, gaussian, gaussian_factor, laplacian};
use crate::prelude::*;

/// Two components each: the least cost of a coupling of `(a, 1−a)` and `(b, 1−b)`, linear in the one
/// free entry, is at an end of its interval.
fn two_by_two(a: f64, b: f64, cost: [[f64; 2]; 2]) -> f64 {
    let at = |x: f64| {
        x * cost[0][0]
            + (a - x) * cost[0][1]
            + (b - x) * cost[1][0]
            + (1.0 - a - b + x) * cost[1][1]
    };
    at(a.min(b)).min(at((a + b - 1.0).max(0.0)))
}

#[test]
fn the_estimate_is_the_sum_over_components() {
    let (n, bandwidth, length) = (6, 0.9, 1.2);
    let components = Rows::random(2 * n, 1, &mut rng(61));
    let targets = random_rows(n, 1, 2.0, &mut rng(62));
    let weights = random_rows(n, 1, 0.45, &mut rng(63)).concat();
    let weights: Vec<f64> = weights.iter().map(|w| 0.5 + w).collect();
    let weight = |i: usize, k: usize| if k == 0 { weights[i] } else { 1.0 - weights[i] };
    let (m, s) = (
        |i: usize, k: usize| components.location[2 * i + k][0],
        |i: usize, k: usize| components.scale[2 * i + k][0],
    );
    let h = |i: usize, j: usize| {
        let cost = |k: usize, l: usize| (m(i, k) - m(j, l)).powi(2) + (s(i, k) - s(j, l)).powi(2);
        let cost = [[cost(0, 0), cost(0, 1)], [cost(1, 0), cost(1, 1)]];
        let distance = two_by_two(weights[i], weights[j], cost).sqrt();
        let single = |i: usize, y: f64| {
            let of = |k| weight(i, k) * gaussian_factor(m(i, k) - y, s(i, k).powi(2), length);
            of(0) + of(1)
        };
        let (y, z) = (targets[i][0], targets[j][0]);
        let mut double = 0.0;
        for k in 0..2 {
            for l in 0..2 {
                let variance = s(i, k).powi(2) + s(j, l).powi(2);
                double += weight(i, k)
                    * weight(j, l)
                    * gaussian_factor(m(i, k) - m(j, l), variance, length);
            }
        }
        (-distance / bandwidth).exp()
            * (gaussian_factor(y - z, 0.0, length) - single(i, z) - single(j, y) + double)
    };
    let rows: Vec<Vec<f64>> = weights.iter().map(|w| vec![*w, 1.0 - w]).collect();
    let mixture = Mixture::new(tensor(&rows), components.normal());
    let biased: f64 = (0..n * n).map(|at| h(at / n, at % n)).sum::<f64>() / (n * n) as f64;
    let kernel = gaussian(bandwidth, length);
    let got = Skce::biased(kernel).on(&mixture, &tensor(&targets));
    assert_relative(got, biased, 1e-11);
    let value = scalar(Skce::biased(kernel).value(&mixture, &tensor(&targets)));
    assert_relative(value, biased, 1e-11);
}

/// An ensemble of one is its member, and so is one of equal members; for tests as for estimates.
#[test]
fn ensembles_of_one_model_are_the_model() {
    let rows = Rows::random(15, 2, &mut rng(64));
    let targets = tensor(&rows.target);
    for kernel in [
        gaussian(1.0, 1.0),
        laplacian(1.0, 1.0).with_bandwidth(Bandwidth::Median),
    ] {
        let skce = Skce::unbiased(kernel);
        let (normal, laplace) = (rows.normal(), rows.laplace());
        let single = skce.on(&normal, &targets);
        for members in [1, 3] {
            let ensemble = Mixture::ensemble(&vec![normal.clone(); members]);
            let estimate = skce.on(&ensemble, &targets);
            assert_relative(estimate, single, 1e-9);
        }
        let ensemble = Mixture::ensemble(from_ref(&laplace));
        let estimate = skce.on(&ensemble, &targets);
        assert_relative(estimate, skce.on(&laplace, &targets), 1e-12);
        let test = AsymptoticBlockSkceTest::linear(kernel);
        let of_one = test.p_value(&Mixture::ensemble(from_ref(&normal)), &targets, 65);
        assert_relative(of_one, test.p_value(&normal, &targets, 65), 1e-9);
    }
}

/// The order of members does not matter, and a component of weight 0 changes nothing.
#[test]
fn components_have_no_order() {
    let sets: Vec<Normal> = (0..3)
        .map(|seed| Rows::random(8, 1, &mut rng(70 + seed)).normal())
        .collect();
    let targets = tensor(&random_rows(8, 1, 2.0, &mut rng(73)));
    let skce = Skce::unbiased(gaussian(0.7, 1.0));
    let estimate = |mixture: &Mixture<Normal>| skce.on(mixture, &targets);
    let forward = estimate(&Mixture::ensemble(&sets));
    let reversed: Vec<Normal> = sets.iter().rev().cloned().collect();
    assert_relative(forward, estimate(&Mixture::ensemble(&reversed)), 1e-10);
    let other = Rows::random(8, 1, &mut rng(74)).normal();
    let padded = Mixture::ensemble(&[sets.clone(), vec![other]].concat());
    let third = 3f64.recip();
    let weights = tensor(&[[third, third, third, 0.0]; 8]);
    let padded = Mixture::new(weights, padded.all_components().clone());
    assert_relative(forward, estimate(&padded), 1e-10);
}

/// Components that are nearly points are Monte Carlo samples, in the estimate and the distance.
#[test]
fn mixtures_of_points_are_samples() {
    let (n, s) = (5, 4);
    for d in [1, 2] {
        let draws = random_rows(n * s, d, 2.0, &mut rng(75));
        let targets = tensor(&random_rows(n, d, 2.0, &mut rng(76)));
        let points = tensor(&draws);
        let samples = Samples::new(points.clone().reshape([n as i32, s as i32, d as i32]));
        let weights = tensor(&vec![vec![0.25; s]; n]);
        let components = Laplace::new(points.clone(), points.ones_like() * 1e-9);
        let mixture = Mixture::new(weights, components);
        let a = vector(samples.distances(&samples, Distance::Euclidean, 1));
        let b = vector(mixture.distances(&mixture, Distance::Euclidean, 1));
        for (at, (a, b)) in a.iter().zip(&b).enumerate() {
            // on the diagonal the root of rounding
            let tolerance = if at % (n + 1) == 0 { 1e-6 } else { 1e-12 };
            assert!((a - b).abs() < tolerance, "{a}, {b}");
        }
        let skce = Skce::unbiased(laplacian(0.8, 1.0));
        let a = skce.on(&samples, &targets);
        let b = skce.on(&mixture, &targets);
        assert_relative(a, b, 1e-6);
    }
}
