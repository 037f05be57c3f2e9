use std::f64::consts::{FRAC_1_SQRT_2, PI};

use burn::tensor::Tensor;

use super::ordered;
use crate::ops::{
    Formula, Number, elementwise, erfcx_difference, erfcx_with_slopes, exponential_difference,
};

/// `F(r, u) = E exp(−|u + rZ|)` for a standard normal `Z`, `r > 0` and `u ≥ 0`, differentiable.
pub(super) fn smoothed_exponential<const D: usize>(r: Tensor<D>, u: Tensor<D>) -> Tensor<D> {
    elementwise(Smoothed, [&r, &u])
}

/// `(G(s) − G(r))/(r − s) > 0` for `G(r) = E exp(−r|t + Z|)` and `t ≥ 0`, differentiable; `−G'(r)`
/// for `r = s`. The values `G(r)` and `G(s)` are given.
///
/// With `z± = (r ± t)/√2`, `G = e^{−t²/2} [X(z₊) + X(z₋)]/2`, so that this is a divided difference of `X = erfcx`
/// for each sign. If `z₋(r) + z₋(s) < 0`, it is that of `X(z₋) = 2e^{z₋²} − X(−z₋)`. Only where
/// `z₋(r)` and `z₋(s)` are on the two sides of 0 and apart, it is computed as it stands.
pub(super) fn smoothed_exponential_difference<const D: usize>(
    [r, s]: [Tensor<D>; 2],
    t: Tensor<D>,
    values: [Tensor<D>; 2],
) -> Tensor<D> {
    let upper = [&r, &s].map(|r| (r.clone() + t.clone()) * FRAC_1_SQRT_2); // z₊
    let lower = [&r, &s].map(|r| (r.clone() - t.clone()) * FRAC_1_SQRT_2); // z₋
    let sum = lower[0].clone() + lower[1].clone();
    let mirrored = sum.clone().lower_scalar(0.0);
    let lower = lower.map(|z| z.clone().mask_where(mirrored.clone(), z.neg()));
    let apart = (lower[0].clone().min_pair(lower[1].clone())).lower_scalar(-0.5);

    let bell = (t.clone().square() * -0.5).exp();
    let differences = [upper, lower.map(|z| z.clamp_min(-0.5))].map(erfcx_difference);
    let [of_upper, of_lower] = differences;
    let erfcx_part = bell * (of_upper + of_lower) * 8f64.sqrt().recip();

    // e^{z₋² − t²/2} = e^q with q = r²/2 − rt, and (q(r) − q(s))/(r − s) = (z₋(r) + z₋(s))/√2
    let [q_r, q_s] = [&r, &s].map(|r| r.clone() * (r.clone() * 0.5 - t.clone()));
    let [least, largest] = ordered(q_r, q_s);
    let slope = sum.clamp_max(0.0).neg() * FRAC_1_SQRT_2;
    let x = largest.clone() - least;
    let peak = largest.clamp_max(1.0).exp(); // where mirrored and not apart, q ≤ 1/4
    let exponential_part = peak * exponential_difference(x) * slope;

    let [value_r, value_s] = values;
    let gap = (r - s).mask_fill(apart.clone().bool_not(), 1.0);
    (erfcx_part + exponential_part).mask_where(apart, (value_s - value_r) / gap)
}

/// With `t = u/r`, `F = (A + B)/2` where `A = e^{r²/2 + u} erfc(z₊)`, `B = e^{r²/2 − u} erfc(z₋)` and `z± =
/// (r ± t)/√2`. With `X = erfcx`, `A = e^{−t²/2} X(z₊)`, and `B = e^{−t²/2} X(z₋)` for `z₋ ≥ 0`, otherwise
/// `2e^{r²/2 − u} − e^{−t²/2} X(−z₋)`, where the first term is at least twice the second.
///
/// `∂F/∂r = rF − √(2/π) e^{−t²/2}` and `∂F/∂u = (A − B)/2`. For large `z₋` these cancel, and with
/// `X' = 2zX − 2/√π` they are `e^{−t²/2} (X'(z₊) + X'(z₋))/√8 − t·∂F/∂u` and
/// `[e^{−t²/2} (X'(z₊) − X'(z₋))/√8 − tF]/r`.
#[derive(Clone, Copy)]
struct Smoothed;

impl Formula<2> for Smoothed {
    #[inline(always)]
    fn at<X: Number>(self, [r, u]: [X; 2]) -> (X, [X; 2]) {
        let t = u.clone() / r.clone();
        let lower = (r.clone() - t.clone()) * FRAC_1_SQRT_2; // z₋
        let [upper, upper_decrease, _] = erfcx_with_slopes((r.clone() + t.clone()) * FRAC_1_SQRT_2);
        let [mirrored, lower_decrease, _] = erfcx_with_slopes(lower.clone().abs());
        let bell = (t.clone() * t.clone() * -0.5).exp(); // e^{−t²/2}

        let a = bell.clone() * upper;
        let mirrored = bell.clone() * mirrored;
        let zero = r.constant(0.0);
        let exponent = (r.clone() * (r.clone() * 0.5) - u).at_most(zero.clone());
        let whole = exponent.exp() * 2.0;
        let b = lower
            .clone()
            .where_less(zero, whole - mirrored.clone(), mirrored);
        let value = (a.clone() + b.clone()) * 0.5;

        let slope_r = r.clone() * value.clone() - bell.clone() * (2.0 / PI).sqrt();
        let slope_u = (a - b) * 0.5;
        let factor = bell * 8f64.sqrt().recip();
        let difference = factor.clone() * (lower_decrease.clone() - upper_decrease.clone());
        let by_t = (difference - t.clone() * value.clone()) / r.clone();
        let is_large = |yes: X, no: X| r.constant(1.0).where_less(lower.clone(), yes, no);
        let slope_u = is_large(by_t, slope_u);
        let direct_r = factor * (upper_decrease + lower_decrease) + t * slope_u.clone();
        (value, [is_large(-direct_r, slope_r), slope_u])
    }
}
