//! The standard normal distribution, on tensors and on the host.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI, SQRT_2};

use burn::tensor::{DType, Tensor};
use pulp::{Arch, Simd, WithSimd};
use statrs::function::erf::erfc_inv;

use crate::ops::{ERFCX_F32, ERFCX_F64, exp, linearised};

/// `φ(z) = e^{−z²/2}/√2π`.
pub(crate) fn density<const D: usize>(z: Tensor<D>) -> Tensor<D> {
    (z.square() * -0.5).exp() * (2.0 * PI).sqrt().recip()
}

/// `Φ(z)`, with the gradient `φ(z)`. The lower tail keeps its digits: the error relative to
/// `min(Φ, 1 − Φ)` is a few roundings and that of `z²/2`.
pub(crate) fn cdf<const D: usize>(z: Tensor<D>) -> Tensor<D> {
    let point = z.clone().detach();
    let density = density(point.clone());
    let tail = mills_ratio(point.clone().abs()) * density.clone();
    let positive = point.greater_elem(0.0);
    let value = tail.clone().mask_where(positive, tail.neg() + 1.0);
    linearised(value, &z, density)
}

/// `(1 − Φ(a))/φ(a) = √(π/2) erfcx(z)` with `z = a/√2 ≥ 0`.
fn mills_ratio<const D: usize>(a: Tensor<D>) -> Tensor<D> {
    erfcx(a * FRAC_1_SQRT_2) * FRAC_PI_2.sqrt()
}

/// `erfcx(z) = e^{z²} erfc(z)` for `z ≥ −½`: `(1 + z) erfcx(z)` is a polynomial `p` in
/// [`erfcx_position`], for a tensor that is not tracked.
pub(crate) fn erfcx<const D: usize>(z: Tensor<D>) -> Tensor<D> {
    let x = erfcx_position(z.clone());
    let coefficients = erfcx_coefficients(z.dtype()).iter().rev();
    let p = coefficients.fold(x.zeros_like(), |sum, &c| sum * x.clone() + c);
    p / (z + 1.0)
}

/// `(z − 3)/(z + 4)`, which maps `[−½, ∞]` to `[−1, 1]`.
pub(crate) fn erfcx_position<const D: usize>(z: Tensor<D>) -> Tensor<D> {
    (z + 4.0).recip() * -7.0 + 1.0
}

/// The coefficients of `p`, the constant one first.
pub(crate) fn erfcx_coefficients(dtype: DType) -> &'static [f64] {
    match dtype {
        DType::F64 => &ERFCX_F64,
        _ => &ERFCX_F32,
    }
}

/// The Mills ratio on the host.
#[inline(always)]
fn mills_ratio_of(a: f64) -> f64 {
    let z = a * FRAC_1_SQRT_2;
    let x = 1.0 - 7.0 / (z + 4.0);
    let polynomial = ERFCX_F64.iter().rev().fold(0.0, |sum, c| sum * x + c);
    polynomial * FRAC_PI_2.sqrt() / (z + 1.0)
}

/// `Φ(z)` and `1 − Φ(z)`.
pub(crate) fn tails(z: f64) -> (f64, f64) {
    let a = z.abs();
    let tail = mills_ratio_of(a) * (-0.5 * a * a).exp() / (2.0 * PI).sqrt();
    if z > 0.0 {
        (1.0 - tail, tail)
    } else {
        (tail, 1.0 - tail)
    }
}

/// `Φ(z)` in place of each number, in vectors: as [`tails`] to rounding.
pub(crate) fn cdfs(z: &mut [f64]) {
    Arch::new().dispatch(Cdfs(z));
}

struct Cdfs<'a>(&'a mut [f64]);

/// Numbers at a time.
const LANES: usize = 16;

impl WithSimd for Cdfs<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for numbers in self.0.chunks_mut(LANES) {
            let mut z = [0.0; LANES];
            z[..numbers.len()].copy_from_slice(numbers);
            let mut density = z.map(|z| -0.5 * z * z);
            exp(&mut density);
            let scaled = z.map(|z| z.abs() * FRAC_1_SQRT_2);
            let x = scaled.map(|z| 1.0 - 7.0 / (z + 4.0));
            let mut polynomial = [0.0; LANES];
            for &c in ERFCX_F64.iter().rev() {
                for k in 0..LANES {
                    polynomial[k] = polynomial[k] * x[k] + c;
                }
            }
            for (k, number) in numbers.iter_mut().enumerate() {
                let tail = 0.5 * polynomial[k] / (scaled[k] + 1.0) * density[k];
                *number = if z[k] > 0.0 { 1.0 - tail } else { tail };
            }
        }
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
