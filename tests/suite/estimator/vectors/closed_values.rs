//! The values of docs/mathematics.md, section 2: `exp(−W₂) ⊗ exp(−(y − y')²/2)` and two predictions.

use super::data::gaussian;
use crate::prelude::*;

fn estimate(means: [f64; 2], scales: [f64; 2], targets: [f64; 2]) -> f64 {
    let predictions = Normal::new(column(means), column(scales));
    let skce = Skce::unbiased(gaussian(1.0, 1.0));
    skce.on(&predictions, &column(targets))
}

#[test]
fn two_equal_predictions() {
    let expected = 1.0 - 2f64.sqrt() + 3f64.sqrt().recip();
    let got = estimate([0.0, 0.0], [1.0, 1.0], [0.0, 0.0]);
    assert_near(got, expected, 1e-12);
}

/// `N(0, 1)` and `N(1, 2²)`, `W₂ = √2`.
#[test]
fn two_different_predictions() {
    let got = estimate([0.0, 1.0], [1.0, 2.0], [1.0, 0.0]);
    let terms = (-0.5f64).exp() - 2f64.sqrt().recip() - 5f64.sqrt().recip()
        + (-1.0f64 / 12.0).exp() / 6f64.sqrt();
    assert_near(got, (-2f64.sqrt()).exp() * terms, 1e-12);
}
