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

use crate::{
    distribution::{Geometry, in_batches},
    error::Result,
    ops::{Expectations, LocationScaleSamples},
};

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
    /// [`Given`](crate::distribution::Given): of location-scale predictions too, whose fused pass is of
    /// their own distances.
    fn features_given(&self, predictions: &P, sets: &[P::Targets]) -> Option<Vec<Tensor<2>>> {
        self.residual_features(predictions, sets)
    }

    /// The inner products of the residuals of the samples within batches of consecutive rows, to rounding,
    /// `[batches, n, n]`, differentiable with respect to the predictions, where they are had at less cost than
    /// by the expectations, from which others make them. Of mixtures the gradient with respect to weights is
    /// that for weights whose sum is 1.
    ///
    /// By default products of the [features](Self::residual_features), and None where there are none.
    fn residual_products(
        &self,
        predictions: &P,
        targets: &P::Targets,
        batches: usize,
    ) -> Option<Tensor<3>> {
        let features = self.residual_features(predictions, std::slice::from_ref(targets));
        products_of(features, batches)
    }

    /// The same between the samples of rows and those of columns, detached: `[n, k]`. None by default.
    fn residual_products_between(
        &self,
        _rows: (&P, &P::Targets),
        _columns: (&P, &P::Targets),
    ) -> Option<Tensor<2>> {
        None
    }

    /// Predictions and targets as the [fused pass](crate::ops::location_scale_statistic) takes them, with
    /// the expectations and the length scale of the kernel; None, as by default, where it has no such
    /// expectations.
    fn location_scale(
        &self,
        _predictions: &P,
        _targets: &P::Targets,
    ) -> Option<(LocationScaleSamples, Expectations, f64)> {
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

/// The inner products of the features of one set within batches, `[batches, n, n]`.
fn products_of(features: Option<Vec<Tensor<2>>>, batches: usize) -> Option<Tensor<3>> {
    let features = in_batches(features?.into_iter().next()?, batches);
    Some(features.clone().matmul(features.transpose()))
}
