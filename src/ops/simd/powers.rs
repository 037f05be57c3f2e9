//! The power of two and the binary logarithm, a vector at a time, and other powers by them.
//!
//! `2^x = 2^k·2^f` with `k = round(x)` and `f = x − k`, `|f| ≤ ½`, by a polynomial in `f`. Below the smallest normal
//! number the result stays there instead of going to 0. Kernels have `log₂e` in their rate.
//!
//! `log₂x = k + log₂e·log(1 + f)` for `x = 2^k (1 + f)` with `√½ ≤ 1 + f < √2`. With `s = f/(2 + f)`,
//! `log(1 + f) = f − f²/2 + s (f²/2 + R(s²))` (Sun's fdlibm).
//!
//! Both errors are below 2 units in the last place.

use std::f64::consts::LOG2_E;

use pulp::Simd;

use super::{real::Real, wide::Wide};
use crate::ops::formula::Number;

/// The exponential function of a floating-point type.
pub struct Exp2 {
    /// The exponent of the smallest normal number.
    least: f64,
    /// A number so large that no fraction is left of a sum with it, and the bias of the exponent: the lowest bits
    /// of the sum are the exponent of `2^k`.
    rounder: f64,
    /// The coefficients of the polynomial in `f`, leading first.
    polynomial: &'static [f64],
}

/// `2^x` for `x ≤ 16`.
#[inline(always)]
pub(crate) fn exp2<S: Simd, T: Real>(x: Wide<S, T>) -> Wide<S, T> {
    let x = x.max(T::EXP2.least);
    let shifted = x + T::EXP2.rounder;
    let f = x - (shifted - T::EXP2.rounder);
    polynomial(T::EXP2.polynomial, f) * Wide::new(x.simd, T::power_of_two(x.simd, shifted.lanes))
}

/// The polynomial with these coefficients, leading first.
#[inline(always)]
fn polynomial<S: Simd, T: Real>(coefficients: &[f64], x: Wide<S, T>) -> Wide<S, T> {
    let mut sum = x.constant(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, x.constant(coefficient));
    }
    sum
}

/// Coefficients of Cephes' `exp2f` (Moshier), leading first.
const POLYNOMIAL_F32: [f64; 7] = [
    1.535_336_188_319_5e-4,
    1.339_887_440_266_574e-3,
    9.618_437_357_674_64e-3,
    5.550_332_471_162_809e-2,
    2.402_264_791_363_012e-1,
    6.931_472_028_550_42e-1,
    1.0,
];

/// `(ln 2)^k/k!` for `k = 13, …, 0`: the remainder at ½ is 5e-18.
const TAYLOR_F64: [f64; 14] = {
    let mut coefficients = [1.0; 14];
    let mut k = 1;
    while k < 14 {
        coefficients[13 - k] = coefficients[14 - k] * std::f64::consts::LN_2 / k as f64;
        k += 1;
    }
    coefficients
};

pub(super) const EXP2_F32: Exp2 = Exp2 {
    least: -126.0,
    rounder: 12_582_912.0 + 127.0, // 1.5 · 2^23 + bias
    polynomial: &POLYNOMIAL_F32,
};

pub(super) const EXP2_F64: Exp2 = Exp2 {
    least: -1022.0,
    rounder: 6_755_399_441_055_744.0 + 1023.0, // 1.5 · 2^52 + bias
    polynomial: &TAYLOR_F64,
};

/// Coefficients of `R(s²)/s²` in fdlibm, leading first.
pub(super) const LOG2_F32: [f64; 4] = [
    0.242_790_788_41,
    0.284_987_866_88,
    0.400_009_721_52,
    0.666_666_626_93,
];
pub(super) const LOG2_F64: [f64; 7] = [
    1.479_819_860_511_658_6e-1,
    1.531_383_769_920_937_3e-1,
    1.818_357_216_161_805e-1,
    2.222_219_843_214_978_4e-1,
    2.857_142_874_366_239e-1,
    3.999_999_999_940_942e-1,
    6.666_666_666_666_735e-1,
];

/// `log₂x` of positive normal numbers.
#[inline(always)]
pub(super) fn log2<S: Simd, T: Real>(x: Wide<S, T>) -> Wide<S, T> {
    let (k, m) = T::split(x.simd, x.lanes);
    let (k, m) = (Wide::<S, T>::new(x.simd, k), Wide::<S, T>::new(x.simd, m));
    let f = m - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let half = f * f * 0.5;
    let rest = s * polynomial(T::LOG2, z).mul_add(z, half);
    let log = f - (half - rest);
    log.mul_add(x.constant(LOG2_E), k)
}

/// `x^a` for `a > 0`, 0 where `x` is 0 or subnormal; at most `2^16`.
#[inline(always)]
pub(crate) fn power<S: Simd, T: Real>(x: Wide<S, T>, a: f64) -> Wide<S, T> {
    let bounded = x.min(T::MAX).max(T::MIN_POSITIVE);
    let exponent = log2(bounded) * a;
    exp2(exponent.min(16.0)).where_normal(x)
}

/// `(1 + x)^−a` and `1/(1 + x)` of `x ≥ 0`, for `a > 0`.
#[inline(always)]
pub(crate) fn power_of_successor<S: Simd, T: Real>(x: Wide<S, T>, a: f64) -> [Wide<S, T>; 2] {
    let x = x.min(T::MAX);
    let sum = x + 1.0;
    let reciprocal = sum.reciprocal();
    // what the sum has lost
    let lost = (x - (sum - 1.0)) * (reciprocal * LOG2_E);
    let log = log2(sum) + lost;
    [exp2(log * -a), reciprocal]
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use super::*;

    #[derive(Clone, Copy)]
    enum Function {
        Exp2,
        Log2,
        Power(f64),
        Successor(f64),
    }

    struct Map<'a, T>(Function, &'a mut [T]);

    impl<T: Real> WithSimd for Map<'_, T> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for lanes in T::lanes_mut::<S>(self.1) {
                let x = Wide::<S, T>::new(simd, *lanes);
                let y = match self.0 {
                    Function::Exp2 => exp2(x),
                    Function::Log2 => log2(x),
                    Function::Power(a) => power(x, a),
                    Function::Successor(a) => power_of_successor(x, a)[0],
                };
                *lanes = y.lanes;
            }
        }
    }

    impl Function {
        fn of(self, x: f64) -> f64 {
            match self {
                Self::Exp2 => x.exp2(),
                Self::Log2 => x.log2(),
                Self::Power(a) => x.powf(a),
                Self::Successor(a) => (-a * x.ln_1p()).exp(),
            }
        }

        /// The largest relative error, in units of `epsilon`, in vectors as in single numbers.
        fn largest_error<T: Real>(self, arguments: impl Iterator<Item = f64>, epsilon: f64) -> f64 {
            let arguments: Vec<T> = arguments.map(T::new).collect();
            let (mut found, mut single) = (arguments.clone(), arguments.clone());
            Arch::new().dispatch(Map(self, &mut found));
            Map(self, &mut single).with_simd(pulp::Scalar);
            let error = |(x, y): (&T, &T)| {
                let exact = self.of(x.to_f64());
                (y.to_f64() - exact).abs() / (epsilon * exact.abs())
            };
            let all = found.iter().chain(&single);
            let pairs = arguments.iter().chain(&arguments).zip(all);
            pairs.map(error).fold(0.0, f64::max)
        }
    }

    const COUNT: i32 = 1 << 16;

    /// Numbers spread by their logarithms.
    fn between([low, high]: [f64; 2]) -> impl Iterator<Item = f64> {
        let step = (high / low).ln() / f64::from(COUNT - 1);
        (0..COUNT).map(move |k| low * (step * f64::from(k)).exp())
    }

    #[test]
    fn exponentials_and_logarithms_are_within_two_units() {
        let below = |least: f64| (0..COUNT).map(move |k| least * f64::from(k) / f64::from(COUNT));
        let error = Function::Exp2.largest_error::<f32>(below(-125.9), f32::EPSILON.into());
        assert!(error < 2.0, "f32: {error}");
        let error = Function::Exp2.largest_error::<f64>(below(-1021.9), f64::EPSILON);
        assert!(error < 2.0, "f64: {error}");
        for range in [[1.2e-38, 3e38], [0.5, 2.0]] {
            let error = Function::Log2.largest_error::<f32>(between(range), f32::EPSILON.into());
            assert!(error < 2.0, "f32 on {range:?}: {error}");
        }
        for range in [[2.3e-308, 1.7e308], [0.5, 0.999], [1.001, 2.0]] {
            let error = Function::Log2.largest_error::<f64>(between(range), f64::EPSILON);
            assert!(error < 2.0, "f64 on {range:?}: {error}");
        }
    }

    /// The error of the logarithm times the exponent is absolute in the exponent of 2.
    #[test]
    fn powers_are_near_rounding() {
        let powers =
            [0.05, 0.5, 1.0, 1.7, 2.0].map(|a| (Function::Power(a), [1e-3, 30.0], 2.0 + 8.0 * a));
        let successors =
            [0.1, 1.0, 4.0, 1e6].map(|a| (Function::Successor(a), [1e-9 / a, 10.0 / a], 16.0));
        for (function, range, most) in powers.into_iter().chain(successors) {
            let error = function.largest_error::<f32>(between(range), f32::EPSILON.into());
            assert!(error < most, "f32, {range:?}: {error}");
            let error = function.largest_error::<f64>(between(range), f64::EPSILON);
            assert!(error < most, "f64, {range:?}: {error}");
        }
    }

    #[test]
    fn at_the_ends() {
        let of = |function: Function, numbers: &[f32]| {
            let mut numbers = numbers.repeat(16);
            Arch::new().dispatch(Map(function, &mut numbers));
            numbers
        };
        let least = of(Function::Exp2, &[-1e4]);
        let near = |x: f32| (x / f32::MIN_POSITIVE - 1.0).abs() < 1e-3;
        assert!(least.iter().all(|&x| near(x)), "{least:?}");
        assert_eq!(of(Function::Exp2, &[0.0]), [1.0; 16]);
        let ends = [0.0, f32::MIN_POSITIVE / 2.0, f32::INFINITY, 1e38];
        let powers = of(Function::Power(0.1), &ends);
        assert_eq!(powers[..2], [0.0; 2]);
        assert!(powers.iter().all(|x| x.is_finite()), "{powers:?}");
        let powers = of(
            Function::Successor(2.0),
            &[0.0, f32::MAX, f32::INFINITY, 1.0],
        );
        assert_eq!(powers[0], 1.0);
        assert!(powers[1] < 1e-37 && powers[2] < 1e-37, "{powers:?}");
    }
}
