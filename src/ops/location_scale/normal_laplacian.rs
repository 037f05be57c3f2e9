use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, LOG2_E};

use pulp::Simd;

use super::{
    erfcx::erfcx,
    term::{Expectation, NUMBERS, Own, Term},
};
use crate::ops::simd::wide::{Select, Wide};

/// The expectation of `exp(−|Δ|/ℓ)` under normal predictions: `F = E exp(−|u + rZ|)` for a standard
/// normal `Z`, with `u = |Δ|/ℓ` and the standard deviation `ℓr` of the noise.
#[derive(Clone, Copy)]
pub(super) struct NormalLaplacian {
    /// `ℓ`
    pub length: f64,
}

impl NormalLaplacian {
    /// `F`, with the derivative with respect to `Δ`, and that with respect to `r`. As in
    /// `kernel::expectation::smoothed`, with `t = u/r`, `z± = (r ± t)/√2` and `X = erfcx`,
    /// `F = (A + B)/2` where `A = e^{−t²/2} X(z₊)`, and `B = e^{−t²/2} X(z₋)` for `z₋ ≥ 0`, else
    /// `2e^{r²/2 − u} − e^{−t²/2} X(−z₋)`. The exponential that all terms have is apart.
    #[inline(always)]
    fn term<S: Simd, T: Select>(
        self,
        delta: Wide<S, T>,
        r: Wide<S, T>,
        over_r: Wide<S, T>,
    ) -> Term<Wide<S, T>, 1> {
        let zero = r.constant(0.0);
        let u = delta.abs() * self.length.recip();
        let t = u * over_r;
        let (upper, lower) = ((r + t) * FRAC_1_SQRT_2, (r - t) * FRAC_1_SQRT_2);
        let below = lower.min(zero);
        let bell = (below * below * -LOG2_E).exp2(); // over the exponential that is apart
        let [of_upper, upper_slope, _] = erfcx(upper);
        let [of_lower, lower_slope, _] = erfcx(lower.abs());
        let a = bell * of_upper;
        let mirrored = bell * of_lower;
        let b = lower.where_less(zero, zero + 2.0 - mirrored, mirrored);
        let exponent = lower.where_less(zero, r.mul_add(r * 0.5, -u), t * t * -0.5);
        let value = (a + b) * 0.5;
        let to_u = (a - b) * 0.5;
        let to_r = r.mul_add(value, bell * -FRAC_2_PI.sqrt());
        // for large z₋ these cancel
        let eighth = 8f64.sqrt().recip();
        let large_u = ((lower_slope - upper_slope) * eighth - t * value) * over_r;
        let large_r = -((lower_slope + upper_slope) * eighth + t * large_u);
        let one = zero + 1.0;
        let to_u = one.where_less(lower, large_u, to_u) * self.length.recip();
        Term {
            exponent: exponent * LOG2_E,
            factor: value,
            to_location: delta.where_less(zero, -to_u, to_u),
            to_scales: [one.where_less(lower, large_r, to_r)],
        }
    }
}

impl Expectation for NormalLaplacian {
    const SCALE_FACTOR: f64 = 1.0;

    /// `r` away from 0, and `1/r`.
    fn prepare<T: Select>(self, scale: f64) -> [f64; NUMBERS - 3] {
        let least = T::MIN_POSITIVE.sqrt().sqrt();
        let r = (scale.abs() / self.length).max(least);
        [r, r.recip(), 0.0]
    }

    #[inline(always)]
    fn kernel<S: Simd, T: Select>(self, delta: Wide<S, T>) -> Wide<S, T> {
        delta.abs() * (-LOG2_E / self.length)
    }

    #[inline(always)]
    fn of_one<S: Simd, T: Select>(
        self,
        own: Own<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Term<Wide<S, T>, 1> {
        let [r, over_r, _] = own.prepared;
        let term = self.term(delta, r, over_r);
        Term {
            to_scales: [term.to_scales[0] * self.length.recip()],
            ..term
        }
    }

    #[inline(always)]
    fn of_two<S: Simd, T: Select>(
        self,
        own: Own<Wide<S, T>>,
        other: Own<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Term<Wide<S, T>, 2> {
        let ([first, _, _], [second, _, _]) = (own.prepared, other.prepared);
        let r = first.mul_add(first, second * second).sqrt();
        let over_r = r.recip();
        let term = self.term(delta, r, over_r);
        let slope = term.to_scales[0] * over_r * self.length.recip();
        Term {
            exponent: term.exponent,
            factor: term.factor,
            to_location: term.to_location,
            to_scales: [slope * first, slope * second],
        }
    }
}
