//! The inner products of the residuals of mixtures of location-scale predictions, as one operation on the
//! host: sums over pairs of components in vectors of the processor ([`contraction`]), and its backward pass
//! ([`backend`]). A sample of draws is a mixture too, of points.

mod backend;
#[cfg_attr(not(any(feature = "flex", feature = "ndarray")), allow(dead_code))]
mod contraction;
#[cfg_attr(not(any(feature = "flex", feature = "ndarray")), allow(dead_code))]
mod host;

use burn::{backend::Dispatch, tensor::Tensor};

use self::backend::MixtureResiduals;
use super::{Expectations, LocationScaleSamples};
use crate::ops::is_on_host;

/// Mixtures of location-scale predictions, and a target for each.
#[derive(Debug, Clone)]
pub(crate) struct Mixtures {
    /// Locations and scales of all components, `[n·K, d]`, those of a mixture in sequence, and the targets,
    /// `[n, d]`.
    pub components: LocationScaleSamples,
    /// The weights, `[n, K]`.
    pub weights: Tensor<2>,
}

impl Mixtures {
    /// Whether there is the operation: in f32 and f64 in the memory of the host, where no gradient is asked
    /// for with respect to the targets.
    pub fn are_on_host(&self) -> bool {
        let LocationScaleSamples {
            locations,
            scales,
            targets,
        } = &self.components;
        let ([n, k], [_, d]) = (self.weights.dims(), locations.dims());
        let dtype = locations.dtype();
        is_on_host(locations)
            && [scales, targets, &self.weights]
                .iter()
                .all(|x| x.dtype() == dtype)
            && [locations, scales].iter().all(|x| x.dims() == [n * k, d])
            && targets.dims() == [n, d]
            && n * k * d > 0
            && !targets.is_tracked()
    }
}

/// A kernel on targets, by the expectations and the length scale.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnTargets {
    pub expectations: Expectations,
    pub length_scale: f64,
}

/// `R_ij = k_Y(y_i, y_j) − E k_Y(Y_i, y_j) − E k_Y(y_i, Y_j) + E k_Y(Y_i, Y_j)` with independent `Y_i ∼ P_i`
/// and `Y_j ∼ P_j` of mixtures whose weights sum to 1, within batches: `[batches, n, n]`.
///
/// Differentiable with respect to locations, scales and weights; with respect to these up to a constant for
/// each mixture, which is of no consequence for weights that sum to 1, such as a softmax. Numbers that are
/// not finite make the products of their own mixture NaN.
///
/// Cost: `(n·K)²·d` coordinates of pairs of components, and half as many with their slopes in the backward
/// pass; memory `n²·(K + 1)`.
///
/// # Panics
///
/// If they are not on the host, or the length scale is not a positive finite number.
pub(crate) fn mixture_residuals(
    mixtures: Mixtures,
    on_targets: OnTargets,
    batches: usize,
) -> Tensor<3> {
    assert!(
        mixtures.are_on_host(),
        "an operation on mixtures of the host"
    );
    let Mixtures {
        components,
        weights,
    } = mixtures;
    let (residuals, _) = <Dispatch as MixtureResiduals>::mixture_residuals(
        components.locations.into_dispatch(),
        components.scales.into_dispatch(),
        weights.into_dispatch(),
        components.targets.into_dispatch(),
        on_targets,
        batches,
    );
    Tensor::from_dispatch(residuals)
}

/// `R_ij` between mixtures and others, detached: `[n, m]`.
///
/// # Panics
///
/// As [`mixture_residuals`].
pub(crate) fn mixture_matrix(
    mixtures: &Mixtures,
    others: &Mixtures,
    on_targets: OnTargets,
) -> Tensor<2> {
    assert!(
        mixtures.are_on_host() && others.are_on_host(),
        "an operation on mixtures of the host"
    );
    host::matrix(mixtures, others, on_targets)
}
