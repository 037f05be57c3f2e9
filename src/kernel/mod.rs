//! Kernels on predictions: a radial profile of a distance over a bandwidth, `k(p, q) = κ(d(p, q)/ν)`.
//!
//! On predictions and targets together there is the [`TensorKernel`] of such a kernel and a
//! [`TargetKernel`], for any predictive distribution.
//!
//! The default for classes is the one of Widmann et al. 2019 (section 7): exponential over total variation,
//! bandwidth by the median heuristic.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration::kernel::{Bandwidth, Distance, Kernel};
//!
//! let kernel = Kernel::exponential(); // over total variation, median bandwidth
//! let other = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.5)); // over Euclidean distance
//! assert_eq!(other.distance, Distance::Euclidean);
//!
//! let device = Device::default();
//! let x = Tensor::<3>::from_floats([[[1.0, 0.0], [0.5, 0.5]]], &device); // one batch of two points
//! let gram = kernel.with_bandwidth(Bandwidth::Fixed(0.5)).gram(x); // [1, 2, 2]
//! let value = gram.into_data().to_vec::<f32>().unwrap()[1];
//! assert!((value - (-1.0f32).exp()).abs() < 1e-6); // total variation 0.5 over bandwidth 0.5
//! ```

mod bandwidth;
pub(crate) mod expectation;
mod factor;
mod predictive;
mod targets;
mod tensor;

pub use bandwidth::{Bandwidth, TRAINING_FLOOR, median_distance, median_distance_with_diagonal};
pub use targets::{
    ClassMatrix, KernelExpectations, RealExpectations, RealKernel, RealProfile, TargetKernel, White,
};
pub(crate) use targets::{KnownKernel, OnClasses};
pub use tensor::{MatrixKernel, TensorKernel};

#[doc(inline)]
pub use crate::ops::distance_order_statistics;
pub use crate::radial::{Distance, Profile};

use burn::tensor::{Bool, DType, Tensor};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Result, assert_scale_of, check_parameter, check_scale, check_scale_of},
    host::to_scalar,
    ops::{
        PairKernel, is_on_host, kernel_matrix, median_of_blocks, median_of_pairs,
        squared_euclidean_distance,
    },
    radial::CoordinateSum,
};

/// A radial kernel `k(p, q) = κ(d(p, q)/ν)`.
///
/// Not every profile is positive definite over every distance and on every kind of predictions, see
/// [`is_positive_definite_on`](Self::is_positive_definite_on): if it is not, the biased estimator can be
/// negative, and an SKCE of 0 does not mean that the model is calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct Kernel {
    /// The profile `κ`.
    pub profile: Profile,
    /// The distance `d`.
    pub distance: Distance,
    /// The bandwidth `ν`.
    pub bandwidth: Bandwidth,
}

impl Default for Kernel {
    fn default() -> Self {
        Self::exponential()
    }
}

impl Kernel {
    /// `exp(−‖p − q‖_TV / ν)` with the median bandwidth: the default for classification.
    pub fn exponential() -> Self {
        Self {
            profile: Profile::Exponential,
            distance: Distance::TotalVariation,
            bandwidth: Bandwidth::Median,
        }
    }

    /// `exp(−W₂(P, Q) / ν)` with the median bandwidth: the default for predictions over real vectors,
    /// whose 2-Wasserstein distance is that between their coordinates where they have some. It is not
    /// positive definite on mixtures, see [`is_positive_definite_on`](Self::is_positive_definite_on).
    pub fn wasserstein() -> Self {
        Self::exponential().with_distance(Distance::Euclidean)
    }

    /// `exp(−‖p − q‖₂² / 2ν²)` with the median bandwidth.
    pub fn gaussian() -> Self {
        Self::wasserstein().with_profile(Profile::Gaussian)
    }

    /// `1[g = g']` on predictions [given their groups](crate::distribution::Given::groups).
    pub fn of_groups() -> Self {
        Self::gaussian().with_bandwidth(Bandwidth::Fixed(1.0))
    }

    /// `exp(−(‖p − q‖_TV / ν)^a)` with the median bandwidth, `0 < a ≤ 2`; positive definite for
    /// `a ≤ 1`, and over [`Distance::Euclidean`] for all.
    pub fn generalised_exponential(exponent: f64) -> Self {
        Self::exponential().with_profile(Profile::GeneralisedExponential { exponent })
    }

    /// The Matérn kernel of smoothness 3/2 over the Euclidean distance, with the median bandwidth.
    pub fn matern32() -> Self {
        Self::wasserstein().with_profile(Profile::Matern32)
    }

    /// The Matérn kernel of smoothness 5/2 over the Euclidean distance, with the median bandwidth.
    pub fn matern52() -> Self {
        Self::wasserstein().with_profile(Profile::Matern52)
    }

    /// `(1 + ‖p − q‖₂² / 2αν²)^{−α}` with the median bandwidth.
    pub fn rational_quadratic(alpha: f64) -> Self {
        Self::wasserstein().with_profile(Profile::RationalQuadratic { alpha })
    }

    /// Sets the profile.
    pub fn with_profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Sets the distance.
    pub fn with_distance(self, distance: Distance) -> Self {
        Self { distance, ..self }
    }

    /// Sets the bandwidth.
    pub fn with_bandwidth(self, bandwidth: Bandwidth) -> Self {
        Self { bandwidth, ..self }
    }

    /// Returns whether the kernel is known to be positive definite between the points of any `ℝ^d`: hence
    /// on class probabilities and on all predictions that have
    /// [coordinates](crate::distribution::Geometry::coordinates). It does not apply to other predictions,
    /// such as mixtures: see [`is_positive_definite_on`](Self::is_positive_definite_on).
    ///
    /// Each profile is over [`Distance::Euclidean`] (Schoenberg 1938: `‖x − y‖₂^a` is of negative
    /// type for `0 < a ≤ 2`, the Matérn and rational quadratic profiles are mixtures of Gaussians).
    /// [`Distance::L1`] and [`Distance::TotalVariation`] are of negative type themselves, and so are
    /// their powers up to 1, but their squares are not: over these, the exponential profile is, and
    /// the generalised one up to exponent 1.
    pub fn is_positive_definite(&self) -> bool {
        self.profile.is_positive_definite_over(self.distance)
    }

    /// Checks the parameters: a fixed bandwidth must be a number from 1e-100 to 1e100, and the profile
    /// [valid](Profile::validate).
    pub fn validate(&self) -> Result<()> {
        self.profile.validate()?;
        match self.bandwidth {
            Bandwidth::Fixed(value) => check_scale("the kernel bandwidth", value),
            Bandwidth::Median => Ok(()),
            Bandwidth::MedianAtLeast(share) => check_parameter(
                share.is_finite() && share >= 0.0,
                "the floor of a median bandwidth",
                share,
                "a finite number of at least 0",
            ),
        }
    }

    /// Fixes the bandwidth: [`Bandwidth::Median`] becomes the exact median of the distances between all
    /// pairs of the given points, see [`median_distance`].
    ///
    /// # Shapes
    ///
    /// - points: `[n, d]`
    ///
    /// # Errors
    ///
    /// As [`validate`](Self::validate), and a bandwidth whose square or its inverse is no normal number of
    /// the dtype: in f32 one outside 1e-18 to 1e18, in f16 outside 1/64 to 64.
    pub fn with_bandwidth_of(self, points: &Tensor<2>) -> Result<Self> {
        self.validate_in(points.dtype())?;
        if !self.bandwidth.is_median() {
            return Ok(self);
        }
        let median = median_distance(points, self.distance).max(self.bandwidth.floor());
        let fixed = self.with_bandwidth(Bandwidth::Fixed(median));
        fixed.validate_in(points.dtype())?;
        Ok(fixed)
    }

    /// Checks the parameters, and that a fixed bandwidth is one for numbers of the dtype.
    pub(crate) fn validate_in(&self, dtype: DType) -> Result<()> {
        self.validate()?;
        match self.bandwidth {
            Bandwidth::Fixed(value) => check_scale_of("the kernel bandwidth", value, dtype),
            _ => Ok(()),
        }
    }

    /// The bandwidth for the pairs within the first `⌊n/size⌋` blocks of consecutive points, `[1]`,
    /// detached; nothing is read back from a device.
    ///
    /// - points: `[n, d]`, `size ≤ n`
    /// - spread: `[1]`, of the predictions; 1 where there is none
    pub(crate) fn bandwidth_of_pairs(
        &self,
        points: Tensor<2>,
        size: usize,
        spread: impl FnOnce() -> Option<Tensor<1>>,
    ) -> Tensor<1> {
        let points = points.detach();
        let median = match self.bandwidth {
            Bandwidth::Fixed(bandwidth) => {
                assert_scale_of("the kernel bandwidth", bandwidth, points.dtype());
                return Tensor::from_data([bandwidth], (&points.device(), points.dtype()));
            }
            _ => median_of_blocks(points, self.distance, size),
        };
        self.bandwidth.floored(median, spread)
    }

    /// Fixes the bandwidth at that of all pairs of points, where they are on the host.
    pub(crate) fn fixed_on_host(
        self,
        points: Tensor<2>,
        spread: impl FnOnce() -> Option<Tensor<1>>,
    ) -> Self {
        let n = points.dims()[0];
        if n < 2 || !self.bandwidth.is_median() || !is_on_host(&points) {
            return self;
        }
        let bandwidth = to_scalar(self.bandwidth_of_pairs(points, n, spread));
        self.with_bandwidth(Bandwidth::Fixed(bandwidth))
    }

    /// The Gram matrix of each batch of points, differentiable with respect to the points; a
    /// median bandwidth is that of all pairs within batches, and detached from the gradient.
    ///
    /// # Shapes
    ///
    /// - x: `[batch, n, d]`
    /// - output: `[batch, n, n]`, in the dtype of the input
    pub fn gram(&self, x: Tensor<3>) -> Tensor<3> {
        self.gram_of_kept(x, None)
    }

    /// The same, with a median bandwidth of the points that are kept, `[batch · n]`.
    pub(crate) fn gram_of_kept(&self, x: Tensor<3>, kept: Option<Tensor<1, Bool>>) -> Tensor<3> {
        self.within(self.distances(x.clone(), x), kept, || None)
    }

    /// The kernel between points, `[batches, n, d]` and `[batches, k, d]` to `[batches, n, k]`, differentiable;
    /// the bandwidth must be fixed.
    pub(crate) fn between_points(&self, x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
        self.at(self.distances(x, y), self.fixed_bandwidth())
    }

    /// The kernel between two sets of points, `[1, n, d]` and `[1, k, d]` to `[1, n, k]`, detached: in vectors where the
    /// points are on the host.
    ///
    /// # Panics
    ///
    /// If the bandwidth is not fixed: a tile does not know the median of the whole.
    pub(crate) fn between(&self, x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
        if !is_on_host(&x) {
            return self.between_points(x, y);
        }
        let [x, y] = [x, y].map(|points| points.squeeze_dim(0));
        kernel_matrix(x, y, self.fused(), self.fixed_bandwidth()).unsqueeze()
    }

    /// The kernel as the [fused pass](crate::ops::pair_statistic) takes it.
    pub fn fused(&self) -> PairKernel {
        PairKernel::new(self.distance, self.profile)
    }

    pub(crate) fn fixed_bandwidth(&self) -> f64 {
        match self.bandwidth {
            Bandwidth::Fixed(bandwidth) => bandwidth,
            _ => panic!(
                "a kernel between two sets of points needs a fixed bandwidth, see Kernel::with_bandwidth_of"
            ),
        }
    }

    /// The kernel of the distances within batches, `[batch, n, n]`, whose pairs have the median.
    ///
    /// - kept: whether a point counts in the median, `[batch · n]`; all where there is none
    fn within(
        &self,
        distances: Distances,
        kept: Option<Tensor<1, Bool>>,
        spread: impl FnOnce() -> Option<Tensor<1>>,
    ) -> Tensor<3> {
        self.of(distances.clone(), || {
            let median = median_of_pairs(distances.plain().detach(), kept);
            self.bandwidth.floored(median, spread)
        })
    }

    /// The kernel of any distances; the median is used where the bandwidth is to be.
    fn of(&self, distances: Distances, median: impl FnOnce() -> Tensor<1>) -> Tensor<3> {
        match (self.bandwidth, distances) {
            (Bandwidth::Fixed(bandwidth), distances) => {
                assert_scale_of("the kernel bandwidth", bandwidth, distances.dtype());
                self.at(distances, bandwidth)
            }
            (_, Distances::Plain(distances)) => {
                self.profile.of(distances / median().reshape([1, 1, 1]))
            }
            (_, Distances::Squared(squares)) => {
                let median: Tensor<3> = median().reshape([1, 1, 1]);
                self.profile.of_squared(squares / median.square())
            }
        }
    }

    /// The kernel of any distances at a bandwidth.
    fn at(&self, distances: Distances, bandwidth: f64) -> Tensor<3> {
        // products: in Burn 0.22.1 the gradient of a division by a scalar goes through f32
        match distances {
            Distances::Plain(distances) => self.profile.of(distances * bandwidth.recip()),
            Distances::Squared(squares) => {
                let rate = (bandwidth * bandwidth).recip();
                self.profile.of_squared(squares * rate)
            }
        }
    }

    fn distances(&self, x: Tensor<3>, y: Tensor<3>) -> Distances {
        // a smooth profile of the Euclidean distance needs no square root, hence has no kink at 0
        match self.distance.sum() {
            CoordinateSum::Squares if self.profile.is_smooth() => {
                Distances::Squared(squared_euclidean_distance(x, y))
            }
            CoordinateSum::Squares | CoordinateSum::Magnitudes => {
                Distances::Plain(self.distance.between(x, y))
            }
        }
    }
}

/// Distances, or their squares where the profile needs no more.
#[derive(Clone)]
enum Distances {
    Plain(Tensor<3>),
    Squared(Tensor<3>),
}

impl Distances {
    fn dtype(&self) -> DType {
        match self {
            Self::Plain(distances) | Self::Squared(distances) => distances.dtype(),
        }
    }

    fn plain(&self) -> Tensor<3> {
        match self {
            Self::Plain(distances) => distances.clone(),
            Self::Squared(squares) => squares.clone().detach().sqrt(),
        }
    }
}
