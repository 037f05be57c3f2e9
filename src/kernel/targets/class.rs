use std::fmt::Debug;

use burn::tensor::{DType, Int, Tensor};
use serde::{Deserialize, Serialize};

use super::TargetKernel;
use crate::{
    distribution::{Categorical, Predictive, Targets, hits, in_batches, residuals},
    error::{Error, Result},
    host::tensor_like,
    kernel::factor::{check_symmetric, factor},
};

/// The white kernel on classes, `1[y = y']`.
///
/// A [`TensorKernel`](crate::kernel::TensorKernel) with it is the scalar
/// [`Kernel`](crate::kernel::Kernel) on predictions by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct White;

impl ClassTargets for White {
    fn matrix(&self) -> Option<&ClassMatrix> {
        None
    }
}

/// A kernel on classes as a symmetric positive semi-definite matrix `M`, `k_Y(y, y') = M[y, y']`: which
/// classes are close.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<f64>>", into = "Vec<Vec<f64>>")]
#[must_use]
pub struct ClassMatrix {
    rows: Vec<Vec<f64>>,
    /// `L` with `M = L Lᵀ`, column by column.
    factor: Vec<Vec<f64>>,
}

impl ClassMatrix {
    /// Creates the kernel from the rows of a symmetric positive semi-definite matrix.
    ///
    /// # Errors
    ///
    /// Fewer than two rows, rows of another length, an entry that is not finite, a matrix that is
    /// not symmetric or not positive semi-definite, to a relative 10⁻⁹.
    pub fn new(rows: &[impl AsRef<[f64]>]) -> Result<Self> {
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.as_ref().to_vec()).collect();
        check_symmetric(&rows)?;
        let factor = factor(&rows)?;
        Ok(Self { rows, factor })
    }

    /// The rows of `M`.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// `x M`, for rows `x` of `[n, m]`.
    pub(crate) fn times(&self, x: Tensor<2>) -> Tensor<2> {
        let m = self.rows.len();
        let matrix = tensor_like(self.rows.concat(), [m, m], &x);
        x.matmul(matrix)
    }

    /// `x (M∘M)` with the elementwise square.
    pub(crate) fn times_squares(&self, x: Tensor<2>) -> Tensor<2> {
        let m = self.rows.len();
        let matrix = tensor_like(self.rows.concat(), [m, m], &x);
        x.matmul(matrix.square())
    }

    /// `Lᵀδ`, for rows `δ`: `[n, m] → [n, rank]`, so that `δᵀ M δ' = (Lᵀδ)ᵀ(Lᵀδ')`.
    fn fold(&self, residuals: Tensor<2>) -> Tensor<2> {
        let (rank, classes) = (self.factor.len(), self.rows.len());
        let factor = tensor_like(self.factor.concat(), [rank, classes], &residuals);
        residuals.matmul(factor.transpose())
    }
}

/// As [`ClassMatrix::new`].
impl TryFrom<Vec<Vec<f64>>> for ClassMatrix {
    type Error = Error;

    fn try_from(rows: Vec<Vec<f64>>) -> Result<Self> {
        Self::new(&rows)
    }
}

impl From<ClassMatrix> for Vec<Vec<f64>> {
    fn from(matrix: ClassMatrix) -> Self {
        matrix.rows
    }
}

impl ClassTargets for ClassMatrix {
    fn matrix(&self) -> Option<&ClassMatrix> {
        Some(self)
    }
}

/// A kernel on classes, `k_Y(y, y') = M[y, y']`.
pub trait ClassTargets: Debug + 'static {
    /// The matrix `M`; none for `M = I`.
    fn matrix(&self) -> Option<&ClassMatrix>;
}

/// `x M`, for rows `x`.
fn times(kernel: &impl ClassTargets, x: Tensor<2>) -> Tensor<2> {
    match kernel.matrix() {
        None => x,
        Some(matrix) => matrix.times(x),
    }
}

impl<K: ClassTargets> TargetKernel<Categorical> for K {
    fn between(
        &self,
        y: &Tensor<1, Int>,
        other: &Tensor<1, Int>,
        like: &Categorical,
        batches: usize,
    ) -> Tensor<3> {
        let rows = times(self, one_hot(y, like));
        product(rows, one_hot(other, like), batches)
    }

    fn expectation(&self, p: &Categorical, y: &Tensor<1, Int>, batches: usize) -> Tensor<3> {
        product(times(self, p.probabilities()), one_hot(y, p), batches)
    }

    fn double_expectation(&self, p: &Categorical, q: &Categorical, batches: usize) -> Tensor<3> {
        product(times(self, p.probabilities()), q.probabilities(), batches)
    }

    /// `½ max_{y,z} (M_yy + M_zz − 2 M_yz)`, half of the smallest bound of `δᵀ M δ'`.
    ///
    /// Proof. By Cauchy–Schwarz `|δᵀ M δ'|² ≤ δᵀ M δ · δ'ᵀ M δ'`. As a convex function of `p`,
    /// `δᵀ M δ` with `δ = e_y − p` is largest where `p` is a vertex `e_z` of the simplex, and there it
    /// is `M_yy + M_zz − 2 M_yz`. Two equal such samples attain it.
    ///
    /// The bound `B_{p;p} = 2 sup‖k M‖_p` of Widmann et al. 2019, Lemma H.1, with an induced norm, is
    /// never less: `(e_i − e_j)ᵀ M (e_i − e_j) ≤ ‖e_i − e_j‖² ‖M‖₂ = 2‖M‖₂`, and the spectral norm
    /// `‖M‖₂` of a symmetric matrix, its spectral radius, is the least of all induced norms.
    fn half_bound(&self) -> f64 {
        let Some(ClassMatrix { rows: m, .. }) = self.matrix() else {
            return 1.0;
        };
        let pairs = (0..m.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let widest = pairs.map(|(i, j)| m[i][i] + m[j][j] - m[i][j] - m[j][i]);
        0.5 * widest.fold(0.0, f64::max)
    }

    fn validate_for(&self, predictions: &Categorical) -> Result<()> {
        let got = predictions.classes();
        match self.matrix().map_or(got, |matrix| matrix.rows.len()) {
            expected if got != expected => Err(Tensor::<1, Int>::mismatch(got, expected)),
            _ => Ok(()),
        }
    }

    fn residual_features(
        &self,
        predictions: &Categorical,
        sets: &[Tensor<1, Int>],
    ) -> Option<Vec<Tensor<2>>> {
        let rows = |y: &Tensor<1, Int>| {
            let residuals = residuals(predictions.probabilities(), y.clone());
            match self.matrix() {
                None => residuals,
                Some(matrix) => matrix.fold(residuals),
            }
        };
        Some(sets.iter().map(rows).collect())
    }
}

/// `e_y`, `[n, m]`.
fn one_hot(labels: &Tensor<1, Int>, like: &Categorical) -> Tensor<2> {
    let (n, m) = (labels.dims()[0], like.classes());
    let hits = hits(labels.clone(), m);
    let dtype: DType = like.dtype();
    Tensor::<2>::zeros([n, m], (&like.device(), dtype)).mask_fill(hits, 1.0)
}

/// `xᵀy` between the rows of batches, `[batches, n, k]`.
fn product(x: Tensor<2>, y: Tensor<2>, batches: usize) -> Tensor<3> {
    in_batches(x, batches).matmul(in_batches(y, batches).transpose())
}
