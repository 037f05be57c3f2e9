//! The Laplacian kernel `exp(−|u|/ℓ)`.

use burn::tensor::Tensor;

use super::{ordered, relative, smoothed::smoothed_exponential};
use crate::ops::{exponential_difference, second_exponential_difference};

/// `E exp(−|Δ + √v Z|/ℓ) = ½e^{−t²/2} [erfcx((r + t)/√2) + erfcx((r − t)/√2)]` for a standard normal
/// `Z`, with `r = √v/ℓ` and `t = |Δ|/√v`.
///
/// One normal distribution has `v = σ²`, two have `v = σ² + σ'²`, and `v = 0` is the kernel itself.
///
/// # Shapes
///
/// - delta: any, the difference `Δ` of the locations
/// - variance: the same, `v ≥ 0`
/// - output: the same
pub(crate) fn laplacian_normal<const D: usize>(
    length: f64,
    delta: Tensor<D>,
    variance: Tensor<D>,
) -> Tensor<D> {
    let smallest = variance
        .dtype()
        .finfo()
        .expect("a float tensor")
        .min_positive;
    let variance = variance * (length * length).recip();
    let r = variance.clamp_min(smallest.sqrt()).sqrt(); // √v/ℓ
    smoothed_exponential(r, delta.abs() * length.recip())
}

/// `E exp(−|Δ + βL|/ℓ)` for a standard Laplace `L`.
///
/// With the rates `1` and `b = ℓ/β` in units of the length scale, `t = |Δ|/ℓ`, and the smaller and
/// the larger rate `a ≤ c`, `E = b/(1 + b) · e^{−at} [1 + at·ψ((c − a)t)]` where
/// `ψ(x) = (1 − e^{−x})/x`: all terms are positive. It is the textbook
/// `b(b e^{−t} − e^{−bt})/(b² − 1)`, which is 0/0 for `b = 1`.
///
/// # Shapes
///
/// - delta: any, the difference `Δ` of the locations
/// - scale: the same, `β ≥ 0`
/// - output: the same
pub(crate) fn laplacian_laplace<const D: usize>(
    length: f64,
    delta: Tensor<D>,
    scale: Tensor<D>,
) -> Tensor<D> {
    let t = delta.abs() * length.recip();
    let scale = relative(scale, length);
    let rate = scale.clone().recip();
    let [least, largest] = ordered(rate.ones_like(), rate);
    let x = (largest - least.clone()) * t.clone();
    let at = least * t;
    at.clone().neg().exp() * (at * exponential_difference(x) + 1.0) / (scale + 1.0)
}

/// `E exp(−|Δ + βL + β'L'|/ℓ)` for independent standard Laplace `L` and `L'`.
///
/// With the rates `1`, `ℓ/β` and `ℓ/β'` in units of the length scale, sorted `a ≤ b ≤ c`,
/// `t = |Δ|/ℓ`, and the divided differences `ψ` and `χ` of `e^{−t}` at `0`, `x = (b − a)t` and
/// `y = (c − a)t`,
///
/// `E = a · b/(a+b) · c/(a+c) · e^{−at} [(1 + at·ψ(x))(a+b+c)/(b+c) + b/(b+c)·(a+b)t·at·χ(x, y)]`:
/// all terms are positive. It is the sum over partial fractions of the characteristic function, whose
/// denominators vanish for equal rates.
///
/// # Shapes
///
/// - delta: any, the difference `Δ` of the locations
/// - scale, other: the same, `β ≥ 0` and `β' ≥ 0`
/// - output: the same
pub(crate) fn laplacian_laplace_pair<const D: usize>(
    length: f64,
    delta: Tensor<D>,
    scale: Tensor<D>,
    other: Tensor<D>,
) -> Tensor<D> {
    let t = delta.abs() * length.recip();
    let [scale, other] = [scale, other].map(|scale| relative(scale, length).recip());
    let [b, c] = ordered(scale, other);
    let [a, b] = ordered(b.ones_like(), b);
    let [b, c] = ordered(b, c);

    let x = (b.clone() - a.clone()) * t.clone();
    let y = (c.clone() - a.clone()) * t.clone();
    let at = a.clone() * t.clone();
    let first = at.clone() * exponential_difference(x.clone()) + 1.0;
    let ab = a.clone() + b.clone();
    let bc = b.clone() + c.clone();
    let fraction = b.clone() / ab.clone() * c.clone() / (a.clone() + c);
    let second = b / bc.clone() * (ab * t * second_exponential_difference(x, y)) * at.clone();
    a.clone() * fraction * at.neg().exp() * (first * (a / bc + 1.0) + second)
}
