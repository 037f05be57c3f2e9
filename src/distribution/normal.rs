use std::f64::consts::PI;

use burn::tensor::Tensor;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{LocationScale, location_scale::Family, standard_normal};
use crate::ops::linearised;

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

    fn cdf(z: Tensor<2>) -> Tensor<2> {
        standard_normal::cdf(z)
    }

    fn tails(z: f64) -> (f64, f64) {
        standard_normal::tails(z)
    }

    fn cdfs(z: &mut [f64]) {
        standard_normal::cdfs(z);
    }

    fn quantile(level: f64) -> f64 {
        standard_normal::quantile(level)
    }

    fn draw(rng: &mut dyn Rng) -> f64 {
        StandardNormal.sample(rng)
    }

    /// `Δ(2Φ(z) − 1) + 2σφ(z)` with `z = Δ/σ`, with the derivatives `2Φ(z) − 1` by `Δ` and `2φ(z)` by `σ`.
    fn absolute_moment(delta: Tensor<2>, scale: Tensor<2>) -> Tensor<2> {
        let (at, sigma) = (delta.clone().detach(), scale.clone().detach());
        let z = at.clone() / sigma.clone();
        let to_delta = standard_normal::cdf(z.clone()) * 2.0 - 1.0;
        let to_scale = standard_normal::density(z) * 2.0;
        let value = at * to_delta.clone() + sigma * to_scale.clone();
        linearised(linearised(value, &scale, to_scale), &delta, to_delta)
    }

    /// The mean of `|X|` for `X ∼ N(Δ, σ² + σ'²)`.
    fn absolute_difference(delta: Tensor<2>, [scale, other]: [Tensor<2>; 2]) -> Tensor<2> {
        Self::absolute_moment(delta, (scale.square() + other.square()).sqrt())
    }
}
