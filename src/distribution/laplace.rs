use std::f64::consts::LN_2;

use burn::tensor::Tensor;
use rand::{Rng, RngExt};

use super::{LocationScale, Tails, location_scale::Family};
use crate::ops::{exponential_difference, linearised};

/// Laplace predictions: `n` rows of `d` independent coordinates with the densities
/// `exp(−|x − μ_c|/β_c)/2β_c`.
///
/// The 2-Wasserstein distance is Euclidean, `W₂² = ‖μ − μ'‖² + 2‖β − β'‖²` (Widmann et al. 2021, D.2).
pub type Laplace = LocationScale<LaplaceFamily>;

/// The family of [`Laplace`] predictions.
#[derive(Debug, Clone, Copy)]
pub struct LaplaceFamily;

impl Laplace {
    /// The locations, `[n, d]`.
    pub fn location(&self) -> Tensor<2> {
        self.location.clone()
    }

    /// The scales, `[n, d]`.
    pub fn scale(&self) -> Tensor<2> {
        self.scale.clone()
    }
}

impl Family for LaplaceFamily {
    const VARIANCE: f64 = 2.0;
    const REACH: f64 = 19.6;
    const MEAN_DIFFERENCE: f64 = 1.5;

    /// `−|z| − ln 2`.
    fn log_density(z: Tensor<2>) -> Tensor<2> {
        -z.abs() - LN_2
    }

    /// `½ e^z` for `z ≤ 0`, otherwise `1 − ½ e^{−z}`.
    fn cdf(z: Tensor<2>) -> Tensor<2> {
        let point = z.clone().detach();
        let tail = point.clone().abs().neg().exp() * 0.5; // the density as well
        let positive = point.greater_elem(0.0);
        let value = tail.clone().mask_where(positive, tail.clone().neg() + 1.0);
        linearised(value, &z, tail)
    }

    fn tails(z: f64) -> Tails {
        Tails::symmetric(z, 0.5 * (-z.abs()).exp())
    }

    fn quantile(level: f64) -> f64 {
        if level < 0.5 {
            (2.0 * level).ln()
        } else {
            -(2.0 * (1.0 - level)).ln()
        }
    }

    fn draw(rng: &mut dyn Rng) -> f64 {
        let u = 1.0 - rng.random::<f64>(); // in (0, 1]
        let magnitude = -u.ln();
        if rng.random() { magnitude } else { -magnitude }
    }

    /// `|Δ| + β e^{−|Δ|/β}`.
    fn absolute_moment(delta: Tensor<2>, scale: Tensor<2>) -> Tensor<2> {
        let distance = delta.abs();
        distance.clone() + scale.clone() * (-distance / scale).exp()
    }

    /// `|Δ| + (b³ e^{−|Δ|/b} − c³ e^{−|Δ|/c})/(b² − c²)` with the scales `b ≥ c`, from `g'' = 2f` for the
    /// density `f` of the difference; without cancellation, through `b = c`:
    ///
    /// `|Δ| + e^{−|Δ|/b} [b² + bc + c² + (c²|Δ|/b)(1 − e^{−u})/u]/(b + c)`, `u = |Δ|(b − c)/bc`.
    fn absolute_difference(delta: Tensor<2>, [scale, other]: [Tensor<2>; 2]) -> Tensor<2> {
        let distance = delta.abs();
        let larger = scale.clone().greater_equal(other.clone());
        let b = other.clone().mask_where(larger.clone(), scale.clone());
        let c = scale.mask_where(larger, other);
        let sum = b.clone() + c.clone();
        let u = distance.clone() * (b.clone() - c.clone()) / (b.clone() * c.clone());
        let in_units = distance.clone() / b.clone(); // |Δ|/b
        let squares = b * sum.clone() + c.clone().square(); // b² + bc + c²
        let rest = c.square() * in_units.clone() * exponential_difference(u);
        distance + in_units.neg().exp() * (squares + rest) / sum
    }
}
