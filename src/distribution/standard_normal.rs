//! The standard normal distribution, on tensors and on the host.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

use burn::tensor::Tensor;
use statrs::function::erf::erfc_inv;

use crate::ops::{Formula, Number, elementwise, erfcx, in_place, of_number};

/// `φ(z) = e^{−z²/2}/√2π`.
pub(crate) fn density<const D: usize>(z: Tensor<D>) -> Tensor<D> {
    (z.square() * -0.5).exp() * (2.0 * PI).sqrt().recip()
}

/// `Φ(z)`, with the gradient `φ(z)`. The lower tail keeps its digits: the error relative to
/// `min(Φ, 1 − Φ)` is a few roundings and that of `z²/2`.
pub(crate) fn cdf<const D: usize>(z: Tensor<D>) -> Tensor<D> {
    elementwise(Cdf, [&z])
}

/// `Φ(z)` in place of each number, in vectors: as [`tails`] to rounding.
pub(crate) fn cdfs(z: &mut [f64]) {
    in_place(Cdf, z);
}

/// `Φ`, whose tail is `½e^{−z²/2} erfcx(|z|/√2)`.
#[derive(Clone, Copy)]
struct Cdf;

impl Formula<1> for Cdf {
    #[inline(always)]
    fn at<X: Number>(self, [z]: [X; 1]) -> (X, [X; 1]) {
        let exponent = z.clone() * z.clone() * -0.5;
        let (least, zero) = (z.constant(z.smallest().ln()), z.constant(0.0)); // 0 in the place of subnormal numbers
        let bell = exponent.clone().where_less(least, zero, exponent.exp());
        let tail = erfcx(z.clone().abs() * FRAC_1_SQRT_2) * bell.clone() * 0.5;
        let value = z.constant(0.0).where_less(z, -tail.clone() + 1.0, tail);
        (value, [bell * (2.0 * PI).sqrt().recip()])
    }
}

/// `Φ(z)` and `1 − Φ(z)`.
pub(crate) fn tails(z: f64) -> (f64, f64) {
    let tail = of_number(Cdf, -z.abs());
    if z > 0.0 {
        (1.0 - tail, tail)
    } else {
        (tail, 1.0 - tail)
    }
}

/// `Φ⁻¹(level)`, for a level in `(0, 1)`.
pub(crate) fn quantile(level: f64) -> f64 {
    if level < 0.5 {
        -upper_quantile(level)
    } else {
        upper_quantile(1.0 - level)
    }
}

/// The `z` with `1 − Φ(z)` the given tail, from the smallest normal number to ½: to some roundings.
pub(crate) fn upper_quantile(tail: f64) -> f64 {
    SQRT_2 * erfc_inv(2.0 * tail)
}
