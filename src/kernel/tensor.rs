use super::{Bandwidth, ClassMatrix, Kernel, TargetKernel, factor};
use crate::{
    distribution::Categorical,
    error::{Result, check_parameter},
};

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
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
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

/// The matrix-valued kernel `k(p, q)·M` of a scalar kernel and a symmetric positive semi-definite matrix
/// over the classes, which weights residuals and confusions of classes.
///
/// With `M = I` it is the scalar kernel itself; a diagonal `M` weighs classes; `M = Σ_g 1_g 1_gᵀ` over
/// groups of classes sees the residuals of the groups alone. It is universal if `k` is and `M` is
/// positive definite (Widmann et al. 2019, section 3.3; Caponnetto et al. 2008).
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::Categorical, estimator::{Estimator, Skce}, kernel::{Kernel, MatrixKernel},
/// };
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let rows = Tensor::<2>::from_floats([[0.25, 0.5, 0.25]; 2], &device);
/// let labels = Tensor::<1, Int>::from_ints([1, 1], &device);
/// let predictions = Categorical::from_probabilities(rows)?;
/// let first = [[1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]]; // calibration of the first class only
/// let kernel = MatrixKernel::from_rows(Kernel::exponential(), &first)?;
/// assert_eq!(Skce::unbiased(kernel).estimate(&predictions, &labels)?, 0.0625);
/// # Ok(())
/// # }
/// ```
pub type MatrixKernel = TensorKernel<ClassMatrix>;

impl MatrixKernel {
    /// Creates the kernel from a scalar kernel and the rows of a matrix.
    ///
    /// # Errors
    ///
    /// A kernel that is not [valid](Kernel::validate); fewer than two rows, rows of another length,
    /// an entry that is not finite; a matrix that is not symmetric or not positive semi-definite, to
    /// a relative 10⁻⁹; or one that sees no residual at all, as every multiple of `1 1ᵀ`.
    pub fn from_rows(kernel: Kernel, rows: &[impl AsRef<[f64]>]) -> Result<Self> {
        kernel.validate()?;
        let matrix = ClassMatrix::new(rows)?;
        let bound = TargetKernel::<Categorical>::half_bound(&matrix);
        check_parameter(
            bound > factor::TOLERANCE * factor::largest(matrix.rows()),
            "the largest residual that the kernel matrix sees",
            bound,
            "a positive number: residuals sum to 0",
        )?;
        Ok(Self::new(kernel, matrix))
    }
}
