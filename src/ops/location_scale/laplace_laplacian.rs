use std::f64::consts::LOG2_E;

use pulp::Simd;

use super::{
    exponential::{Differences, close_differences},
    term::{Expectation, NUMBERS, Own, Term, laplace_scale, most},
};
use crate::ops::simd::wide::{Select, Wide};

/// The expectation of `exp(−|Δ|/ℓ)` under Laplace predictions: up to a factor the density at `Δ` of the
/// sum of independent Laplace variables, of the scale `ℓ` of the kernel and those of the predictions.
///
/// With the scales `1`, `β/ℓ`, `β'/ℓ` in the order `σ₁ ≥ σ₂ ≥ σ₃`, `t_k = |Δ|/ℓσ_k`, the ratios
/// `λ = σ₂/σ₁`, `μ = σ₃/σ₁` and `θ = σ₃/(σ₂ + σ₃)`, and the divided differences `ψ` and `χ` of `e^{−t}` at
/// `0`, `x = t₂ − t₁` and `y = t₃ − t₁`, it is `N B` with
/// `N = σ₁e^{−t₁}/((σ₁ + σ₂)(σ₁ + σ₃))`, `B = (1 + λP)(1 + λθ) + μS`, `P = t₂ψ(x)`,
/// `S = θ(1 + λ)·t₂t₃χ(x, y)`: all terms are positive. One prediction has `σ₃ = 0`. Derivatives are those
/// of this formula, ordered so that terms of `1/σ` do not cancel.
#[derive(Clone, Copy)]
pub(super) struct LaplaceLaplacian {
    /// `ℓ`
    pub length: f64,
}

impl LaplaceLaplacian {
    /// `|Δ|/ℓ`, up to where the expectation has long been 0.
    #[inline(always)]
    fn distance<S: Simd, T: Select>(self, delta: Wide<S, T>, largest: Wide<S, T>) -> Wide<S, T> {
        (delta.abs() * self.length.recip()).min(largest * most::<T>())
    }
}

impl Expectation for LaplaceLaplacian {
    const SCALE_FACTOR: f64 = 2.0;
    const APART: bool = true;

    /// `σ = β/ℓ` away from 0, `1/σ` and `1/(1 + σ)`.
    fn prepare<T: Select>(self, scale: f64) -> [f64; NUMBERS - 3] {
        let scale = laplace_scale::<T>(scale, self.length);
        [scale, scale.recip(), (1.0 + scale).recip()]
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
        let [scale, rate, norm] = own.prepared;
        let one = scale.constant(1.0);
        let (largest, least) = (scale.max(one), scale.min(one));
        let over = rate.min(one); // 1/σ₁
        let t = self.distance(delta, largest);
        let (t1, t2) = (t * over, t * rate.max(one));
        let ratio = least * over; // λ
        let x = (largest - least) * over * t2;
        let [first, second] = Differences::new(x).scaled(t2, x);

        let value = ratio.mul_add(first, one); // B
        let to_least = value * (largest * norm) - second; // −∂/∂σ₂ over N/σ₁
        let to_largest = value - t1 * first - ratio * to_least;
        let slope = norm * over * -self.length.recip();
        let to_location = slope * first;
        Term {
            exponent: t1 * -LOG2_E,
            factor: norm * value,
            to_location: delta.where_less(one * 0.0, -to_location, to_location),
            to_scales: [slope * scale.where_less(one, to_least, to_largest)],
        }
    }

    #[inline(always)]
    fn of_two<S: Simd, T: Select>(
        self,
        own: Own<Wide<S, T>>,
        other: Own<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Term<Wide<S, T>, 2> {
        let ([scale, rate, _], [other, other_rate, _]) = (own.prepared, other.prepared);
        let one = scale.constant(1.0);
        let (high, low) = (scale.max(other), scale.min(other));
        let (s1, s2, s3) = (high.max(one), low.max(high.min(one)), low.min(one));
        let (high_rate, low_rate) = (rate.max(other_rate), rate.min(other_rate));
        let (r1, r3) = (low_rate.min(one), high_rate.max(one));
        let r2 = low_rate.max(high_rate.min(one));
        let t = self.distance(delta, s1);
        let (t1, t2, t3) = (t * r1, t * r2, t * r3);
        let (x, y, z) = (
            (s1 - s2) * r1 * t2,
            (s1 - s3) * r1 * t3,
            (s2 - s3) * r2 * t3,
        );
        let between = Differences::new(x);
        let [first, second] = between.scaled(t2, x); // P, t₂²[0, x, x]
        let [third, third_x, third_y] = {
            // t₂t₃·[0, x, y], t₂²t₃·[0, x, x, y] and t₂t₃²·[0, x, y, y], up to signs
            let upper = Differences::new(z);
            let bounded = t2.min(one * (2.0 * most::<T>())); // beyond, e^{−x} is 0
            let decay = bounded * between.decay;
            let over = t3 / y;
            let apart = (first - decay * upper.first) * over;
            let apart_x = (second - bounded * decay * upper.twice_0) * over;
            let apart_y = (apart - decay * t3 * upper.twice_x) * over;

            let [q, q_zy, q_zz, q_zzy] = close_differences(z, y);
            let factor = t2 * t3 * between.decay * upper.decay;
            let close = factor * y.mul_add(q_zy, q);
            let close_x = t2 * factor * y.mul_add(q_zzy, q_zz);
            let close_y = t3 * factor * q_zy;
            [
                one.where_less(y, apart, close),
                one.where_less(y, apart_x, close_x),
                one.where_less(y, apart_y, close_y),
            ]
        };

        let (ratio, ratio3, ratio32) = (s2 * r1, s3 * r1, s3 * r2); // λ, μ, σ₃/σ₂
        let share = s3 / (s2 + s3); // θ
        let more = ratio + 1.0;
        let both = (more * (ratio3 + 1.0)).recip();
        let [over, over3] = [both * (ratio3 + 1.0), both * more]; // 1/(1 + λ), 1/(1 + μ)
        let norm = both * r1; // N
        let inner = ratio.mul_add(first, one); // 1 + λP
        let outer = ratio.mul_add(share, one); // 1 + λθ
        let part = share * more * third; // S
        let value = inner.mul_add(outer, ratio3 * part);
        let to_t = (one - share).mul_add(first, part);
        // −∂/∂σ₂, −∂/∂σ₃ and −∂/∂σ₁ over N/σ₁
        let through = (more + 1.0) * third - more * share.mul_add(third, third_x);
        let to_2 =
            value * over - share * share * inner - outer * second + share * ratio32 * through;
        let to_3 = value * over3
            - (one - share) * (one - share).mul_add(inner, part)
            - share * more * third_y;
        let to_1 = value - t1 * to_t - ratio * to_2 - ratio3 * to_3;
        let slope = norm * r1 * -self.length.recip();
        let to_high = slope * high.where_less(one, to_2, to_1);
        let to_low = slope * one.where_less(low, to_2, to_3);
        let to_location = slope * to_t;
        Term {
            exponent: t1 * -LOG2_E,
            factor: norm * value,
            to_location: delta.where_less(one * 0.0, -to_location, to_location),
            to_scales: [
                scale.where_less(other, to_low, to_high),
                scale.where_less(other, to_high, to_low),
            ],
        }
    }
}
