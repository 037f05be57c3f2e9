use burn::tensor::{DType, Tensor};
use serde::{Deserialize, Serialize};

use super::TargetKernel;
use crate::{
    distribution::{Component, Laplace, Normal, Predictive, in_batches},
    error::{Result, check_scale, check_scale_of},
    kernel::{
        Bandwidth, Distance, Kernel, Profile,
        bandwidth::median_distance,
        expectation::{
            gaussian_laplace, gaussian_laplace_pair, gaussian_normal, laplacian_laplace,
            laplacian_laplace_pair, laplacian_normal, with_slopes,
        },
    },
    ops::{NormalSamples, is_on_host, laplace_gaussian_at},
};

const LENGTH_SCALE: &str = "the length scale of the target kernel";

/// The profile of a [`RealKernel`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RealProfile {
    /// `exp(−‖y − y'‖₂² / 2ℓ²)`.
    Gaussian,
    /// `exp(−‖y − y'‖₁ / ℓ)`.
    Laplacian,
}

/// A kernel on targets of `ℝ^d`, the product of one-dimensional kernels over the coordinates.
///
/// Its expectations under normal and Laplace predictions, and under mixtures of them, are known in
/// closed form, and are sums for Monte Carlo samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RealKernel {
    /// The profile.
    pub profile: RealProfile,
    /// The length scale `ℓ`, in units of the targets.
    pub length_scale: f64,
}

impl RealKernel {
    /// `exp(−‖y − y'‖₂² / 2ℓ²)`.
    pub fn gaussian(length_scale: f64) -> Self {
        Self {
            profile: RealProfile::Gaussian,
            length_scale,
        }
    }

    /// `exp(−‖y − y'‖₁ / ℓ)`.
    pub fn laplacian(length_scale: f64) -> Self {
        Self {
            profile: RealProfile::Laplacian,
            length_scale,
        }
    }

    /// The same kernel with the median of the distances between all pairs of targets as its length
    /// scale, Euclidean for the Gaussian and L1 for the Laplacian profile; 1 if that is 0.
    ///
    /// # Shapes
    ///
    /// - targets: `[n, d]`
    ///
    /// # Panics
    ///
    /// If a target is not finite.
    pub fn with_median_of(self, targets: &Tensor<2>) -> Self {
        let distance = match self.profile {
            RealProfile::Gaussian => Distance::Euclidean,
            RealProfile::Laplacian => Distance::L1,
        };
        Self {
            length_scale: median_distance(targets, distance),
            ..self
        }
    }

    /// The kernel between points: `[batches, n, d]` and `[batches, k, d]` to `[batches, n, k]`.
    pub(super) fn of_points(&self, x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
        use crate::ops::{pairwise_distance, squared_euclidean_distance};
        let l = self.length_scale;
        match self.profile {
            RealProfile::Gaussian => (squared_euclidean_distance(x, y) * (-0.5 / (l * l))).exp(),
            RealProfile::Laplacian => (pairwise_distance(x, y, Distance::L1) * -l.recip()).exp(),
        }
    }

    /// The same kernel between points.
    pub(crate) fn kernel(&self) -> Kernel {
        let (profile, distance) = match self.profile {
            RealProfile::Gaussian => (Profile::Gaussian, Distance::Euclidean),
            RealProfile::Laplacian => (Profile::Exponential, Distance::L1),
        };
        Kernel {
            profile,
            distance,
            bandwidth: Bandwidth::Fixed(self.length_scale),
        }
    }

    /// Checks that the length scale is a number from 1e-100 to 1e100. For predictions it has the limits of their
    /// dtype, as a [bandwidth](Kernel::with_bandwidth_of) has.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](crate::error::Error::Parameter) if it is not.
    pub fn validate(&self) -> Result<()> {
        check_scale(LENGTH_SCALE, self.length_scale)
    }

    /// Checks that the length scale is one for numbers of the dtype.
    pub(super) fn validate_in(&self, dtype: DType) -> Result<()> {
        check_scale_of(LENGTH_SCALE, self.length_scale, dtype)
    }

    /// For predictions with a location and a scale for each coordinate: the product over the
    /// coordinates of the expectation under one prediction.
    fn single(
        &self,
        (location, scale): (Tensor<2>, Tensor<2>),
        y: &Tensor<2>,
        batches: usize,
        coordinate: impl Fn(f64, Tensor<3>, Tensor<3>) -> Tensor<3>,
    ) -> Tensor<3> {
        let (location, scale) = (in_batches(location, batches), in_batches(scale, batches));
        let y = in_batches(y.clone(), batches);
        product(location.dims()[2], |c| {
            let delta = column(&location, c) - row(&y, c); // [b, n, k]
            let scale = column(&scale, c).expand(delta.dims());
            coordinate(self.length_scale, delta, scale)
        })
    }

    /// The same for the expectation under two predictions.
    fn double(
        &self,
        (location, scale): (Tensor<2>, Tensor<2>),
        (other_location, other_scale): (Tensor<2>, Tensor<2>),
        batches: usize,
        coordinate: impl Fn(f64, Tensor<3>, Tensor<3>, Tensor<3>) -> Tensor<3>,
    ) -> Tensor<3> {
        let [location, scale, other_location, other_scale] =
            [location, scale, other_location, other_scale].map(|x| in_batches(x, batches));
        product(location.dims()[2], |c| {
            let delta = column(&location, c) - row(&other_location, c); // [b, n, k]
            let shape = delta.dims();
            let scale = column(&scale, c).expand(shape);
            let other = row(&other_scale, c).expand(shape);
            coordinate(self.length_scale, delta, scale, other)
        })
    }
}

/// `Π_c f(c)`.
fn product(dimensions: usize, f: impl Fn(usize) -> Tensor<3>) -> Tensor<3> {
    (0..dimensions)
        .map(f)
        .reduce(|a, b| a * b)
        .expect("at least one coordinate")
}

/// Coordinate `c` of each point, `[b, n, d] → [b, n, 1]`.
fn column(x: &Tensor<3>, c: usize) -> Tensor<3> {
    let [b, n, _] = x.dims();
    x.clone().slice([0..b, 0..n, c..c + 1])
}

/// Coordinate `c` of each point, `[b, k, d] → [b, 1, k]`.
fn row(x: &Tensor<3>, c: usize) -> Tensor<3> {
    column(x, c).swap_dims(1, 2)
}

/// A kernel on the targets of predictions over `ℝ^d`.
macro_rules! on_real_targets {
    ($predictions:ty) => {
        fn between(
            &self,
            y: &Tensor<2>,
            other: &Tensor<2>,
            _like: &$predictions,
            batches: usize,
        ) -> Tensor<3> {
            self.of_points(
                in_batches(y.clone(), batches),
                in_batches(other.clone(), batches),
            )
        }

        fn half_bound(&self) -> f64 {
            1.0
        }
    };
}
pub(super) use on_real_targets;

impl TargetKernel<Normal> for RealKernel {
    on_real_targets!(Normal);

    fn expectation(&self, predictions: &Normal, y: &Tensor<2>, batches: usize) -> Tensor<3> {
        let coordinate = match self.profile {
            RealProfile::Gaussian => gaussian_normal,
            RealProfile::Laplacian => laplacian_normal,
        };
        let parameters = (
            predictions.mean(),
            predictions.standard_deviation().square(),
        );
        self.single(parameters, y, batches, coordinate)
    }

    /// That of one prediction with the variance `σ² + σ'²`.
    fn double_expectation(&self, p: &Normal, q: &Normal, batches: usize) -> Tensor<3> {
        let coordinate = match self.profile {
            RealProfile::Gaussian => gaussian_normal,
            RealProfile::Laplacian => laplacian_normal,
        };
        let parameters = |p: &Normal| (p.mean(), p.standard_deviation().square());
        self.double(parameters(p), parameters(q), batches, |l, delta, v, w| {
            coordinate(l, delta, v + w)
        })
    }

    fn as_normal(&self, predictions: &Normal, targets: &Tensor<2>) -> Option<(NormalSamples, f64)> {
        let samples = || NormalSamples {
            locations: predictions.mean(),
            scales: predictions.standard_deviation(),
            targets: targets.clone(),
        };
        match self.profile {
            RealProfile::Gaussian => Some((samples(), self.length_scale)),
            RealProfile::Laplacian => None,
        }
    }

    fn features_given(&self, predictions: &Normal, sets: &[Tensor<2>]) -> Option<Vec<Tensor<2>>> {
        let expected =
            |narrow: &Self, nodes: &Tensor<2>| narrow.expectation_on_line(predictions, nodes);
        self.on_grid(predictions, sets, || predictions.reach(), expected)
    }

    fn validate_for(&self, predictions: &Normal) -> Result<()> {
        self.validate_in(predictions.dtype())
    }
}

impl TargetKernel<Laplace> for RealKernel {
    on_real_targets!(Laplace);

    fn expectation(&self, predictions: &Laplace, y: &Tensor<2>, batches: usize) -> Tensor<3> {
        let coordinate = match self.profile {
            RealProfile::Gaussian => gaussian_laplace,
            RealProfile::Laplacian => laplacian_laplace,
        };
        let parameters = (predictions.location(), predictions.scale());
        self.single(parameters, y, batches, coordinate)
    }

    fn double_expectation(&self, p: &Laplace, q: &Laplace, batches: usize) -> Tensor<3> {
        let coordinate = match self.profile {
            RealProfile::Gaussian => gaussian_laplace_pair,
            RealProfile::Laplacian => laplacian_laplace_pair,
        };
        let parameters = |p: &Laplace| (p.location(), p.scale());
        self.double(parameters(p), parameters(q), batches, coordinate)
    }

    fn residual_features(
        &self,
        predictions: &Laplace,
        sets: &[Tensor<2>],
    ) -> Option<Vec<Tensor<2>>> {
        let expected =
            |narrow: &Self, nodes: &Tensor<2>| narrow.expectation_on_line(predictions, nodes);
        self.on_grid(predictions, sets, || predictions.reach(), expected)
    }

    /// In vectors, for the Gaussian profile on the host.
    fn expectation_on_line(&self, predictions: &Laplace, points: &Tensor<2>) -> Tensor<2> {
        let (location, scale) = (predictions.location(), predictions.scale());
        if self.profile != RealProfile::Gaussian || !is_on_host(&location) {
            return self.expectation(predictions, points, 1).squeeze_dim(0);
        }
        let points = points.clone();
        let [value, to_location, to_scale] =
            laplace_gaussian_at(location.clone(), scale.clone(), points, self.length_scale);
        with_slopes(value, [&location, &scale], || [to_location, to_scale])
    }

    fn validate_for(&self, predictions: &Laplace) -> Result<()> {
        self.validate_in(predictions.dtype())
    }
}
