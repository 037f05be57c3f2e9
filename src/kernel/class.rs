use std::fmt::Debug;

use burn::tensor::Tensor;

use super::Kernel;
use crate::{error::Result, ops::PairKernel};

/// A matrix-valued kernel `k(p, q)·M` on class predictions, for a scalar [`Kernel`] `k` and a
/// symmetric positive semi-definite matrix `M`: what a calibration error of classes needs.
///
/// A [`Kernel`] by itself stands for `M = I`; [`MatrixKernel`](super::MatrixKernel) has any other
/// (Widmann et al. 2019, section 3.3).
pub trait ClassKernel: Clone + Debug {
    /// The scalar factor `k`.
    fn scalar(&self) -> Kernel;

    /// Replaces the scalar factor.
    fn with_scalar(&self, scalar: Kernel) -> Self;

    /// The rows of `M`; none for `M = I`.
    fn matrix(&self) -> Option<&[Vec<f64>]> {
        None
    }

    /// `δ ↦ Lᵀδ` for a factor `M = L Lᵀ`, so that `δᵀ M δ' = (Lᵀδ)ᵀ(Lᵀδ')`. Differentiable, and
    /// nothing is read back.
    ///
    /// # Shapes
    ///
    /// - residuals: `[n, m]`
    /// - output: `[n, rank]`, `rank ≤ m`
    fn fold(&self, residuals: Tensor<2>) -> Tensor<2>;

    /// The half of the least bound of `|h| = |k(p, p')·δᵀ M δ'|`, which the distribution-free tests need:
    /// `|h| ≤ 2·half_bound`.
    fn half_bound(&self) -> f64;

    /// The scalar kernel where the fused [`pair_statistic`](crate::ops::pair_statistic) and
    /// [`residual_statistic`](crate::ops::residual_statistic) have it. None by default.
    fn fused(&self) -> Option<PairKernel> {
        None
    }

    /// Checks that the parameters are valid, for predictions over so many classes.
    ///
    /// # Errors
    ///
    /// A scalar kernel that is not [valid](Kernel::validate), or a matrix of another size.
    fn validate_for(&self, classes: usize) -> Result<()>;
}

impl ClassKernel for Kernel {
    fn scalar(&self) -> Kernel {
        *self
    }

    fn with_scalar(&self, scalar: Kernel) -> Self {
        scalar
    }

    fn fold(&self, residuals: Tensor<2>) -> Tensor<2> {
        residuals
    }

    fn half_bound(&self) -> f64 {
        self.supremum()
    }

    fn fused(&self) -> Option<PairKernel> {
        Some(PairKernel::new(self.distance, self.profile))
    }

    fn validate_for(&self, _classes: usize) -> Result<()> {
        self.validate()
    }
}
