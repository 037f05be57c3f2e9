use burn::tensor::{DType, Int, Tensor, TensorData};

use super::TargetKernel;
use crate::{
    distribution::{Categorical, Predictive, Targets, hits, in_batches},
    error::Result,
    kernel::matrix::check_kernel_matrix,
};

/// The white kernel on classes, `1[y = y']`.
///
/// A [`TensorKernel`](crate::kernel::TensorKernel) with it is the scalar
/// [`Kernel`](crate::kernel::Kernel) on predictions by itself, and slower: use that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct White;

impl TargetKernel<Categorical> for White {
    fn between(
        &self,
        y: &Tensor<1, Int>,
        other: &Tensor<1, Int>,
        like: &Categorical,
        batches: usize,
    ) -> Tensor<3> {
        product(one_hot(y, like), one_hot(other, like), batches)
    }

    fn expectation(&self, p: &Categorical, y: &Tensor<1, Int>, batches: usize) -> Tensor<3> {
        product(p.probabilities(), one_hot(y, p), batches)
    }

    fn double_expectation(&self, p: &Categorical, q: &Categorical, batches: usize) -> Tensor<3> {
        product(p.probabilities(), q.probabilities(), batches)
    }

    fn half_bound(&self) -> f64 {
        1.0
    }

    fn validate_for(&self, _predictions: &Categorical) -> Result<()> {
        Ok(())
    }
}

/// A kernel on classes as a matrix `K`, `k_Y(y, y') = K[y, y']`: which classes are close.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassMatrix {
    rows: Vec<Vec<f64>>,
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
        check_kernel_matrix(&rows)?;
        Ok(Self { rows })
    }

    /// `x K`, for rows `x` of `[n, m]`.
    fn times(&self, x: Tensor<2>) -> Tensor<2> {
        let m = self.rows.len();
        let matrix = TensorData::new(self.rows.concat(), [m, m]);
        let options = (&x.device(), x.dtype());
        x.matmul(Tensor::from_data(matrix, options))
    }
}

impl TargetKernel<Categorical> for ClassMatrix {
    fn between(
        &self,
        y: &Tensor<1, Int>,
        other: &Tensor<1, Int>,
        like: &Categorical,
        batches: usize,
    ) -> Tensor<3> {
        product(self.times(one_hot(y, like)), one_hot(other, like), batches)
    }

    fn expectation(&self, p: &Categorical, y: &Tensor<1, Int>, batches: usize) -> Tensor<3> {
        product(self.times(p.probabilities()), one_hot(y, p), batches)
    }

    fn double_expectation(&self, p: &Categorical, q: &Categorical, batches: usize) -> Tensor<3> {
        product(self.times(p.probabilities()), q.probabilities(), batches)
    }

    /// `½ max_{y,z} (K_yy + K_zz − 2 K_yz)`: the squared norm is convex in the prediction, hence largest
    /// where that is a vertex of the simplex.
    fn half_bound(&self) -> f64 {
        let k = &self.rows;
        let pairs = (0..k.len()).flat_map(|y| (0..y).map(move |z| (y, z)));
        let widest = pairs.map(|(y, z)| k[y][y] + k[z][z] - 2.0 * k[y][z]);
        0.5 * widest.fold(0.0, f64::max)
    }

    fn validate_for(&self, predictions: &Categorical) -> Result<()> {
        match (predictions.classes(), self.rows.len()) {
            (got, expected) if got != expected => Err(Tensor::<1, Int>::mismatch(got, expected)),
            _ => Ok(()),
        }
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
