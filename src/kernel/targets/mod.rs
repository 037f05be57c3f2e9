//! Kernels on targets, with their expectations under predictions.

mod class;
mod features;
mod real;
mod real_expectations;

use std::{any::Any, fmt::Debug};

use burn::tensor::Tensor;

pub use class::{ClassMatrix, White};
pub use real::{RealKernel, RealProfile};
pub use real_expectations::{KernelExpectations, RealExpectations};

use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
};

/// A kernel `k_Y` on targets whose expectations under predictions `P` are known. It knows nothing of a variable that
/// predictions are [`Given`](crate::distribution::Given): kernels on targets are of [`Predictive::Unconditional`].
///
/// All of its matrices are within batches of consecutive rows, differentiable, in the dtype of the
/// predictions, and made without reading anything back.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel on the targets of predictions `{P}`",
    label = "no kernel on the targets of these predictions",
    note = "a `Kernel` by itself is one of classes; predictions over real vectors take a `TensorKernel`, as \
            `TensorKernel::wasserstein(RealKernel::gaussian(1.0))`"
)]
pub trait TargetKernel<P: Predictive>: Debug + Any {
    /// `k_Y(y_i, y'_j)`, `[batches, n, k]`, for `batches · n` and `batches · k` targets.
    fn between(&self, y: &P::Targets, other: &P::Targets, like: &P, batches: usize) -> Tensor<3>;

    /// `E_{Z∼P_i} k_Y(Z, y_j)`, `[batches, n, k]`, for `batches · n` predictions.
    fn expectation(&self, predictions: &P, y: &P::Targets, batches: usize) -> Tensor<3>;

    /// `E_{Z∼P_i, Z'∼Q_j} k_Y(Z, Z')` for independent `Z` and `Z'`, `[batches, n, k]`.
    fn double_expectation(&self, p: &P, q: &P, batches: usize) -> Tensor<3>;

    /// Half of a bound of `‖φ(y) − E_{Z∼P} φ(Z)‖²` over targets and predictions, in the Hilbert space of
    /// `k_Y`: `sup k_Y(y, y)` where `k_Y ≥ 0`.
    fn half_bound(&self) -> f64;

    /// Whether the parameters are valid for such predictions.
    ///
    /// # Errors
    ///
    /// The parameter that is not, or another number of classes.
    fn validate_for(&self, predictions: &P) -> Result<()>;

    /// For each of several sets of targets of the same predictions rows `Φ_i` whose inner products are
    /// those of the residuals of the samples,
    /// `Φ_i·Φ_j = k_Y(y_i, y_j) − E_{P_i} k_Y(Z, y_j) − E_{P_j} k_Y(Z, y_i) + E_{P_i, P_j} k_Y(Z, Z')` to
    /// rounding, `[n, r]`, differentiable. None by default, and where there are no such features of a
    /// moderate number `r`. On the host predictions may be read for their number.
    fn residual_features(&self, _predictions: &P, _sets: &[P::Targets]) -> Option<Vec<Tensor<2>>> {
        None
    }
}

/// What follows from the functions and from the type of any kernel.
impl<P: Predictive> dyn TargetKernel<P> {
    /// The kernel as one of those that have passes over pairs and moments of their own; None of others.
    pub(crate) fn known(&self, predictions: &P) -> Option<KnownKernel<'_>> {
        let kernel: &dyn Any = self;
        if let Some(kernel) = kernel.downcast_ref::<RealKernel>() {
            let length_scale = kernel.length_scale;
            let is_gaussian = kernel.profile == RealProfile::Gaussian;
            return is_gaussian.then_some(KnownKernel::Gaussian { length_scale });
        }
        let matrix = kernel.downcast_ref::<ClassMatrix>();
        if matrix.is_none() && !kernel.is::<White>() {
            return None;
        }
        let predictions: &Categorical = (predictions as &dyn Any).downcast_ref()?;
        Some(KnownKernel::Classes(OnClasses {
            probabilities: predictions.probabilities(),
            matrix,
        }))
    }

    /// The inner products of the residuals of samples and others, differentiable, `[batches, n, k]`:
    /// `k_Y(y_i, z_j) − E_{P_i} k_Y(Z, z_j) − E_{Q_j} k_Y(Z, y_i) + E_{P_i, Q_j} k_Y(Z, Z')`.
    pub fn residual_product(
        &self,
        (p, y): (&P, &P::Targets),
        (q, z): (&P, &P::Targets),
        batches: usize,
    ) -> Tensor<3> {
        self.between(y, z, p, batches)
            - self.expectation(p, z, batches)
            - self.expectation(q, y, batches).transpose()
            + self.double_expectation(p, q, batches)
    }

    /// The inner products of the residuals of samples with each other, as
    /// `residual_product`.
    pub fn residual_gram(&self, (p, y): (&P, &P::Targets), batches: usize) -> Tensor<3> {
        let single = self.expectation(p, y, batches); // E_{P_i} k_Y(Z, y_j)
        self.between(y, y, p, batches) - single.clone() - single.transpose()
            + self.double_expectation(p, p, batches)
    }
}

/// A kernel on targets of which more is known than its expectations.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each set of pairs"
)]
pub(crate) enum KnownKernel<'a> {
    /// One on classes, from whose probabilities the moments of the pair statistic follow.
    Classes(OnClasses<'a>),
    /// `exp(−‖y − y'‖₂²/2ℓ²)`, with which pairs of normal predictions have a [fused
    /// pass](crate::ops::normal_statistic).
    Gaussian {
        /// The length scale `ℓ`.
        length_scale: f64,
    },
}

/// Predictions of classes, and the matrix `M` of a kernel on them: `k_Y(y, y') = M[y, y']`.
#[derive(Debug)]
pub(crate) struct OnClasses<'a> {
    /// `p`, `[n, m]`.
    pub probabilities: Tensor<2>,
    /// `M`; none for `M = I`.
    pub matrix: Option<&'a ClassMatrix>,
}
