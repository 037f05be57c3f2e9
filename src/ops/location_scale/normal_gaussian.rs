use std::f64::consts::LOG2_E;

use pulp::Simd;

use super::term::{Expectation, NUMBERS, Own, Term};
use crate::ops::simd::wide::{Select, Wide};

/// The expectation of `exp(−Δ²/2ℓ²)` under normal predictions: `(p ℓ²)^½ exp(−½pΔ²)` with
/// `p = 1/(ℓ² + v)` and the variance `v` of one or the sum of the variances of two.
#[derive(Clone, Copy)]
pub(super) struct NormalGaussian {
    /// `ℓ`
    pub length: f64,
}

impl Expectation for NormalGaussian {
    const SCALE_FACTOR: f64 = 1.0;

    /// `p`, `½ log₂ pℓ²` and `σp`.
    fn prepare<T: Select>(self, scale: f64) -> [f64; NUMBERS - 3] {
        let square = self.length * self.length;
        let precision = (square + scale * scale).recip();
        [
            precision,
            0.5 * (precision * square).log2(),
            scale * precision,
        ]
    }

    #[inline(always)]
    fn kernel<S: Simd, T: Select>(self, delta: Wide<S, T>) -> Wide<S, T> {
        delta * delta * (-0.5 * LOG2_E / (self.length * self.length))
    }

    #[inline(always)]
    fn of_one<S: Simd, T: Select>(
        self,
        own: Own<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Term<Wide<S, T>, 1> {
        let [precision, peak, scaled] = own.prepared;
        let slope = precision * delta;
        let square = slope * delta;
        Term {
            exponent: square.mul_add(square.constant(-0.5 * LOG2_E), peak),
            factor: square.constant(1.0),
            to_location: -slope,
            to_scales: [scaled.mul_add(square, -scaled)],
        }
    }

    #[inline(always)]
    fn of_two<S: Simd, T: Select>(
        self,
        own: Own<Wide<S, T>>,
        other: Own<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Term<Wide<S, T>, 2> {
        let square = delta.constant(self.length * self.length);
        let spread = own.scale.mul_add(own.scale, square);
        let precision = other.scale.mul_add(other.scale, spread).recip();
        let factor = precision.sqrt() * self.length;
        let slope = precision * delta;
        let square = slope * delta;
        let to_scale = factor * precision * (square - 1.0);
        Term {
            exponent: square * (-0.5 * LOG2_E),
            factor,
            to_location: -(slope * factor),
            to_scales: [own.scale * to_scale, other.scale * to_scale],
        }
    }
}
