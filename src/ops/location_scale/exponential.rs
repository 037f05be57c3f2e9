//! Divided differences of `e^{−t}` for vectors, as `kernel::expectation::exponential` has them: series of
//! positive terms where the nodes are close, differences that do not cancel where they are apart.

use std::f64::consts::LOG2_E;

use pulp::Simd;

use crate::ops::simd::wide::{Select, Wide};

/// Up to here nodes are close.
const CLOSE: f64 = 1.0;

/// `1/(k + 2)!`
const SERIES: [f64; 20] = {
    let mut series = [0.5; 20];
    let mut k = 1;
    while k < 20 {
        series[k] = series[k - 1] / (k + 2) as f64;
        k += 1;
    }
    series
};

/// The coefficients of the series that matter for a function of one node, or of three.
fn series<T>(nodes: usize) -> &'static [f64] {
    let end = match (size_of::<T>(), nodes) {
        (8, 1) => 17,
        (8, _) => 20,
        (_, 1) => 10,
        _ => 13,
    };
    &SERIES[..end]
}

/// Divided differences of `e^{−t}` at 0 and `x ≥ 0`, all positive.
#[derive(Clone, Copy)]
pub(super) struct Differences<W> {
    /// `e^{−x}`
    pub decay: W,
    /// `ψ = (1 − e^{−x})/x = −[0, x]`
    pub first: W,
    /// `[0, 0, x] = (1 − ψ)/x`
    pub twice_0: W,
    /// `[0, x, x] = (ψ − e^{−x})/x`
    pub twice_x: W,
}

impl<S: Simd, T: Select> Differences<Wide<S, T>> {
    #[inline(always)]
    pub fn new(x: Wide<S, T>) -> Self {
        let (zero, close) = (x.constant(0.0), x.constant(CLOSE));
        let decay = (x * -LOG2_E).exp2();
        let near = x.min(close);
        let mut sum = zero;
        for &coefficient in series::<T>(1).iter().rev() {
            sum = x.constant(coefficient) - sum * near;
        }
        let first = x.constant(1.0) - sum * near;
        let over = x.max(close).recip();
        let apart = (x.constant(1.0) - decay) * over;
        let [apart_0, apart_x] = [x.constant(1.0) - apart, apart - decay];
        Self {
            decay,
            first: close.where_less(x, apart, first),
            twice_0: close.where_less(x, apart_0 * over, sum),
            twice_x: close.where_less(x, apart_x * over, first - sum),
        }
    }

    /// `(u/x)·…`: `uψ` and `u²·[0, x, x]` for `u ≥ x`, of which no part overflows.
    #[inline(always)]
    pub fn scaled(self, u: Wide<S, T>, x: Wide<S, T>) -> [Wide<S, T>; 2] {
        let close = x.constant(CLOSE);
        let first = u * self.first;
        let apart = u / x.max(close) * (first - u * self.decay);
        [first, close.where_less(x, apart, u * u * self.twice_x)]
    }
}

/// The divided differences of `(e^s − 1 − s)/s²` at `z`, `(z, y)`, `(z, z)` and `(z, z, y)`, for
/// `0 ≤ z ≤ y ≤ 1`.
#[inline(always)]
pub(super) fn close_differences<S: Simd, T: Select>(
    z: Wide<S, T>,
    y: Wide<S, T>,
) -> [Wide<S, T>; 4] {
    let zero = z.constant(0.0);
    let (mut one, mut two, mut twice, mut three) = (zero, zero, zero, zero);
    for &coefficient in series::<T>(3).iter().rev() {
        three = three.mul_add(y, twice);
        twice = twice.mul_add(z, one);
        two = two.mul_add(y, one);
        one = one.mul_add(z, z.constant(coefficient));
    }
    [one, two, twice, three]
}
