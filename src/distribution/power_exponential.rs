use crate::distribution::targets::Targets;
use std::f64::consts::PI;

use burn::tensor::Tensor;
use rand::Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};
use statrs::function::gamma::ln_gamma;

use super::{Density, Geometry, Predictive, Sampler, location_scale::LocationScale};
use crate::error::{Error, Result};

/// Power exponential predictions: `n` rows with the densities
///
/// ```text
/// f(y) = k exp(−½ q(y)^κ)/Π_c σ_c,   q(y) = Σ_c ((y_c − μ_c)/σ_c)²,
/// k = d Γ(d/2)/(π^{d/2} Γ(1 + d/2κ) 2^{1 + d/2κ})
/// ```
///
/// over `ℝ^d`, with one kurtosis parameter `κ > 0` of all (Gómez et al. 1998, with a diagonal `Σ`). `κ = 1`
/// is the normal distribution with the standard deviations `σ`; for `d = 1`, `κ = ½` is the Laplace
/// distribution with the scale `2σ`; a larger `κ` has lighter tails. The coordinates are uncorrelated, and
/// for `d > 1` dependent unless `κ = 1`.
///
/// The 2-Wasserstein distance is Euclidean, `W₂² = ‖μ − μ'‖² + v‖σ − σ'‖²` with the variances `v σ_c²` of
/// the coordinates, as for all elliptical distributions of one kind (Gelbrich 1990).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::distribution::{Density, PowerExponential};
///
/// let device = Device::default();
/// let one = Tensor::<2>::ones([1, 1], &device);
/// let predictions = PowerExponential::new(one.zeros_like(), one.clone(), 1.0); // N(0, 1)
/// let log_density = predictions.log_density(&one).into_data().to_vec::<f32>().unwrap()[0];
/// assert!((log_density + 0.5 + 0.918_938_5).abs() < 1e-6);
/// ```
#[derive(Debug, Clone)]
pub struct PowerExponential {
    parameters: LocationScale,
    kurtosis: f64,
}

impl PowerExponential {
    /// Creates predictions from locations, scales and the kurtosis parameter `κ` of all predictions.
    ///
    /// # Shapes
    ///
    /// - location: `[n, d]`
    /// - scale: `[n, d]`, positive (estimators and tests check that, this function does not): the roots of the diagonal of `Σ`
    ///
    /// # Panics
    ///
    /// If the shapes differ, or `κ` is not a positive finite number.
    pub fn new(location: Tensor<2>, scale: Tensor<2>, kurtosis: f64) -> Self {
        assert!(
            kurtosis > 0.0 && kurtosis.is_finite(),
            "a kurtosis parameter of {kurtosis}, expected a positive finite number"
        );
        Self {
            parameters: LocationScale::new(location, scale),
            kurtosis,
        }
    }

    /// Creates predictions from the output of a network, `[n, 2d]`, as
    /// [`Normal::from_raw`](super::Normal::from_raw) does: locations, then scales. Panics as [`new`](Self::new) too.
    pub fn from_raw(raw: Tensor<2>, floor: f64, kurtosis: f64) -> Self {
        let LocationScale { location, scale } = LocationScale::from_raw(raw, floor);
        Self::new(location, scale, kurtosis)
    }

    /// The locations, which are the means, `[n, d]`.
    pub fn location(&self) -> Tensor<2> {
        self.parameters.location.clone()
    }

    /// The scales, `[n, d]`.
    pub fn scale(&self) -> Tensor<2> {
        self.parameters.scale.clone()
    }

    /// The kurtosis parameter `κ`.
    pub fn kurtosis(&self) -> f64 {
        self.kurtosis
    }

    /// `v = 2^{1/κ} Γ((d+2)/2κ)/(d Γ(d/2κ))`, the variance of a coordinate of scale 1.
    fn unit_variance(&self) -> f64 {
        let (d, kappa) = (self.dimensions() as f64, self.kurtosis);
        let log_ratio = ln_gamma((d + 2.0) / (2.0 * kappa)) - ln_gamma(d / (2.0 * kappa));
        (2f64.ln() / kappa + log_ratio).exp() / d
    }

    /// The variances `v σ_c²`, `[n, d]`, differentiable.
    pub fn variances(&self) -> Tensor<2> {
        self.scale().square() * self.unit_variance()
    }

    /// `q^κ`, `[n]`, differentiable, with gradient 0 at the location.
    pub(crate) fn powers(&self, targets: &Tensor<2>) -> Tensor<1> {
        let z = (targets.clone() - self.location()) / self.scale(); // [n, d]
        let q = z.square().sum_dim(1).squeeze_dim::<1>(1);
        let zero = q.clone().equal_elem(0.0);
        let q = q.mask_fill(zero.clone(), 1.0);
        q.powf_scalar(self.kurtosis).mask_fill(zero, 0.0)
    }
}

impl Predictive for PowerExponential {
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
            kurtosis: self.kurtosis,
        }
    }

    fn check(&self) -> Result<()> {
        self.parameters.check()
    }

    fn check_like(&self, other: &Self) -> Result<()> {
        let (got, expected) = (other.dimensions(), self.dimensions());
        match other.kurtosis == self.kurtosis {
            _ if got != expected => Err(Tensor::<2>::mismatch(got, expected)),
            true => Ok(()),
            false => Err(Error::Parameter {
                name: "the kurtosis parameter",
                value: other.kurtosis,
                expected: "that of the predictions they are compared with",
            }),
        }
    }

    /// `μ + r σ u` with `u` uniform on the sphere and `½ r^{2κ}` of the gamma distribution of shape
    /// `d/2κ`.
    fn sampler(&self) -> Sampler<Self> {
        let (location, scale) = self.parameters.to_vecs();
        let (d, kappa) = (self.dimensions(), self.kurtosis);
        let gamma = Gamma::new(d as f64 / (2.0 * kappa), 1.0).expect("a positive shape");
        Box::new(move |rows, rng| {
            let draw = |&row: &usize| {
                let radius = (2.0 * gamma.sample(rng)).powf(0.5 / kappa);
                let direction = direction(d, rng);
                let (location, scale) = (&location[row * d..], &scale[row * d..]);
                let at = |c: usize| location[c] + scale[c] * radius * direction[c];
                (0..d).map(at).collect::<Vec<f64>>()
            };
            rows.iter().flat_map(draw).collect()
        })
    }
}

impl Geometry for PowerExponential {
    /// `(μ, √v σ)`, whose Euclidean distance is the 2-Wasserstein distance.
    fn coordinates(&self) -> Option<Tensor<2>> {
        Some(self.parameters.coordinates(self.unit_variance().sqrt()))
    }

    fn spread(&self) -> Option<Tensor<1>> {
        Some(self.parameters.spread(self.unit_variance().sqrt()))
    }
}

impl Density for PowerExponential {
    fn log_density(&self, targets: &Tensor<2>) -> Tensor<1> {
        let d = self.dimensions() as f64;
        let half = d / (2.0 * self.kurtosis);
        let log_k = d.ln() + ln_gamma(0.5 * d)
            - 0.5 * d * PI.ln()
            - ln_gamma(1.0 + half)
            - (1.0 + half) * 2f64.ln();
        let log_scales = self.scale().log().sum_dim(1).squeeze_dim(1);
        self.powers(targets) * -0.5 - log_scales + log_k
    }
}

/// A point of the unit sphere of `ℝ^d`, uniformly.
fn direction(d: usize, rng: &mut dyn Rng) -> Vec<f64> {
    let normal: Vec<f64> = (0..d).map(|_| StandardNormal.sample(rng)).collect();
    let norm = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
    normal.iter().map(|x| x / norm).collect()
}
