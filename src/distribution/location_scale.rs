//! Predictions with a location and a scale for each coordinate, generic over the family.

use std::{fmt::Debug, marker::PhantomData};

use burn::tensor::Tensor;
use rand::Rng;

use super::{
    AbsoluteMoments, Component, Density, Geometry, HostMarginals, Marginals, Predictive, Redraws,
    Sampler, Tails,
    weights::{carries_weights, refuse},
};
use crate::{
    error::{Result, check_samples, check_values},
    host::to_vec,
};

/// A distribution on the line with location 0 and scale 1, the base of a family of predictions.
pub trait Family: Debug + Clone + Copy + Send + Sync + 'static {
    /// The variance.
    const VARIANCE: f64;
    /// The distance from 0 beyond which the density is below `10⁻⁸` of the largest.
    const REACH: f64;
    /// `E|X − X'|` for two independent draws.
    const MEAN_DIFFERENCE: f64;

    /// The logarithm of the density, differentiable.
    fn log_density(z: Tensor<2>) -> Tensor<2>;

    /// The distribution function, differentiable.
    fn cdf(z: Tensor<2>) -> Tensor<2>;

    /// `F(z)` and `1 − F(z)`.
    fn tails(z: f64) -> Tails;

    /// `F` in place of each number.
    fn cdfs(z: &mut [f64]) {
        z.iter_mut().for_each(|z| *z = Self::tails(*z).lower);
    }

    /// `F⁻¹(level)`, for a level in `(0, 1)`.
    fn quantile(level: f64) -> f64;

    /// Draws a number.
    fn draw(rng: &mut dyn Rng) -> f64;

    /// `E|Δ + βX|`, differentiable.
    fn absolute_moment(delta: Tensor<2>, scale: Tensor<2>) -> Tensor<2>;

    /// `E|Δ + βX − β'X'|` for independent `X` and `X'`, differentiable.
    fn absolute_difference(delta: Tensor<2>, scales: [Tensor<2>; 2]) -> Tensor<2>;
}

/// Predictions of a [`Family`]: `n` rows of `d` independent coordinates, each with a location and a scale.
///
/// The 2-Wasserstein distance is Euclidean, `W₂² = ‖μ − μ'‖² + v ‖β − β'‖²` with the variance `v` of the
/// family (Widmann et al. 2021, D.1 and D.2).
#[derive(Debug, Clone)]
pub struct LocationScale<F> {
    pub(super) location: Tensor<2>,
    pub(super) scale: Tensor<2>,
    sample_weights: Option<Tensor<2>>,
    family: PhantomData<F>,
}

impl<F: Family> LocationScale<F> {
    /// Creates predictions from locations and scales: means and standard deviations of
    /// [`Normal`](super::Normal) predictions.
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
        assert_eq!(
            location.dims(),
            scale.dims(),
            "shapes of the locations and the scales"
        );
        Self {
            location,
            scale,
            sample_weights: None,
            family: PhantomData,
        }
    }

    /// Creates predictions from the output of a network: the first half of each row are the locations, the
    /// second half `r` gives the scales `floor + ln(1 + e^r)`.
    ///
    /// # Shapes
    ///
    /// - raw: `[n, 2d]`
    ///
    /// # Panics
    ///
    /// On an odd number of columns, or a negative floor.
    pub fn from_raw(raw: Tensor<2>, floor: f64) -> Self {
        let [n, width] = raw.dims();
        assert!(
            width > 0 && width % 2 == 0,
            "{width} outputs, expected one for each location and one for each scale"
        );
        assert!(
            floor >= 0.0,
            "a floor of the scales of {floor}, expected at least 0"
        );
        let location = raw.clone().slice([0..n, 0..width / 2]);
        let scale = softplus(raw.slice([0..n, width / 2..width])) + floor;
        Self::new(location, scale)
    }

    /// The scales, `[n, d]`.
    pub(crate) fn scales(&self) -> Tensor<2> {
        self.scale.clone()
    }

    /// `(y − location)/scale`, `[n, d]`.
    fn standardised(&self, targets: &Tensor<2>) -> Tensor<2> {
        assert_targets(targets, self.location.dims());
        (targets.clone() - self.location.clone()) / self.scale.clone()
    }

    /// Reads both back, row by row.
    fn read(&self) -> OnHost<F> {
        OnHost {
            location: to_vec(self.location.clone()),
            scale: to_vec(self.scale.clone()),
            family: PhantomData,
        }
    }

    /// The scales as coordinates of a Euclidean space.
    fn deviations(&self) -> Tensor<2> {
        match F::VARIANCE {
            1.0 => self.scale.clone(),
            variance => self.scale.clone() * variance.sqrt(),
        }
    }
}

impl<F: Family> Predictive for LocationScale<F> {
    type Targets = Tensor<2>;
    type Unconditional = Self;

    fn unconditional(&self) -> &Self {
        self
    }

    fn parameter(&self) -> Tensor<2> {
        self.location.clone()
    }

    fn dimensions(&self) -> usize {
        self.location.dims()[1]
    }

    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self {
        Self {
            location: f(self.location.clone()),
            scale: f(self.scale.clone()),
            sample_weights: self.sample_weights.clone().map(f),
            family: PhantomData,
        }
    }

    fn check(&self) -> Result<()> {
        refuse(&self.sample_weights)?;
        check_real(&self.location, "the location")?;
        check_positive(&self.scale, "the scale")
    }

    fn sampler(&self) -> Sampler<Self> {
        let (host, d) = (self.read(), self.dimensions());
        Box::new(move |rows, rng| {
            let coordinates = rows.iter().flat_map(|row| row * d..(row + 1) * d);
            let draw = |at: usize| host.location[at] + host.scale[at] * F::draw(rng);
            coordinates.map(draw).collect()
        })
    }
}

carries_weights!([F: Family] LocationScale<F>);

impl<F: Family> Redraws for LocationScale<F> {}

impl<F: Family> Geometry for LocationScale<F> {
    /// `(μ, √v β)`, whose Euclidean distance is the 2-Wasserstein distance.
    fn coordinates(&self) -> Option<Tensor<2>> {
        let parts = vec![self.location.clone(), self.deviations()];
        Some(Tensor::cat(parts, 1))
    }

    fn spread(&self) -> Option<Tensor<1>> {
        let scale = self.scale.clone().detach();
        Some(scale.square().sum_dim(1).sqrt().mean() * F::VARIANCE.sqrt())
    }
}

impl<F: Family> Marginals for LocationScale<F> {
    fn means(&self) -> Tensor<2> {
        self.location.clone()
    }

    fn variances(&self) -> Tensor<2> {
        self.scale.clone().square() * F::VARIANCE
    }

    /// `F((y − μ)/β)`.
    fn cdf(&self, targets: &Tensor<2>) -> Tensor<2> {
        F::cdf(self.standardised(targets))
    }

    fn on_host(&self) -> Box<dyn HostMarginals> {
        Box::new(self.read())
    }
}

impl<F: Family> Density for LocationScale<F> {
    /// `Σ_c [ln f(z_c) − ln β_c]` with `z = (y − μ)/β`.
    fn log_density(&self, targets: &Tensor<2>) -> Tensor<1> {
        let terms = F::log_density(self.standardised(targets)) - self.scale.clone().log(); // [n, d]
        terms.sum_dim(1).squeeze_dim(1)
    }
}

impl<F: Family> AbsoluteMoments for LocationScale<F> {
    fn absolute_error(&self, targets: &Tensor<2>) -> Tensor<2> {
        assert_targets(targets, self.location.dims());
        F::absolute_moment(self.location.clone() - targets.clone(), self.scale.clone())
    }

    fn mean_difference(&self) -> Tensor<2> {
        self.scale.clone() * F::MEAN_DIFFERENCE
    }
}

impl<F: Family> Component for LocationScale<F> {
    fn interleave(sets: &[Self]) -> Self {
        let join = |part: fn(&Self) -> &Tensor<2>| {
            let parts = sets.iter().map(|set| part(set).clone().unsqueeze_dim(1));
            let parts: Vec<Tensor<3>> = parts.collect();
            assert!(!parts.is_empty(), "a mixture of no components");
            let joined = Tensor::cat(parts, 1); // [n, K, d]
            let [n, k, d] = joined.dims();
            joined.reshape([n * k, d])
        };
        Self::new(join(|set| &set.location), join(|set| &set.scale))
    }

    fn absolute_difference(&self, other: &Self) -> Tensor<2> {
        let scales = [self, other].map(|predictions| predictions.scale.clone());
        F::absolute_difference(self.location.clone() - other.location.clone(), scales)
    }
}

/// Location and scale of each coordinate.
struct OnHost<F> {
    location: Vec<f64>,
    scale: Vec<f64>,
    family: PhantomData<F>,
}

impl<F: Family> HostMarginals for OnHost<F> {
    fn tails(&self, at: usize, x: f64) -> Tails {
        F::tails((x - self.location[at]) / self.scale[at])
    }

    fn cdfs(&self, x: &dyn Fn(usize) -> f64) -> Option<Vec<f64>> {
        let parameters = self.location.iter().zip(&self.scale).enumerate();
        let standardised = |(at, (location, scale)): (usize, _)| (x(at) - location) / scale;
        let mut z: Vec<f64> = parameters.map(standardised).collect();
        F::cdfs(&mut z);
        Some(z)
    }

    fn quantile(&self, at: usize, level: f64) -> f64 {
        self.location[at] + self.scale[at] * F::quantile(level)
    }
}

/// `ln(1 + e^x) = max(x, 0) + ln(1 + e^{−|x|})`, which does not overflow.
fn softplus(x: Tensor<2>) -> Tensor<2> {
    x.clone().clamp_min(0.0) + x.abs().neg().exp().log1p()
}

/// The rows of `[n, d]` on the host, all finite, `n ≥ 1`.
pub(super) fn check_real(tensor: &Tensor<2>, what: &'static str) -> Result<Vec<f64>> {
    let [rows, dimensions] = tensor.dims();
    check_samples("a set of predictions", 1, rows * dimensions)?;
    let values = to_vec(tensor.clone());
    let finite = (f64::is_finite, "a finite number");
    check_values(&values, (dimensions, "coordinate"), what, finite)?;
    Ok(values)
}

/// Checks that all numbers are finite and positive, in one row or more.
fn check_positive(tensor: &Tensor<2>, what: &'static str) -> Result<()> {
    let values = check_real(tensor, what)?;
    let positive = (|value| value > 0.0, "a positive number");
    check_values(&values, (tensor.dims()[1], "coordinate"), what, positive)
}

/// Asserts that targets of a training loss have the shape of the predictions: they would broadcast.
pub(super) fn assert_targets(targets: &Tensor<2>, shape: [usize; 2]) {
    assert_eq!(
        targets.dims(),
        shape,
        "shapes of the targets and of the predictions"
    );
}
