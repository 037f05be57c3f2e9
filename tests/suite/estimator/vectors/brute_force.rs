//! Estimators of normal predictions against double loops, and by hand.

use super::data::{Rows, gaussian, gaussian_factor, normal_h};
use crate::prelude::*;

/// More samples than a side of a tile, in one and three dimensions.
#[test]
fn estimates_are_means_of_h() {
    for (n, d) in [(7, 1), (5, 3), (300, 2)] {
        let rows = Rows::random(n, d, &mut rng(1));
        let h = table(n, n, |i, j| normal_h(&rows, i, j, 0.8, 1.3));
        let estimate = |skce: Skce<_>| skce.on(&rows.normal(), &tensor(&rows.target));
        let kernel = gaussian(0.8, 1.3);
        assert_relative(estimate(Skce::biased(kernel)), biased(&h), 1e-11);
        assert_relative(estimate(Skce::unbiased(kernel)), unbiased(&h), 1e-10);
        assert_relative(estimate(Skce::block(kernel, 3)), in_blocks(&h, 3), 1e-10);
    }
}

/// What training computes is what estimates compute.
#[test]
fn training_agrees_with_estimates() {
    let rows = Rows::random(23, 2, &mut rng(2));
    let (normal, laplace, targets) = (rows.normal(), rows.laplace(), tensor(&rows.target));
    for bandwidth in [Bandwidth::Fixed(0.7), Bandwidth::Median] {
        let kernel = gaussian(1.0, 0.9).with_bandwidth(bandwidth);
        for skce in [Skce::biased, Skce::unbiased, Skce::linear].map(|skce| skce(kernel)) {
            // the median of a block estimator in training is that within blocks
            if bandwidth == Bandwidth::Median && skce == Skce::linear(kernel) {
                continue;
            }
            let value = scalar(skce.value(&normal, &targets));
            let estimate = skce.on(&normal, &targets);
            assert_relative(value, estimate, 1e-9);
            let value = scalar(skce.value(&laplace, &targets));
            let estimate = skce.on(&laplace, &targets);
            assert_relative(value, estimate, 1e-9);
        }
    }
}

/// An additional coordinate that all predictions and targets share changes the SKCE by its factors
/// alone: with a scale of nearly 0 and the target at its location it changes nothing.
#[test]
fn a_certain_coordinate_changes_nothing() {
    let rows = Rows::random(9, 1, &mut rng(3));
    let mut wider = rows.clone();
    let columns = [&mut wider.location, &mut wider.scale, &mut wider.target];
    for (column, value) in columns.into_iter().zip([0.5, 1e-9, 0.5]) {
        column.iter_mut().for_each(|row| row.push(value));
    }
    let skce = Skce::unbiased(gaussian(1.0, 1.0));
    let narrow = skce.on(&rows.normal(), &tensor(&rows.target));
    let wide = skce.on(&wider.normal(), &tensor(&wider.target));
    assert_relative(narrow, wide, 1e-12);
}

#[test]
fn ucme_is_the_mean_square_of_its_embeddings() {
    let rows = Rows::random(11, 1, &mut rng(4));
    let at = Rows::random(3, 1, &mut rng(5));
    let (bandwidth, length) = (0.9, 1.2);
    let z = |j: usize, i: usize| {
        let (m, s, y) = (rows.location[i][0], rows.scale[i][0], rows.target[i][0]);
        let (t, r, tau) = (at.location[j][0], at.scale[j][0], at.target[j][0]);
        let kernel = (-((m - t).powi(2) + (s - r).powi(2)).sqrt() / bandwidth).exp();
        kernel * (gaussian_factor(y - tau, 0.0, length) - gaussian_factor(m - tau, s * s, length))
    };
    let mean = |j| (0..11).map(|i| z(j, i)).sum::<f64>() / 11.0;
    let expected = (0..3).map(|j| mean(j).powi(2)).sum::<f64>() / 3.0;
    let (points, targets) = (at.normal(), tensor(&at.target));
    let ucme = Ucme::new(gaussian(bandwidth, length), &points, &targets).unwrap();
    let got = ucme.on(&rows.normal(), &tensor(&rows.target));
    assert_relative(got, expected, 1e-12);
    let value = scalar(ucme.value(&rows.normal(), &tensor(&rows.target)));
    assert_relative(value, expected, 1e-12);
}

/// f32 to the rounding of its terms, which are of the order of 1.
#[test]
fn single_precision_agrees() {
    let rows = Rows::random(40, 2, &mut rng(6));
    let predictions = Normal::new(single(&rows.location), single(&rows.scale));
    let skce = Skce::unbiased(gaussian(1.0, 1.0));
    let narrow = skce.on(&predictions, &single(&rows.target));
    let wide = skce.on(&rows.normal(), &tensor(&rows.target));
    assert!((narrow - wide).abs() < 1e-6, "{narrow}, {wide}");
}

/// The values of docs/mathematics.md, section 2: `exp(−W₂) ⊗ exp(−(y − y')²/2)` and two predictions.
fn of_two(means: [f64; 2], scales: [f64; 2], targets: [f64; 2]) -> f64 {
    let predictions = Normal::new(column(means), column(scales));
    let skce = Skce::unbiased(gaussian(1.0, 1.0));
    skce.on(&predictions, &column(targets))
}

#[test]
fn two_equal_predictions() {
    let expected = 1.0 - 2f64.sqrt() + 3f64.sqrt().recip();
    let got = of_two([0.0, 0.0], [1.0, 1.0], [0.0, 0.0]);
    assert_near(got, expected, 1e-12);
}

/// `N(0, 1)` and `N(1, 2²)`, `W₂ = √2`.
#[test]
fn two_different_predictions() {
    let got = of_two([0.0, 1.0], [1.0, 2.0], [1.0, 0.0]);
    let terms = (-0.5f64).exp() - 2f64.sqrt().recip() - 5f64.sqrt().recip()
        + (-1.0f64 / 12.0).exp() / 6f64.sqrt();
    assert_near(got, (-2f64.sqrt()).exp() * terms, 1e-12);
}
