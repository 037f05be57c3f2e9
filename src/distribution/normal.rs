use std::f64::consts::PI;

use burn::tensor::Tensor;
use rand_distr::{Distribution, StandardNormal};

use super::{
    Component, Density, Geometry, HostMarginals, Marginals, Predictive, Sampler,
    location_scale::{LocationScale, Standard},
    standard_normal,
};
use crate::error::Result;

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
#[derive(Debug, Clone)]
pub struct Normal {
    parameters: LocationScale,
}

impl Normal {
    /// Creates predictions from means and standard deviations.
    ///
    /// # Shapes
    ///
    /// - mean: `[n, d]`
    /// - standard_deviation: `[n, d]`, positive (estimators and tests check that, this function does not)
    ///
    /// # Panics
    ///
    /// If the shapes differ.
    pub fn new(mean: Tensor<2>, standard_deviation: Tensor<2>) -> Self {
        Self {
            parameters: LocationScale::new(mean, standard_deviation),
        }
    }

    /// Creates predictions from the output of a network: the first half of each row are the means, the
    /// second half `r` gives the standard deviations `floor + ln(1 + e^r)`.
    ///
    /// # Shapes
    ///
    /// - raw: `[n, 2d]`
    ///
    /// # Panics
    ///
    /// On an odd number of columns, or a negative floor.
    pub fn from_raw(raw: Tensor<2>, floor: f64) -> Self {
        Self {
            parameters: LocationScale::from_raw(raw, floor),
        }
    }

    /// The means, `[n, d]`.
    pub fn mean(&self) -> Tensor<2> {
        self.parameters.location.clone()
    }

    /// The standard deviations, `[n, d]`.
    pub fn standard_deviation(&self) -> Tensor<2> {
        self.parameters.scale.clone()
    }
}

impl Predictive for Normal {
    type Targets = Tensor<2>;

    fn parameter(&self) -> Tensor<2> {
        self.mean()
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
        Box::new(self.parameters.sampler(|rng| StandardNormal.sample(rng)))
    }
}

impl Geometry for Normal {
    /// `(μ, σ)`, whose Euclidean distance is the 2-Wasserstein distance.
    fn coordinates(&self) -> Option<Tensor<2>> {
        Some(self.parameters.coordinates(1.0))
    }

    fn spread(&self) -> Option<Tensor<1>> {
        Some(self.parameters.spread(1.0))
    }
}

impl Marginals for Normal {
    fn means(&self) -> Tensor<2> {
        self.mean()
    }

    fn variances(&self) -> Tensor<2> {
        self.standard_deviation().square()
    }

    /// `Φ((y − μ)/σ)`.
    fn cdf(&self, targets: &Tensor<2>) -> Tensor<2> {
        standard_normal::cdf(self.parameters.standardised(targets))
    }

    fn on_host(&self) -> Box<dyn HostMarginals> {
        self.parameters.on_host(Standard {
            tails: standard_normal::tails,
            cdfs: standard_normal::cdfs,
            quantile: standard_normal::quantile,
        })
    }
}

impl Density for Normal {
    /// `−Σ_c [z_c²/2 + ln σ_c + ½ ln 2π]` with `z = (y − μ)/σ`.
    fn log_density(&self, targets: &Tensor<2>) -> Tensor<1> {
        let standard = |z: Tensor<2>| z.square() * -0.5 - 0.5 * (2.0 * PI).ln();
        self.parameters.log_density(targets, standard)
    }
}

impl Component for Normal {
    fn interleave(sets: &[Self]) -> Self {
        Self {
            parameters: LocationScale::interleave(sets.iter().map(|set| &set.parameters)),
        }
    }

    fn reach(&self) -> Option<Vec<[f64; 2]>> {
        Some(self.parameters.within(6.3))
    }
}
