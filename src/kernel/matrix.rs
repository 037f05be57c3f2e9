use burn::tensor::{Int, Tensor};

use super::{ClassKernel, Kernel};
use crate::{
    distribution::Targets,
    error::{Error, Result, check_parameter},
    host::tensor_like,
    ops::PairKernel,
};

/// The matrix-valued kernel `k(p, q)·M` of a scalar kernel and a symmetric positive semi-definite
/// matrix over the classes, which says which residuals matter and which confusions weigh the same.
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
/// let kernel = MatrixKernel::new(Kernel::exponential(), &first)?;
/// assert_eq!(Skce::unbiased(kernel).estimate(&predictions, &labels)?, 0.0625);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MatrixKernel {
    kernel: Kernel,
    matrix: Vec<Vec<f64>>,
    /// `L` with `M = L Lᵀ`, column by column.
    #[serde(skip)]
    factor: Vec<Vec<f64>>,
}

impl MatrixKernel {
    /// Creates the kernel from a scalar kernel and the rows of a matrix.
    ///
    /// # Errors
    ///
    /// A kernel that is not [valid](Kernel::validate); fewer than two rows, rows of another length,
    /// an entry that is not finite; a matrix that is not symmetric or not positive semi-definite, to
    /// a relative 10⁻⁹; or one that sees no residual at all, as every multiple of `1 1ᵀ`.
    pub fn new(kernel: Kernel, rows: &[impl AsRef<[f64]>]) -> Result<Self> {
        kernel.validate()?;
        let matrix: Vec<Vec<f64>> = rows.iter().map(|row| row.as_ref().to_vec()).collect();
        check_symmetric(&matrix)?;
        let factor = factor(&matrix)?;
        let this = Self {
            kernel,
            matrix,
            factor,
        };
        let bound = this.half_bound();
        check_parameter(
            bound > TOLERANCE * largest(&this.matrix),
            "the largest residual that the kernel matrix sees",
            bound,
            "a positive number: residuals sum to 0",
        )?;
        Ok(this)
    }

    /// The scalar kernel `k`.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The rows of the matrix `M`.
    pub fn matrix(&self) -> &[Vec<f64>] {
        &self.matrix
    }
}

impl ClassKernel for MatrixKernel {
    fn scalar(&self) -> Kernel {
        self.kernel
    }

    fn with_scalar(&self, kernel: Kernel) -> Self {
        Self {
            kernel,
            ..self.clone()
        }
    }

    fn matrix(&self) -> Option<&[Vec<f64>]> {
        Some(&self.matrix)
    }

    /// `δL`, for rows `δ`: a product with the factor, which is made on the device of the residuals.
    fn fold(&self, residuals: Tensor<2>) -> Tensor<2> {
        let (rank, classes) = (self.factor.len(), self.matrix.len());
        let factor = tensor_like(self.factor.concat(), [rank, classes], &residuals);
        residuals.matmul(factor.transpose())
    }

    /// `sup k · ½ max_{i,j} (M_ii + M_jj − 2 M_ij)`, half of the least bound of `|h|`.
    ///
    /// Proof. By Cauchy–Schwarz `|δᵀ M δ'|² ≤ δᵀ M δ · δ'ᵀ M δ'`. As a convex function of `p`,
    /// `δᵀ M δ` with `δ = e_y − p` is largest where `p` is a vertex `e_j` of the simplex, and there it
    /// is `M_yy + M_jj − 2 M_yj`. Two equal such samples attain it, since `k(p, p) = sup k`.
    ///
    /// The bound `B_{p;p} = 2 sup‖k M‖_p` of Widmann et al. 2019, Lemma H.1, with an induced norm, is
    /// never less: `(e_i − e_j)ᵀ M (e_i − e_j) ≤ ‖e_i − e_j‖² ‖M‖₂ = 2‖M‖₂`, and the spectral norm
    /// `‖M‖₂` of a symmetric matrix, its spectral radius, is the least of all induced norms.
    fn half_bound(&self) -> f64 {
        let m = &self.matrix;
        let pairs = (0..m.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let widest = pairs.map(|(i, j)| m[i][i] + m[j][j] - m[i][j] - m[j][i]);
        self.kernel.supremum() * 0.5 * widest.fold(0.0, f64::max)
    }

    fn fused(&self) -> Option<PairKernel> {
        self.kernel.fused()
    }

    fn validate_for(&self, classes: usize) -> Result<()> {
        match self.matrix.len() {
            size if size == classes => self.kernel.validate(),
            expected => Err(Tensor::<1, Int>::mismatch(classes, expected)),
        }
    }
}

/// Relative to the largest entry of the matrix.
const TOLERANCE: f64 = 1e-9;

fn largest(matrix: &[Vec<f64>]) -> f64 {
    let entries = matrix.iter().flatten();
    entries.fold(0.0, |largest: f64, entry| largest.max(entry.abs()))
}

/// Square, at least 2 × 2, finite and symmetric.
fn check_symmetric(matrix: &[Vec<f64>]) -> Result<()> {
    let size = matrix.len();
    if size < 2 {
        return Err(Error::TooFewClasses { got: size });
    }
    for (row, entries) in matrix.iter().enumerate() {
        if entries.len() != size {
            return Err(Error::KernelMatrix {
                reason: format!(
                    "row {row} of the kernel matrix has {} entries, expected {size}, as many as rows",
                    entries.len()
                ),
            });
        }
        if let Some(class) = entries.iter().position(|entry| !entry.is_finite()) {
            return Err(Error::Value {
                row,
                column: "class",
                at: class,
                what: "the entry of the kernel matrix",
                value: entries[class],
                expected: "a finite number",
            });
        }
    }
    let tolerance = TOLERANCE * largest(matrix);
    let below = (0..size).flat_map(|row| (0..row).map(move |column| (row, column)));
    for (row, column) in below {
        let (value, mirrored) = (matrix[row][column], matrix[column][row]);
        if (value - mirrored).abs() > tolerance {
            return Err(Error::KernelMatrix {
                reason: format!(
                    "the kernel matrix is {value} at ({row}, {column}) and {mirrored} at ({column}, {row}), expected a symmetric matrix"
                ),
            });
        }
    }
    Ok(())
}

/// Symmetric and positive semi-definite.
pub(super) fn check_kernel_matrix(matrix: &[Vec<f64>]) -> Result<()> {
    check_symmetric(matrix)?;
    factor(matrix).map(|_| ())
}

/// The columns of `L` with `M = L Lᵀ`, by a Cholesky decomposition that takes the largest diagonal
/// entry next and stops where none is left: what remains of a positive semi-definite matrix is 0.
fn factor(matrix: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let size = matrix.len();
    let tolerance = TOLERANCE * largest(matrix);
    let symmetric = |i: usize, j: usize| 0.5 * (matrix[i][j] + matrix[j][i]);
    let row = |i| (0..size).map(|j| symmetric(i, j)).collect();
    let mut rest: Vec<Vec<f64>> = (0..size).map(row).collect();
    let mut columns = Vec::new();
    for _ in 0..size {
        let by_diagonal = |i: &usize, j: &usize| rest[*i][*i].total_cmp(&rest[*j][*j]);
        let pivot = (0..size).max_by(by_diagonal).expect("not empty");
        let value = rest[pivot][pivot];
        if value <= tolerance {
            break;
        }
        let column: Vec<f64> = rest[pivot].iter().map(|a| a / value.sqrt()).collect();
        for (row, a) in rest.iter_mut().zip(&column) {
            row.iter_mut()
                .zip(&column)
                .for_each(|(entry, b)| *entry -= a * b);
        }
        columns.push(column);
    }
    match (0..size).find(|&row| largest(&rest[row..=row]) > tolerance) {
        Some(row) => Err(Error::KernelMatrix {
            reason: format!(
                "the kernel matrix is not positive semi-definite: its Cholesky decomposition fails in row {row}"
            ),
        }),
        None => Ok(columns),
    }
}
