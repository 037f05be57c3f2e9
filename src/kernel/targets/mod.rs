//! Kernels on targets, with their expectations under predictions.

mod class;
mod features;
mod given;
mod mixture;
mod real;
mod samples;

use std::fmt::Debug;

use burn::tensor::Tensor;

pub use class::{ClassMatrix, White};
pub use real::{RealKernel, RealProfile};

use crate::{distribution::Geometry, error::Result, ops::NormalSamples};

/// A kernel `k_Y` on targets whose expectations under predictions `P` are known.
///
/// All of its matrices are within batches of consecutive rows, differentiable, in the dtype of the
/// predictions, and made without reading anything back.
pub trait TargetKernel<P: Geometry>: Clone + Debug {
    /// `k_Y(y_i, y'_j)`, `[batches, n, k]`, for `batches · n` and `batches · k` targets.
    fn between(&self, y: &P::Targets, other: &P::Targets, like: &P, batches: usize) -> Tensor<3>;

    /// `E_{Z∼P_i} k_Y(Z, y_j)`, `[batches, n, k]`, for `batches · n` predictions.
    fn expectation(&self, predictions: &P, y: &P::Targets, batches: usize) -> Tensor<3>;

    /// `E_{Z∼P_i, Z'∼Q_j} k_Y(Z, Z')` for independent `Z` and `Z'`, `[batches, n, k]`.
    fn double_expectation(&self, p: &P, q: &P, batches: usize) -> Tensor<3>;

    /// For each of several sets of targets of the same predictions rows `Φ_i` whose inner products are
    /// those of the residuals of the samples,
    /// `Φ_i·Φ_j = k_Y(y_i, y_j) − E_{P_i} k_Y(Z, y_j) − E_{P_j} k_Y(Z, y_i) + E_{P_i, P_j} k_Y(Z, Z')` to
    /// rounding, `[n, r]`, differentiable. None by default, and where there are no such features of a
    /// moderate number `r`. On the host predictions may be read for their number.
    fn residual_features(&self, _predictions: &P, _sets: &[P::Targets]) -> Option<Vec<Tensor<2>>> {
        None
    }

    /// The same where the kernel compares another variable than the predictions, see
    /// [`Given`](crate::distribution::Given): of normal predictions too, whose fused pass is of their own
    /// distances.
    fn features_given(&self, predictions: &P, sets: &[P::Targets]) -> Option<Vec<Tensor<2>>> {
        self.residual_features(predictions, sets)
    }

    /// The expectations at points of the line under predictions of one coordinate, `[r, 1]` to `[n, r]`, of
    /// which features are made; by [`expectation`](Self::expectation) as by default, or at less cost.
    fn expectation_on_line(&self, predictions: &P, points: &P::Targets) -> Tensor<2> {
        self.expectation(predictions, points, 1).squeeze_dim(0)
    }

    /// Predictions and targets as the [fused pass](crate::ops::normal_statistic) takes them, with the length
    /// scale of the kernel; None, as by default, where there is none.
    fn as_normal(&self, _predictions: &P, _targets: &P::Targets) -> Option<(NormalSamples, f64)> {
        None
    }

    /// Half of a bound of `‖φ(y) − E_{Z∼P} φ(Z)‖²` over targets and predictions, in the Hilbert space of
    /// `k_Y`: `sup k_Y(y, y)` where `k_Y ≥ 0`.
    fn half_bound(&self) -> f64;

    /// Whether the parameters are valid for such predictions.
    ///
    /// # Errors
    ///
    /// The parameter that is not, or another number of classes.
    fn validate_for(&self, predictions: &P) -> Result<()>;
}
