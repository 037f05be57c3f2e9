use std::f64::consts::{LN_2, SQRT_2};

use burn::tensor::Tensor;
use rand::{Rng, RngExt};

use super::{
    Component, Density, Geometry, HostMarginals, Marginals, Predictive, Sampler,
    location_scale::{LocationScale, Standard},
    standard_normal::with_gradient,
};
use crate::error::Result;

/// Laplace predictions: `n` rows of `d` independent coordinates with the densities
/// `exp(−|x − μ_c|/β_c)/2β_c`.
///
/// The 2-Wasserstein distance is Euclidean, `W₂² = ‖μ − μ'‖² + 2‖β − β'‖²` (Widmann et al. 2021, D.2).
#[derive(Debug, Clone)]
pub struct Laplace {
    parameters: LocationScale,
}

impl Laplace {
    /// Creates predictions from locations and scales.
    ///
    /// # Shapes
    ///
    /// - location: `[n, d]`
    /// - scale: `[n, d]`, positive (estimators and tests check that, this function does not)
    ///
    /// # Panics
    ///
    /// If the shapes differ.
    pub fn new(location: Tensor<2>, scale: Tensor<2>) -> Self {
        Self {
            parameters: LocationScale::new(location, scale),
        }
    }

    /// Creates predictions from the output of a network, `[n, 2d]`, as
    /// [`Normal::from_raw`](super::Normal::from_raw) does: locations, then scales.
    pub fn from_raw(raw: Tensor<2>, floor: f64) -> Self {
        Self {
            parameters: LocationScale::from_raw(raw, floor),
        }
    }

    /// The locations, `[n, d]`.
    pub fn location(&self) -> Tensor<2> {
        self.parameters.location.clone()
    }

    /// The scales, `[n, d]`.
    pub fn scale(&self) -> Tensor<2> {
        self.parameters.scale.clone()
    }
}

impl Predictive for Laplace {
    type Targets = Tensor<2>;

    fn parameter(&self) -> Tensor<2> {
        self.location()
    }

    fn dimensions(&self) -> usize {
        self.parameters.dimensions()
    }

    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self {
        Self {
            parameters: self.parameters.map(f),
        }
    }

    fn check(&self) -> Result<()> {
        self.parameters.check()
    }

    fn sampler(&self) -> Sampler<Self> {
        Box::new(self.parameters.sampler(standard))
    }
}

impl Geometry for Laplace {
    /// `(μ, √2 β)`, whose Euclidean distance is the 2-Wasserstein distance.
    fn coordinates(&self) -> Option<Tensor<2>> {
        Some(self.parameters.coordinates(SQRT_2))
    }

    fn spread(&self) -> Option<Tensor<1>> {
        Some(self.parameters.spread(SQRT_2))
    }
}

impl Marginals for Laplace {
    fn means(&self) -> Tensor<2> {
        self.location()
    }

    /// `2β²`.
    fn variances(&self) -> Tensor<2> {
        self.scale().square() * 2.0
    }

    /// `½ e^z` for `z = (y − μ)/β ≤ 0`, else `1 − ½ e^{−z}`.
    fn cdf(&self, targets: &Tensor<2>) -> Tensor<2> {
        let z = self.parameters.standardised(targets);
        let point = z.clone().detach();
        let tail = point.clone().abs().neg().exp() * 0.5; // the density as well
        let positive = point.greater_elem(0.0);
        let value = tail.clone().mask_where(positive, tail.clone().neg() + 1.0);
        with_gradient(z, value, tail)
    }

    fn on_host(&self) -> Box<dyn HostMarginals> {
        self.parameters.on_host(Standard {
            tails,
            cdfs: |z| z.iter_mut().for_each(|z| *z = tails(*z).0),
            quantile,
        })
    }
}

impl Density for Laplace {
    /// `−Σ_c [|y_c − μ_c|/β_c + ln 2β_c]`.
    fn log_density(&self, targets: &Tensor<2>) -> Tensor<1> {
        let standard = |z: Tensor<2>| -z.abs() - LN_2;
        self.parameters.log_density(targets, standard)
    }
}

impl Component for Laplace {
    fn interleave(sets: &[Self]) -> Self {
        Self {
            parameters: LocationScale::interleave(sets.iter().map(|set| &set.parameters)),
        }
    }

    fn reach(&self) -> Option<Vec<[f64; 2]>> {
        Some(self.parameters.within(19.6))
    }
}

/// `F(z)` and `1 − F(z)`.
fn tails(z: f64) -> (f64, f64) {
    let tail = 0.5 * (-z.abs()).exp();
    if z > 0.0 {
        (1.0 - tail, tail)
    } else {
        (tail, 1.0 - tail)
    }
}

/// `F⁻¹(level)`.
fn quantile(level: f64) -> f64 {
    if level < 0.5 {
        (2.0 * level).ln()
    } else {
        -(2.0 * (1.0 - level)).ln()
    }
}

/// A number with the density `½ e^{−|x|}`.
fn standard(rng: &mut dyn Rng) -> f64 {
    let u = 1.0 - rng.random::<f64>(); // in (0, 1]
    let magnitude = -u.ln();
    if rng.random() { magnitude } else { -magnitude }
}
