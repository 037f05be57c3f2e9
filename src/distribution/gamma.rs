//! The logarithm of the gamma function without its large part,
//!
//! `g(x) = ln Γ(x) − x ln x + x`,
//!
//! so that densities of large parameters do not lose their digits in differences of large numbers.
//! By `g(x) = g(x + 1) + (x + 1) ln(1 + 1/x) − 1` up to where Stirling's series is exact to f64.

use burn::tensor::Tensor;

/// `B_{2k}/(2k(2k − 1))` for `k = 1, 2, …`: the coefficients of `x^{1−2k}` in
/// `g(x) − ½ ln(2π/x)`.
const SERIES: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360360.0,
    1.0 / 156.0,
];

/// The number from which on the series is exact to f64.
const LARGE: usize = 9;

/// `½ ln 2π`.
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;

/// `g(x)` for `x > 0`, differentiable.
pub(super) fn stirling_tensor<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let mut shifted = x.zeros_like();
    for k in 0..LARGE {
        let x = x.clone() + k as f64;
        shifted = shifted + (x.clone() + 1.0) * x.recip().log1p() - 1.0;
    }
    let x = x + LARGE as f64;
    let inverse = x.clone().recip();
    let square = inverse.clone().square();
    let next = |sum: Tensor<D>, &term: &f64| sum * square.clone() + term;
    let series = SERIES.iter().rev().fold(x.zeros_like(), next);
    shifted + series * inverse - x.log() * 0.5 + HALF_LOG_TAU
}

/// `g(x)` with its first two derivatives `ψ(x) − ln x` and `ψ'(x) − 1/x`, for `x > 0`.
pub(crate) fn stirling(mut x: f64) -> [f64; 3] {
    let mut shifted = [0.0; 3];
    while x < LARGE as f64 {
        let step = (1.0 / x).ln_1p();
        shifted[0] += (x + 1.0) * step - 1.0;
        shifted[1] += step - 1.0 / x;
        shifted[2] += 1.0 / (x * x * (x + 1.0));
        x += 1.0;
    }
    let (mut value, mut slope, mut curvature) = (0.0, 0.0, 0.0);
    let mut power = 1.0 / x; // x^{1−2k}
    for (k, term) in (1..).zip(SERIES) {
        let order = f64::from(2 * k - 1);
        value += term * power;
        slope -= order * term * power / x;
        curvature += order * (order + 1.0) * term * power / (x * x);
        power /= x * x;
    }
    [
        shifted[0] + value - 0.5 * x.ln() + HALF_LOG_TAU,
        shifted[1] + slope - 0.5 / x,
        shifted[2] + curvature + 0.5 / (x * x),
    ]
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device};
    use statrs::function::gamma::{digamma, ln_gamma};

    use super::*;
    use crate::host::to_scalar;

    #[test]
    fn agrees_with_the_gamma_and_digamma_functions() {
        for x in [1e-6, 0.1, 0.5, 1.0, 2.0, 3.7, 8.9, 9.0, 30.0, 1e4] {
            let [value, slope, curvature] = stirling(x);
            let large = x * x.ln() - x;
            let scale = 1.0 + ln_gamma(x).abs() + large.abs();
            assert!((value + large - ln_gamma(x)).abs() < 1e-13 * scale, "{x}");
            assert!(
                (slope + x.ln() - digamma(x)).abs() < 1e-12 * (1.0 + 1.0 / x),
                "{x}"
            );
            let h = 1e-4 * x;
            let difference = (stirling(x + h)[1] - stirling(x - h)[1]) / (2.0 * h);
            assert!((curvature / difference - 1.0).abs() < 1e-5, "{x}");
            let options = (&Device::flex(), DType::F64);
            let tensor = to_scalar(stirling_tensor(Tensor::<1>::from_data([x], options)));
            assert!((tensor - value).abs() < 1e-13 * (1.0 + value.abs()), "{x}");
        }
        // ψ'(1) = π²/6, ψ'(½) = π²/2
        let square = std::f64::consts::PI.powi(2);
        assert!((stirling(1.0)[2] + 1.0 - square / 6.0).abs() < 1e-13);
        assert!((stirling(0.5)[2] + 2.0 - square / 2.0).abs() < 1e-13);
    }
}
