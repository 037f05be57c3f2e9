use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{RealExpectations, TargetKernel};
use crate::{
    distribution::in_batches,
    error::{Result, check_scale, check_scale_of},
    kernel::{Bandwidth, Distance, Kernel, Profile, bandwidth::median_distance},
};

const LENGTH_SCALE: &str = "the length scale of the target kernel";

/// The profile of a [`RealKernel`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
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
#[must_use]
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
        Self {
            length_scale: median_distance(targets, self.kernel().distance),
            ..self
        }
    }

    /// The kernel between points, differentiable: `[batches, n, d]` and `[batches, k, d]` to `[batches, n, k]`.
    pub(super) fn between_points(&self, x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
        if x.dims()[0] == 1 && !x.is_tracked() && !y.is_tracked() {
            self.kernel().between(x, y)
        } else {
            self.kernel().between_points(x, y)
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
}

impl<P: RealExpectations> TargetKernel<P> for RealKernel {
    fn between(&self, y: &Tensor<2>, other: &Tensor<2>, _like: &P, batches: usize) -> Tensor<3> {
        let [y, other] = [y, other].map(|y| in_batches(y.clone(), batches));
        self.between_points(y, other)
    }

    fn expectation(&self, predictions: &P, y: &Tensor<2>, batches: usize) -> Tensor<3> {
        predictions.mean_kernel(self, y, batches)
    }

    fn double_expectation(&self, p: &P, q: &P, batches: usize) -> Tensor<3> {
        p.mean_kernel_of_two(q, self, batches)
    }

    fn half_bound(&self) -> f64 {
        1.0
    }

    fn validate_for(&self, predictions: &P) -> Result<()> {
        check_scale_of(LENGTH_SCALE, self.length_scale, predictions.dtype())
    }

    fn residual_features(&self, predictions: &P, sets: &[Tensor<2>]) -> Option<Vec<Tensor<2>>> {
        self.on_grid(predictions, sets)
    }
}
