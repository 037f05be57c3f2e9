//! The Gaussian kernel `exp(−u²/2ℓ²)`.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2};

use burn::tensor::Tensor;

use super::{
    relative,
    smoothed::{smoothed_exponential, smoothed_exponential_difference},
};
use crate::ops::{Formula, Number, elementwise, erfcx_with_slopes};

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
    elementwise(GaussianNormal { length }, [&delta, &variance])
}

/// With `p = 1/(ℓ² + v)` it is `√(pℓ²) exp(−½pΔ²)`.
#[derive(Clone, Copy)]
pub(crate) struct GaussianNormal {
    /// `ℓ`
    pub length: f64,
}

impl GaussianNormal {
    /// The kernel itself, of the sum of the squares of the coordinates of `Δ`.
    #[inline(always)]
    pub fn of_squares<X: Number>(self, squares: X) -> X {
        (squares * (-0.5 / (self.length * self.length))).exp()
    }
}

impl Formula<2> for GaussianNormal {
    /// NaN where an argument is not finite.
    #[inline(always)]
    fn at<X: Number>(self, [delta, variance]: [X; 2]) -> (X, [X; 2]) {
        let length = self.length * self.length;
        let finite = (delta.clone() + variance.clone()) * 0.0; // or NaN
        let precision = (variance + length).reciprocal();
        let scaled = precision.clone() * delta.clone();
        let square = scaled.clone() * delta;
        let peak = (precision.clone() * length).sqrt();
        let value = peak.mul_add((square.clone() * -0.5).exp(), finite);
        let to_delta = -(scaled * value.clone());
        let to_variance = value.clone() * precision * (square * 0.5 - 0.5);
        (value, [to_delta, to_variance])
    }
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
    elementwise(GaussianLaplace { length }, [&delta, &scale])
}

/// With the scale `s = β/ℓ`, `r = 1/s`, `t = |Δ|/ℓ`, `z± = (r ± t)/√2` and `X = erfcx` it is `√(π/2) r G` with
/// `G = ½e^{−t²/2} [X(z₊) + X(z₋)]`, where for `z₋ < 0` it is `X(z₋) = 2e^{z₋²} − X(−z₋)`. The largest exponential
/// that all terms have is apart. The derivative with respect to `s` is `−√(π/2) r² (rG)'`, in which
/// `rG = ½e^{−t²/2} [√2(Y(z₊) + Y(z₋)) + t(X(z₋) − X(z₊))]` with `Y = zX(z)`: terms of `r` do not cancel.
#[derive(Clone, Copy)]
struct GaussianLaplace {
    /// `ℓ`
    length: f64,
}

impl Formula<2> for GaussianLaplace {
    /// NaN where an argument is not finite.
    #[inline(always)]
    fn at<X: Number>(self, [delta, scale]: [X; 2]) -> (X, [X; 2]) {
        let (zero, one) = (delta.constant(0.0), delta.constant(1.0));
        let finite = (delta.clone() + scale.clone()) * 0.0; // or NaN
        let over_length = self.length.recip();
        let least = delta.constant(delta.smallest().sqrt().sqrt());
        let relative = scale.abs() * over_length;
        let is_point = |yes: X, no: X| relative.clone().where_less(least.clone(), yes, no);
        let s = is_point(least.clone(), relative.clone());
        let r = s.clone().reciprocal();
        // an exponent beyond which an exponential is 0, and a `t` from which on the expectation is
        let most = -1.25 * delta.smallest().ln();
        let end = r.clone() * 0.5 + s * most + (2.0 * most).sqrt();
        let t = (delta.clone().abs() * over_length).at_most(end);
        let lower = (r.clone() - t.clone()) * FRAC_1_SQRT_2; // z₋
        let below = lower.clone().at_most(zero.clone());
        let half = (-(below.clone() * below)).exp() * 0.5;
        let inside = |yes: f64, no: f64| {
            let (yes, no) = (zero.constant(yes), zero.constant(no));
            lower.clone().where_less(zero.clone(), yes, no)
        };
        let (whole, sign) = (inside(1.0, 0.0), inside(-1.0, 1.0)); // e^{z²} for z₋ < 0
        let [x, decrease, slope] = erfcx_with_slopes((r.clone() + t.clone()) * FRAC_1_SQRT_2);
        let [x2, decrease2, slope2] = erfcx_with_slopes(lower.clone().abs());

        let smooth = half.clone() * sign.clone().mul_add(x2, x);
        let change = (decrease2 - decrease) * FRAC_1_SQRT_2;
        let to_t =
            half.clone() * change.clone() - t.clone() * smooth.clone() - r.clone() * whole.clone();
        let to_r = half * sign.mul_add(slope2, slope - t.clone() * change)
            + whole.clone() * (r.clone() * (r.clone() - t.clone()) + one);
        let far = r.clone() * (r.clone() * 0.5 - t.clone());
        let exponent = lower.where_less(zero.clone(), far, t.clone() * t * -0.5);
        let factor = exponent.exp() * r.clone() * FRAC_PI_2.sqrt();
        let value = factor.clone() * (smooth + whole) + finite.clone();
        let to_t = factor.clone() * to_t * over_length + finite.clone();
        let to_delta = delta.where_less(zero.clone(), -to_t.clone(), to_t);
        let to_scale = finite - factor * r * to_r * over_length;
        (value, [to_delta, is_point(zero, to_scale)])
    }
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
