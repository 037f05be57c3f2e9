//! The standard normal distribution, on tensors and on the host.

use std::f64::consts::{PI, SQRT_2};

use burn::tensor::{DType, Tensor};
use pulp::{Arch, Simd, WithSimd};
use statrs::function::erf::erfc_inv;

use crate::ops::exp;

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
    with_gradient(z, value, density)
}

/// A function of `x` with the given value and derivative, both detached.
pub(super) fn with_gradient<const D: usize>(
    x: Tensor<D>,
    value: Tensor<D>,
    derivative: Tensor<D>,
) -> Tensor<D> {
    let zero = x.clone() - x.detach();
    value + derivative * zero
}

/// `(1 − Φ(a))/φ(a)` for `a ≥ 0`: a Chebyshev series in `t = (a − 5)/(a + 5)`, over `1 + a`.
fn mills_ratio<const D: usize>(a: Tensor<D>) -> Tensor<D> {
    let terms = match a.dtype() {
        DType::F64 => CHEBYSHEV.len(),
        _ => 14, // the next is below 10⁻⁹
    };
    let t = (a.clone() + 5.0).recip() * -10.0 + 1.0;
    // Clenshaw: b_k = c_k + 2t b_{k+1} − b_{k+2}
    let (mut next, mut after) = (t.zeros_like(), t.zeros_like());
    for &c in CHEBYSHEV[1..terms].iter().rev() {
        let b = t.clone() * next.clone() * 2.0 - after + c;
        (next, after) = (b, next);
    }
    (t * next - after + CHEBYSHEV[0]) / (a + 1.0)
}

/// The Mills ratio on the host.
fn mills_ratio_of(a: f64) -> f64 {
    let t = 1.0 - 10.0 / (a + 5.0);
    let (mut next, mut after) = (0.0, 0.0);
    for &c in CHEBYSHEV[1..].iter().rev() {
        (next, after) = (c + 2.0 * t * next - after, next);
    }
    (CHEBYSHEV[0] + t * next - after) / (1.0 + a)
}

/// `Φ(z)` and `1 − Φ(z)`.
pub(crate) fn tails(z: f64) -> (f64, f64) {
    let a = z.abs();
    let tail = mills_ratio_of(a) * (-0.5 * a * a).exp() / (2.0 * PI).sqrt();
    match z > 0.0 {
        true => (1.0 - tail, tail),
        false => (tail, 1.0 - tail),
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
            let t = z.map(|z| 1.0 - 10.0 / (z.abs() + 5.0));
            let (mut next, mut after) = ([0.0; LANES], [0.0; LANES]);
            for &c in CHEBYSHEV[1..].iter().rev() {
                for k in 0..LANES {
                    (next[k], after[k]) = (c + 2.0 * t[k] * next[k] - after[k], next[k]);
                }
            }
            let mut density = z.map(|z| -0.5 * z * z);
            exp(&mut density);
            let root = (2.0 * PI).sqrt().recip();
            for (k, number) in numbers.iter_mut().enumerate() {
                let ratio = (CHEBYSHEV[0] + t[k] * next[k] - after[k]) / (1.0 + z[k].abs());
                let tail = ratio * density[k] * root;
                *number = if z[k] > 0.0 { 1.0 - tail } else { tail };
            }
        }
    }
}

/// `Φ⁻¹(level)`, for a level in `(0, 1)`.
///
/// That of statrs 0.19, and a step of Newton's method on `ln Φ` for its last digits.
pub(crate) fn quantile(level: f64) -> f64 {
    let tail = level.min(1.0 - level);
    let a = SQRT_2 * erfc_inv(2.0 * tail);
    let ratio = mills_ratio_of(a);
    let log_tail = (ratio / (2.0 * PI).sqrt()).ln() - 0.5 * a * a;
    let a = a + (log_tail - tail.ln()) * ratio;
    if level < 0.5 { -a } else { a }
}

/// Chebyshev coefficients of `(1 + a)(1 − Φ(a))/φ(a)` in `(a − 5)/(a + 5)`, computed with mpmath in 50
/// digits.
const CHEBYSHEV: [f64; 27] = [
    1.1579976221305186,
    -0.1633449388451398,
    -0.013683136055781576,
    0.03082200019810004,
    -0.016220073012046806,
    0.005616691016460094,
    -0.0014133933783549216,
    0.0002502625460725661,
    -2.468907239728387e-5,
    -1.0107964061837592e-6,
    7.495419179740573e-7,
    -7.600274268728337e-8,
    -1.1574771441328644e-8,
    3.333386472599843e-9,
    7.538039628171347e-11,
    -1.1104247263727494e-10,
    3.509243776551059e-12,
    3.6894953861750955e-12,
    -2.3376697776383095e-13,
    -1.3271797523541405e-13,
    9.921706995888276e-15,
    5.276004995455379e-15,
    -3.373097694187922e-16,
    -2.2804338776379946e-16,
    7.496330565808626e-18,
    1.0328041877290668e-17,
    1.4940578561247514e-19,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_one_by_one() {
        for count in [1, 15, 16, 100] {
            let z: Vec<f64> = (0..count)
                .map(|k| 9.0 * (f64::from(k) * 1.7).sin())
                .collect();
            let mut found = z.clone();
            cdfs(&mut found);
            for (z, found) in z.into_iter().zip(found) {
                let expected = tails(z).0;
                let error = (4.0 + z * z) * f64::EPSILON * expected; // that of z²/2
                assert!((found - expected).abs() <= error, "{z}");
            }
        }
        let mut far = [-60.0, 60.0, f64::NAN];
        cdfs(&mut far);
        assert!(far[0] < 1e-300 && far[1] == 1.0 && far[2].is_nan());
    }
}
