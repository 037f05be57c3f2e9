//! What is computed of one pair.

use cubecl::prelude::*;

use super::curve::{Compiled, curve};

/// The constants that a kernel is compiled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Specialisation {
    /// The Euclidean distance rather than a sum of magnitudes.
    pub(super) euclidean: bool,
    pub(super) profile: Compiled,
    /// Whether samples pair with themselves too.
    pub(super) diagonal: bool,
    /// Whether the gradient is summed too.
    pub(super) gradient: bool,
}

/// A pair's part in the sums.
#[derive(CubeType)]
pub(super) struct PairTerms<F: Float> {
    /// `k`.
    pub(super) kernel: F,
    /// `h = k δ_i·δ_j`.
    pub(super) value: F,
    /// `ν ∂h/∂ν`, with the bandwidth `ν`.
    pub(super) stretch: F,
    /// `∂h/∂x_i` over [`direction`].
    pub(super) slope: F,
}

/// A coordinate's part in the separation.
#[cube]
pub(super) fn part<F: Float>(difference: F, #[comptime] euclidean: bool) -> F {
    if comptime!(euclidean) {
        difference * difference
    } else {
        difference.abs()
    }
}

/// The derivative with respect to a coordinate of the first point: of a sum of magnitudes, the sign of the
/// difference, and of half a sum of squares the difference.
#[cube]
pub(super) fn direction<F: Float>(difference: F, #[comptime] euclidean: bool) -> F {
    if comptime!(euclidean) {
        difference
    } else {
        let zero = F::new(0.0);
        let up = select(difference > zero, F::new(1.0), zero);
        select(difference < zero, F::new(-1.0), up)
    }
}

/// The pair from the sum of [`part`]s and `δ_i·δ_j`; `rate` is the scale of the separation over the bandwidth.
#[cube]
pub(super) fn pair<F: Float>(
    parts: F,
    product: F,
    rate: F,
    #[comptime] form: Specialisation,
) -> PairTerms<F> {
    let separation = if comptime!(form.euclidean) {
        parts * rate * rate
    } else {
        parts * rate
    };
    let (kernel, slope) = curve::<F>(separation, form.profile, form.euclidean);
    let slope = slope * product;
    PairTerms::<F> {
        kernel,
        value: kernel * product,
        stretch: -slope * separation,
        slope: if comptime!(form.euclidean) {
            slope * rate * rate
        } else {
            slope * rate
        },
    }
}
