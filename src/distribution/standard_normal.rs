//! The standard normal distribution, on tensors and on the host.

use std::f64::consts::PI;

use burn::tensor::{DType, Tensor};
use pulp::{Arch, Simd, WithSimd};

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
pub(crate) fn quantile(level: f64) -> f64 {
    if level < 0.5 {
        -upper_quantile(level)
    } else {
        upper_quantile(1.0 - level)
    }
}

/// The `z` with `1 − Φ(z)` the given tail, from the smallest normal number to ½: to some roundings (Wichura:
/// *Algorithm AS 241*, 1988).
pub(crate) fn upper_quantile(tail: f64) -> f64 {
    let ratio = |[numerator, denominator]: &[[f64; 8]; 2], x: f64| {
        let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
        horner(numerator) / horner(denominator)
    };
    let q = 0.5 - tail;
    if q <= 0.425 {
        return q * ratio(&CENTRE, 0.180625 - q * q);
    }
    match (-tail.ln()).sqrt() {
        r if r <= 5.0 => ratio(&TAIL, r - 1.6),
        r => ratio(&FAR_TAIL, r - 5.0),
    }
}

/// Numerator and denominator of `z/q` in `0.425² − q²`, `q = Φ(z) − ½`.
const CENTRE: [[f64; 8]; 2] = [
    [
        3.3871328727963665,
        133.14166789178438,
        1971.5909503065513,
        13731.69376550946,
        45921.95393154987,
        67265.7709270087,
        33430.57558358813,
        2509.0809287301227,
    ],
    [
        1.0,
        42.31333070160091,
        687.1870074920579,
        5394.196021424751,
        21213.794301586597,
        39307.89580009271,
        28729.085735721943,
        5226.495278852854,
    ],
];
/// Of `z` in `√(−ln tail) − 1.6`.
const TAIL: [[f64; 8]; 2] = [
    [
        1.4234371107496835,
        4.630337846156546,
        5.769497221460691,
        3.6478483247632045,
        1.2704582524523684,
        0.2417807251774506,
        0.022723844989269184,
        0.0007745450142783414,
    ],
    [
        1.0,
        2.053191626637759,
        1.6763848301838038,
        0.6897673349851,
        0.14810397642748008,
        0.015198666563616457,
        0.0005475938084995345,
        1.0507500716444169e-09,
    ],
];
/// Of `z` in `√(−ln tail) − 5`.
const FAR_TAIL: [[f64; 8]; 2] = [
    [
        6.657904643501103,
        5.463784911164114,
        1.7848265399172913,
        0.29656057182850487,
        0.026532189526576124,
        0.0012426609473880784,
        2.7115555687434876e-05,
        2.0103343992922881e-07,
    ],
    [
        1.0,
        0.599832206555888,
        0.1369298809227358,
        0.014875361290850615,
        0.0007868691311456133,
        1.8463183175100548e-05,
        1.421511758316446e-07,
        2.0442631033899397e-15,
    ],
];

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

    /// `1 − Φ` is the inverse, to the smallest numbers; its relative error is `z` times that of `z`.
    #[test]
    fn quantiles_are_inverse() {
        for k in 0..=306 {
            for tail in [0.5, 0.3, 0.074, 0.11].map(|tail| tail * 10f64.powi(-k)) {
                let z = upper_quantile(tail);
                let found = tails(z).1;
                let error = (found / tail - 1.0).abs();
                assert!(
                    error <= (8.0 + 4.0 * z * z) * f64::EPSILON,
                    "{tail}: {error}"
                );
            }
        }
    }

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
