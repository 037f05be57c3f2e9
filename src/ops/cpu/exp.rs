//! The exponential function of non-positive numbers, a vector at a time.
//!
//! `exp(x) = 2^k·exp(r)` with `k = round(x log₂e)` and `r = x − k ln 2`, `|r| ≤ ½ ln 2`, by a
//! polynomial in `r`. The error is below 2 units in the last place; below the smallest normal
//! number the result stays there instead of going to 0.

use pulp::Simd;

use super::real::Real;

/// `k` is rounded by adding a number so large that no fraction is left, the exponent's bias along
/// with it; then the lowest bits of the sum are the exponent of `2^k`.
#[inline(always)]
fn exp<S: Simd, T: Real>(
    simd: S,
    x: T::Lanes<S>,
    [least, rounder, ln2_high, ln2_low]: [f64; 4],
    polynomial: &[f64],
) -> T::Lanes<S> {
    let rounder = T::splat(simd, T::new(rounder));
    let log2_e = T::splat(simd, T::new(std::f64::consts::LOG2_E));
    let x = T::max(simd, x, T::splat(simd, T::new(least)));
    let shifted = T::mul_add(simd, x, log2_e, rounder);
    let k = T::sub(simd, shifted, rounder);
    let r = T::mul_add(simd, k, T::splat(simd, T::new(-ln2_high)), x);
    let r = T::mul_add(simd, k, T::splat(simd, T::new(-ln2_low)), r);
    let mut sum = T::splat(simd, T::new(polynomial[0]));
    for &coefficient in &polynomial[1..] {
        sum = T::mul_add(simd, sum, r, T::splat(simd, T::new(coefficient)));
    }
    T::mul(simd, sum, T::power_of_two(simd, shifted))
}

/// Coefficients of Cephes' `expf` (Moshier), leading first.
const POLYNOMIAL_F32: [f64; 8] = [
    1.987_569_150_0e-4,
    1.398_199_950_7e-3,
    8.333_451_907_3e-3,
    4.166_579_589_4e-2,
    1.666_666_545_9e-1,
    5.000_000_120_1e-1,
    1.0,
    1.0,
];

/// `1/k!` for `k = 13, …, 0`: the remainder at `½ ln 2` is 5e-18.
const TAYLOR_F64: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

#[inline(always)]
pub(super) fn exp_f32<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    // ln 2 in two parts, the first with few bits
    let constants = [
        -87.336_54,
        12_582_912.0 + 127.0,
        0.693_359_375,
        -2.121_944_4e-4,
    ];
    exp::<S, f32>(simd, x, constants, &POLYNOMIAL_F32)
}

#[inline(always)]
pub(super) fn exp_f64<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let rounder = 6_755_399_441_055_744.0 + 1023.0; // 1.5 · 2^52 + bias
    let constants = [
        -708.396,
        rounder,
        0.693_145_751_953_125,
        1.428_606_820_309_417_2e-6,
    ];
    exp::<S, f64>(simd, x, constants, &TAYLOR_F64)
}
