//! The Gaussian kernel `exp(−u²/2ℓ²)`.

use std::f64::consts::FRAC_PI_2;

use burn::tensor::Tensor;

use super::{
    relative,
    smoothed::{smoothed_exponential, smoothed_exponential_difference, smoothed_laplace},
};

/// `E exp(−(Δ + √v Z)²/2ℓ²) = (1 + v/ℓ²)^{−½} exp(−Δ²/(2(ℓ² + v)))` for a standard normal `Z`.
///
/// One normal distribution has `v = σ²`, two have `v = σ² + σ'²`, and `v = 0` is the kernel itself.
///
/// # Shapes
///
/// - delta: any, the difference `Δ` of the locations
/// - variance: the same, `v ≥ 0`
/// - output: the same
pub(crate) fn gaussian_normal<const D: usize>(
    length: f64,
    delta: Tensor<D>,
    variance: Tensor<D>,
) -> Tensor<D> {
    let spread = variance * (length * length).recip() + 1.0; // 1 + v/ℓ²
    let t = delta * length.recip();
    (t.square() / spread.clone() * -0.5).exp() / spread.sqrt()
}

/// `E exp(−(Δ + βL)²/2ℓ²)` for a standard Laplace `L`: `√(2π)ℓ` times the density of the sum of a
/// normal of standard deviation `ℓ` and a Laplace of scale `β` at `Δ`.
///
/// It is `√(π/2)·r·E exp(−r|t + Z|)` with `r = ℓ/β`, `t = |Δ|/ℓ` and a standard normal `Z`.
///
/// # Shapes
///
/// - delta: any, the difference `Δ` of the locations
/// - scale: the same, `β ≥ 0`
/// - output: the same
pub(crate) fn gaussian_laplace<const D: usize>(
    length: f64,
    delta: Tensor<D>,
    scale: Tensor<D>,
) -> Tensor<D> {
    smoothed_laplace(delta.abs() * length.recip(), relative(scale, length))
}

/// `E exp(−(Δ + βL + β'L')²/2ℓ²)` for independent standard Laplace `L` and `L'`.
///
/// With `V` for one of them, it is the divided difference `(β²V(β) − β'²V(β'))/(β² − β'²)`. With
/// `V = √(π/2)·r·G(r)`, `r = ℓ/β`, `s = ℓ/β'`, `t = |Δ|/ℓ` and `G(r) = E exp(−r|t + Z|)`, that is
/// `√(π/2)·rs/(r + s)·[G(r) + r·(G(s) − G(r))/(r − s)]`: both terms are positive.
///
/// # Shapes
///
/// - delta: any, the difference `Δ` of the locations
/// - scale, other: the same, `β ≥ 0` and `β' ≥ 0`
/// - output: the same
pub(crate) fn gaussian_laplace_pair<const D: usize>(
    length: f64,
    delta: Tensor<D>,
    scale: Tensor<D>,
    other: Tensor<D>,
) -> Tensor<D> {
    let scales = [scale, other].map(|scale| relative(scale, length));
    let rates = scales.clone().map(Tensor::recip);
    let t = delta.abs() * length.recip();
    let values = rates
        .clone()
        .map(|r| smoothed_exponential(r.clone(), r * t.clone()));
    let ([value, _], [rate, _]) = (values.clone(), rates.clone());
    let decrease = smoothed_exponential_difference(rates, t, values);
    let [scale, other] = scales;
    (value + rate * decrease) / (scale + other) * FRAC_PI_2.sqrt()
}
