use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

use burn::tensor::Tensor;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use statrs::function::erf::erfc_inv;

use super::{LocationScale, Tails, location_scale::Family};
use crate::ops::{Formula, Number, elementwise, erfcx, in_place, linearised, value_at};

/// Normal predictions: `n` rows of `d` independent coordinates `N(μ_c, σ_c²)`.
///
/// The 2-Wasserstein distance is Euclidean, `W₂² = ‖μ − μ'‖² + ‖σ − σ'‖²` (Widmann et al. 2021, D.1).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::distribution::{Normal, Predictive};
///
/// let device = Device::default();
/// let raw = Tensor::<2>::from_floats([[1.5, 0.0], [0.0, -1.0]], &device); // a network's output
/// let predictions = Normal::from_raw(raw, 1e-3);
/// assert_eq!(predictions.len(), 2);
/// let scales = predictions.standard_deviation().into_data().to_vec::<f32>().unwrap();
/// assert!((scales[0] - (1e-3 + 2f32.ln())).abs() < 1e-6);
/// ```
pub type Normal = LocationScale<NormalFamily>;

/// The family of [`Normal`] predictions.
#[derive(Debug, Clone, Copy)]
pub struct NormalFamily;

impl Normal {
    /// The means, `[n, d]`.
    pub fn mean(&self) -> Tensor<2> {
        self.location.clone()
    }

    /// The standard deviations, `[n, d]`.
    pub fn standard_deviation(&self) -> Tensor<2> {
        self.scale.clone()
    }
}

impl Family for NormalFamily {
    const VARIANCE: f64 = 1.0;
    const REACH: f64 = 6.3;
    /// `2/√π`.
    const MEAN_DIFFERENCE: f64 = std::f64::consts::FRAC_2_SQRT_PI;

    /// `−z²/2 − ½ ln 2π`.
    fn log_density(z: Tensor<2>) -> Tensor<2> {
        z.square() * -0.5 - 0.5 * (2.0 * PI).ln()
    }

    /// `Φ(z)`, with the gradient `φ(z)`. The lower tail keeps its digits: the error relative to
    /// `min(Φ, 1 − Φ)` is a few roundings and that of `z²/2`.
    fn cdf(z: Tensor<2>) -> Tensor<2> {
        elementwise(Cdf, [&z])
    }

    fn tails(z: f64) -> Tails {
        Tails::symmetric(z, value_at(Cdf, -z.abs()))
    }

    /// In vectors: as [`tails`](Self::tails) to rounding.
    fn cdfs(z: &mut [f64]) {
        in_place(Cdf, z);
    }

    fn quantile(level: f64) -> f64 {
        if level < 0.5 {
            -upper_normal_quantile(level)
        } else {
            upper_normal_quantile(1.0 - level)
        }
    }

    fn draw(rng: &mut dyn Rng) -> f64 {
        StandardNormal.sample(rng)
    }

    /// `Δ(2Φ(z) − 1) + 2σφ(z)` with `z = Δ/σ`, with the derivatives `2Φ(z) − 1` by `Δ` and `2φ(z)` by `σ`.
    fn absolute_moment(delta: Tensor<2>, scale: Tensor<2>) -> Tensor<2> {
        let (at, sigma) = (delta.clone().detach(), scale.clone().detach());
        let z = at.clone() / sigma.clone();
        let to_delta = Self::cdf(z.clone()) * 2.0 - 1.0;
        let to_scale = (z.square() * -0.5).exp() * (2.0 * PI).sqrt().recip() * 2.0;
        let value = at * to_delta.clone() + sigma * to_scale.clone();
        linearised(linearised(value, &scale, to_scale), &delta, to_delta)
    }

    /// The mean of `|X|` for `X ∼ N(Δ, σ² + σ'²)`.
    fn absolute_difference(delta: Tensor<2>, [scale, other]: [Tensor<2>; 2]) -> Tensor<2> {
        Self::absolute_moment(delta, (scale.square() + other.square()).sqrt())
    }
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

/// The `z` with `1 − Φ(z)` the given tail, from the smallest normal number to ½: to some roundings.
pub(crate) fn upper_normal_quantile(tail: f64) -> f64 {
    SQRT_2 * erfc_inv(2.0 * tail)
}
