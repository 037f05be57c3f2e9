use super::{ClassMatrix, Kernel, TargetKernel, TensorKernel, factor};
use crate::{
    distribution::Categorical,
    error::{Result, check_parameter},
};

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
