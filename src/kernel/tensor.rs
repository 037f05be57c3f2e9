use super::{Bandwidth, Kernel};

/// The tensor product `k_P ⊗ k_Y` of a kernel on predictions and a kernel on targets, for any
/// predictive distribution (Widmann et al. 2021, section 3.1).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{
///     distribution::Normal, estimator::{Estimator, Skce},
///     kernel::{Bandwidth, Kernel, RealKernel, TensorKernel},
/// };
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let zeros = Tensor::<2>::zeros([2, 1], &device);
/// let predictions = Normal::new(zeros.clone(), zeros.ones_like()); // N(0, 1), twice
/// // exp(−W₂) ⊗ exp(−(y − y')²/2)
/// let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0))
///     .with_bandwidth(Bandwidth::Fixed(1.0));
/// let estimate = Skce::unbiased(kernel).estimate(&predictions, &zeros)?;
/// assert!((estimate - (1.0 - 2f64.sqrt() + 3f64.sqrt().recip())).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[must_use]
pub struct TensorKernel<T> {
    /// The kernel `k_P` on predictions.
    pub predictions: Kernel,
    /// The kernel `k_Y` on targets.
    pub targets: T,
}

impl<T> TensorKernel<T> {
    /// Creates the kernel from a kernel on predictions and one on targets.
    pub fn new(predictions: Kernel, targets: T) -> Self {
        Self {
            predictions,
            targets,
        }
    }

    /// `exp(−W₂(P, P')/ν) ⊗ k_Y`, with the 2-Wasserstein distance (of mixtures: that of
    /// [`Mixture`](crate::distribution::Mixture), over which the kernel is
    /// [not positive definite](Kernel::is_positive_definite_on), or that of their quantiles) and the median bandwidth.
    pub fn wasserstein(targets: T) -> Self {
        Self::new(Kernel::wasserstein(), targets)
    }

    /// The same with another bandwidth of the kernel on predictions.
    pub fn with_bandwidth(self, bandwidth: Bandwidth) -> Self {
        Self {
            predictions: self.predictions.with_bandwidth(bandwidth),
            ..self
        }
    }
}
