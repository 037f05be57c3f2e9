use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, LOG2_E};

use pulp::Simd;

use super::{
    erfcx::{ErfcxPair, erfcx},
    exponential::Differences,
    term::{Expectation, NUMBERS, Own, Term, laplace_scale, most},
};
use crate::ops::simd::wide::{Select, Wide};

/// The expectation of `exp(−Δ²/2ℓ²)` under Laplace predictions, `√(π/2) U(r)` for one of scale `ℓ/r`, and
/// `√(π/2) rs/(r + s) [G(r) − r·G[r, s]]` for two of scales `ℓ/r` and `ℓ/s`, where
/// `U(r) = r·G(r)`, `G(r) = E exp(−r|t + Z|)` for a standard normal `Z` and `t = |Δ|/ℓ`.
///
/// As in `kernel::expectation::smoothed`, with `z± = (r ± t)/√2` and `X = erfcx`,
/// `G = ½e^{−t²/2} [X(z₊) + X(z₋)]`, where for `z₋ < 0` it is `X(z₋) = 2e^{z₋²} − X(−z₋)`. Derivatives with
/// respect to `ℓ/r` are `−r²√(π/2) U'(r)` and `√(π/2) (rs)²/(r + s) [U[r, r, s] − U[r, s]/(r + s)]`, in which
/// `U = ½e^{−t²/2} [√2(Y(z₊) + Y(z₋)) + t(X(z₋) − X(z₊))]` with `Y = zX(z)`: terms of `r` do not cancel. All
/// differences `f[r, s] = (f(r) − f(s))/(r − s)` are those of a polynomial and of an exponential. The largest
/// exponential that all terms have is apart.
#[derive(Clone, Copy)]
pub(super) struct LaplaceGaussian {
    /// `ℓ`
    pub length: f64,
}

/// The exponent of `e^{z² − t²/2}` for the `z₋` of a rate.
#[inline(always)]
fn exponent<S: Simd, T: Select>(rate: Wide<S, T>, t: Wide<S, T>) -> Wide<S, T> {
    rate * (rate * 0.5 - t)
}

impl Expectation for LaplaceGaussian {
    const SCALE_FACTOR: f64 = 2.0;
    const APART: bool = true;

    /// `r`, and a `t` from which on the expectation is 0.
    fn prepare<T: Select>(self, scale: f64) -> [f64; NUMBERS - 3] {
        let (scale, most) = (laplace_scale::<T>(scale, self.length), most::<T>());
        let end = 0.5 / scale + most * scale + (2.0 * most).sqrt();
        [scale.recip(), end, 0.0]
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
        let [r, end, _] = own.prepared;
        let (zero, one) = (r.constant(0.0), r.constant(1.0));
        let t = (delta.abs() * self.length.recip()).min(end);
        let (upper, lower) = ((r + t) * FRAC_1_SQRT_2, (r - t) * FRAC_1_SQRT_2);
        let below = lower.min(zero);
        let half = (below * below * -LOG2_E).exp2() * 0.5;
        let whole = lower.where_less(zero, one, zero); // e^{z²} for z₋ < 0
        let sign = one - whole * 2.0;
        let [x, decrease, slope] = erfcx(upper);
        let [x2, decrease2, slope2] = erfcx(lower.abs());

        let smooth = half * sign.mul_add(x2, x);
        let value = smooth + whole; // G
        let to_t = half * (decrease2 - decrease) * FRAC_1_SQRT_2 - t * smooth - r * whole;
        let to_r = half * sign.mul_add(slope2, slope + t * (decrease - decrease2) * FRAC_1_SQRT_2)
            + whole * (r * (r - t) + 1.0);
        let factor = r * FRAC_PI_2.sqrt();
        let slope = factor * self.length.recip();
        let to_location = slope * to_t;
        let exponent = lower.where_less(zero, exponent(r, t), t * t * -0.5);
        Term {
            exponent: exponent * LOG2_E,
            factor: factor * value,
            to_location: delta.where_less(zero, -to_location, to_location),
            to_scales: [-(slope * r * to_r)],
        }
    }

    #[inline(always)]
    fn of_two<S: Simd, T: Select>(
        self,
        own: Own<Wide<S, T>>,
        other: Own<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Term<Wide<S, T>, 2> {
        let ([r, end, _], [s, end2, _]) = (own.prepared, other.prepared);
        let zero = r.constant(0.0);
        let t = (delta.abs() * self.length.recip()).min(end.max(end2));
        let short = t * FRAC_1_SQRT_2;
        let (lower, lower2) = ((r - t) * FRAC_1_SQRT_2, (s - t) * FRAC_1_SQRT_2);
        let below = lower.min(lower2).min(zero);
        let half = (below * below * -LOG2_E).exp2() * 0.5;

        let part = Lower::new([r, s], t, [lower, lower2], half);
        let upper = ErfcxPair::new((r + t) * FRAC_1_SQRT_2, (s + t) * FRAC_1_SQRT_2);
        let of_upper = half * (upper.y[0] - short * upper.x[0]);
        let first = of_upper + part.u[0]; // U[r, s]
        let second = half * (upper.y[1] - short * upper.x[1]) * FRAC_1_SQRT_2 + part.u[1];
        let second2 = half * (upper.y[2] - short * upper.x[2]) * FRAC_1_SQRT_2 + part.u[2];

        let smooth = half * upper.values[0] + part.smooth;
        let slope = half * upper.x[0] * FRAC_1_SQRT_2 + part.slope; // G[r, s]
        let value = smooth + part.whole - r * slope;
        let to_t = half * (part.decrease - upper.decreases[0]) * FRAC_1_SQRT_2
            - t * smooth
            - r * (part.whole + of_upper - part.u[0]); // ∂G[r, s]/∂t = of_upper − part.u[0]
        let over = (r + s).recip();
        let factor = r * s * over * FRAC_PI_2.sqrt();
        let unit = factor * self.length.recip();
        let (to_location, unit) = (unit * to_t, unit * r * s);
        let common = first * over;
        let least = r.min(s);
        let exponent = below.where_less(zero, exponent(least, t), t * t * -0.5);
        Term {
            exponent: exponent * LOG2_E,
            factor: factor * value,
            to_location: delta.where_less(zero, -to_location, to_location),
            to_scales: [unit * (second - common), unit * (second2 - common)],
        }
    }
}

/// What `z₋` contributes to the expectation under two predictions.
struct Lower<W> {
    /// To `G(r)`, without `whole`.
    smooth: W,
    /// `e^{z²}` where it is part of `G(r)`.
    whole: W,
    /// `−X'` at `±z₋` of `r`.
    decrease: W,
    /// To `G[r, s]`.
    slope: W,
    /// To `U[r, s]`, `U[r, r, s]` and `U[r, s, s]`.
    u: [W; 3],
}

impl<S: Simd, T: Select> Lower<Wide<S, T>> {
    /// For the rates `r` and `s`. Three cases: `X` as it is, its mirror image `2e^{z²} − X(−z)` for both where
    /// `z₋(r) + z₋(s) < 0`, and where the two are on the two sides of 0 and apart, differences as they stand.
    #[inline(always)]
    fn new(
        [r, s]: [Wide<S, T>; 2],
        t: Wide<S, T>,
        [z, z2]: [Wide<S, T>; 2],
        half: Wide<S, T>,
    ) -> Self {
        let (zero, one) = (t.constant(0.0), t.constant(1.0));
        let sum = z + z2;
        let sign = sum.where_less(zero, -one, one);
        let side = (sign * z).min(sign * z2);
        let bound = t.constant(-0.5);
        /// What to take where they are apart, and elsewhere.
        macro_rules! apart_or {
            ($apart:expr, $near:expr) => {
                side.where_less(bound, $apart, $near)
            };
        }
        let at = apart_or!(z.abs(), sign * z);
        let at2 = apart_or!(z2.abs(), sign * z2);
        let of = ErfcxPair::new(at, at2);

        // e^{z²} of both over the larger
        let middle = (r + s) * 0.5 - t;
        let differences = Differences::new((r - s).abs() * middle.abs());
        let mirrored = sum.where_less(zero, one, zero);
        let near = mirrored * r.where_less(s, one, differences.decay);
        let near2 = mirrored * r.where_less(s, differences.decay, one);
        let whole = apart_or!(z.where_less(zero, one, zero), near);
        let whole2 = apart_or!(z2.where_less(zero, one, zero), near2);

        let short = t * FRAC_1_SQRT_2;
        let [smooth, smooth2] = [of.values[0] * half, of.values[1] * half];
        let smooth = apart_or!(z.where_less(zero, -smooth, smooth), sign * smooth);
        let smooth2 = z2.where_less(zero, -smooth2, smooth2); // where apart

        // differences as they stand
        let over = (r - s).recip();
        let (b, b2) = (smooth + whole, smooth2 + whole2);
        let to_b = whole * (r - t) - half * of.decreases[0] * FRAC_1_SQRT_2;
        let to_b2 = whole2 * (s - t) - half * of.decreases[1] * FRAC_1_SQRT_2;
        let slope = (b - b2) * over;
        let apart = [
            r.mul_add(slope, b2),
            r.mul_add((to_b - slope) * over, slope),
            s.mul_add((slope - to_b2) * over, slope),
        ];

        // those of polynomial and exponential
        let first = mirrored * differences.first * middle;
        let bend = mirrored * middle;
        let half_first = mirrored * differences.first * 0.5;
        let largest = r.where_less(s, differences.twice_0, differences.twice_x);
        let least = r.where_less(s, differences.twice_x, differences.twice_0);
        let second = (bend * (r - t)).mul_add(largest, half_first);
        let second2 = (bend * (s - t)).mul_add(least, half_first);
        let near_slope = half.mul_add(of.x[0] * FRAC_1_SQRT_2, first);
        let near = [
            half * sign.mul_add(of.y[0], short * of.x[0]) + r.mul_add(first, whole2),
            half * (sign * short).mul_add(of.x[1], of.y[1]) * FRAC_1_SQRT_2
                + r.mul_add(second, first),
            half * (sign * short).mul_add(of.x[2], of.y[2]) * FRAC_1_SQRT_2
                + s.mul_add(second2, first),
        ];
        Self {
            smooth,
            whole,
            decrease: of.decreases[0],
            slope: apart_or!(slope, near_slope),
            u: [
                apart_or!(apart[0], near[0]),
                apart_or!(apart[1], near[1]),
                apart_or!(apart[2], near[2]),
            ],
        }
    }
}
