//! What is computed of one pair.

use cubecl::prelude::*;

/// What a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::ops) struct Form {
    /// The Euclidean distance rather than a sum of magnitudes.
    pub(in crate::ops) euclidean: bool,
    /// The Gaussian profile rather than the exponential one.
    pub(in crate::ops) gaussian: bool,
    /// Whether samples pair with themselves too.
    pub(in crate::ops) diagonal: bool,
    /// Whether the gradient is summed too.
    pub(in crate::ops) gradient: bool,
}

/// A pair's part in the sums.
#[derive(CubeType)]
pub(super) struct Pair<F: Float> {
    /// `k(r)`.
    pub(super) kernel: F,
    /// `h = k(r) δ_i·δ_j`.
    pub(super) value: F,
    /// `ν ∂h/∂ν`, with the bandwidth `ν`: `h r`, or `h r²` for the Gaussian profile.
    pub(super) stretch: F,
    /// `∂h/∂x_i` over [`direction`].
    pub(super) slope: F,
}

/// A coordinate's part in the separation.
#[cube]
pub(in crate::ops) fn part<F: Float>(difference: F, #[comptime] form: Form) -> F {
    if comptime!(form.euclidean) {
        difference * difference
    } else {
        difference.abs()
    }
}

/// The derivative of the separation with respect to a coordinate of the first point: the sign of
/// the difference for L1, and for the Euclidean separation the difference, over the separation.
#[cube]
pub(super) fn direction<F: Float>(difference: F, #[comptime] form: Form) -> F {
    if comptime!(form.euclidean) {
        difference
    } else {
        let zero = F::new(0.0);
        let up = select(difference > zero, F::new(1.0), zero);
        select(difference < zero, F::new(-1.0), up)
    }
}

/// The pair from the sum of [`part`]s and `δ_i·δ_j`; `rate` is the scale of the separation over the bandwidth.
#[cube]
pub(super) fn pair<F: Float>(parts: F, product: F, rate: F, #[comptime] form: Form) -> Pair<F> {
    let distance = if comptime!(form.euclidean) {
        parts.sqrt()
    } else {
        parts
    };
    let r = distance * rate;
    let (kernel, power) = if comptime!(form.gaussian) {
        ((r * r * F::new(-0.5)).exp(), r * r)
    } else {
        ((-r).exp(), r)
    };
    let value = kernel * product;
    // −∂h/∂r
    let outer = if comptime!(form.gaussian) {
        value * r
    } else {
        value
    };
    let slope = if comptime!(form.euclidean) {
        let apart = distance > F::new(0.0);
        let divisor = select(apart, distance, F::new(1.0));
        select(apart, -outer * rate / divisor, F::new(0.0))
    } else {
        -outer * rate
    };
    Pair::<F> {
        kernel,
        value,
        stretch: value * power,
        slope,
    }
}
