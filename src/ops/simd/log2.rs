//! The binary logarithm of positive normal numbers, a vector at a time, and powers by it.
//!
//! `log₂x = k + log₂e·log(1 + f)` for `x = 2^k (1 + f)` with `√½ ≤ 1 + f < √2`. With `s = f/(2 + f)`,
//! `log(1 + f) = f − f²/2 + s (f²/2 + R(s²))` (Sun's fdlibm). The error is below 2 units in the last
//! place.

use std::f64::consts::LOG2_E;

use pulp::Simd;

use super::real::Real;

/// Coefficients of `R(s²)/s²` in fdlibm, leading first.
pub(super) const REMAINDER_F32: [f64; 4] = [
    0.242_790_788_41,
    0.284_987_866_88,
    0.400_009_721_52,
    0.666_666_626_93,
];
pub(super) const REMAINDER_F64: [f64; 7] = [
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
pub(super) fn log2<S: Simd, T: Real>(simd: S, x: T::Lanes<S>, remainder: &[f64]) -> T::Lanes<S> {
    let splat = |x: f64| T::splat(simd, T::new(x));
    let (k, m) = T::split(simd, x);
    let f = T::sub(simd, m, splat(1.0));
    let s = T::div(simd, f, T::add(simd, f, splat(2.0)));
    let z = T::mul(simd, s, s);
    let mut r = splat(remainder[0]);
    for &coefficient in &remainder[1..] {
        r = T::mul_add(simd, r, z, splat(coefficient));
    }
    let half = T::mul(simd, T::mul(simd, f, f), splat(0.5));
    let rest = T::mul(simd, s, T::mul_add(simd, r, z, half));
    let log = T::sub(simd, f, T::sub(simd, half, rest));
    T::mul_add(simd, log, splat(LOG2_E), k)
}

/// `x^a` for `a > 0`, 0 where `x` is 0 or subnormal; at most `2^16`.
#[inline(always)]
pub(crate) fn power<S: Simd, T: Real>(simd: S, x: T::Lanes<S>, a: f64) -> T::Lanes<S> {
    let splat = |x: f64| T::splat(simd, T::new(x));
    let bounded = T::max(
        simd,
        T::min(simd, x, splat(T::MAX.to_f64())),
        splat(T::MIN_POSITIVE),
    );
    let log = T::mul(simd, T::log2(simd, bounded), splat(a));
    let power = T::exp2(simd, T::min(simd, log, splat(16.0)));
    T::where_normal(simd, x, power)
}

/// `(1 + x)^−a` and `1/(1 + x)` of `x ≥ 0`, for `a > 0`.
#[inline(always)]
pub(crate) fn power_of_successor<S: Simd, T: Real>(
    simd: S,
    x: T::Lanes<S>,
    a: f64,
) -> [T::Lanes<S>; 2] {
    let splat = |x: f64| T::splat(simd, T::new(x));
    let x = T::min(simd, x, splat(T::MAX.to_f64()));
    let sum = T::add(simd, x, splat(1.0));
    let reciprocal = T::div(simd, splat(1.0), sum);
    // what the sum has lost
    let lost = T::sub(simd, x, T::sub(simd, sum, splat(1.0)));
    let lost = T::mul(simd, lost, T::mul(simd, reciprocal, splat(LOG2_E)));
    let log = T::add(simd, T::log2(simd, sum), lost);
    [T::exp2(simd, T::mul(simd, log, splat(-a))), reciprocal]
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use super::*;

    struct MapLog2<'a, T, F>(&'a mut [T], F);

    #[derive(Clone, Copy)]
    enum Function {
        Log2,
        Power(f64),
        Successor(f64),
    }

    impl<T: Real> WithSimd for MapLog2<'_, T, Function> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for lanes in T::lanes_mut::<S>(self.0) {
                *lanes = match self.1 {
                    Function::Log2 => T::log2(simd, *lanes),
                    Function::Power(a) => power::<S, T>(simd, *lanes, a),
                    Function::Successor(a) => power_of_successor::<S, T>(simd, *lanes, a)[0],
                };
            }
        }
    }

    /// The largest relative error over arguments spread by their logarithms, in units of `epsilon`, and
    /// in vectors as in single numbers.
    fn largest_error<T: Real>(
        function: Function,
        [low, high]: [f64; 2],
        epsilon: f64,
        exact: impl Fn(f64) -> f64,
    ) -> f64 {
        let step = (high / low).ln() / 65535.0;
        let mut arguments: Vec<T> = (0..65536)
            .map(|k| T::new(low * (step * f64::from(k)).exp()))
            .collect();
        let exact: Vec<f64> = arguments.iter().map(|x| exact(x.to_f64())).collect();
        let mut single = arguments.clone();
        Arch::new().dispatch(MapLog2(&mut arguments, function));
        MapLog2(&mut single, function).with_simd(pulp::Scalar);
        let errors = [arguments, single].map(|found| {
            let errors = found.iter().zip(&exact);
            let errors = errors.map(|(x, e)| (x.to_f64() - e).abs() / (epsilon * e.abs()));
            errors.fold(0.0, f64::max)
        });
        errors[0].max(errors[1])
    }

    #[test]
    fn logarithms_are_within_two_units() {
        let everywhere = [[1.2e-38, 3e38], [0.5, 2.0]];
        for range in everywhere {
            let error = largest_error::<f32>(Function::Log2, range, f32::EPSILON.into(), f64::log2);
            assert!(error < 2.0, "f32 on {range:?}: {error}");
        }
        for range in [[2.3e-308, 1.7e308], [0.5, 0.999], [1.001, 2.0]] {
            let error = largest_error::<f64>(Function::Log2, range, f64::EPSILON, f64::log2);
            assert!(error < 2.0, "f64 on {range:?}: {error}");
        }
    }

    /// The error of the logarithm times the exponent is absolute in the exponent of 2.
    #[test]
    fn powers_are_near_rounding() {
        for a in [0.05, 0.5, 1.0, 1.7, 2.0] {
            let range = [1e-3, 30.0];
            let power = |x: f64| x.powf(a);
            let f = Function::Power(a);
            let error = largest_error::<f32>(f, range, f32::EPSILON.into(), power);
            assert!(error < 2.0 + 8.0 * a, "f32, {a}: {error}");
            let error = largest_error::<f64>(f, range, f64::EPSILON, power);
            assert!(error < 2.0 + 8.0 * a, "f64, {a}: {error}");
        }
        for a in [0.1, 1.0, 4.0, 1e6] {
            let range = [1e-9 / a, 10.0 / a];
            let power = |x: f64| (-a * x.ln_1p()).exp();
            let f = Function::Successor(a);
            let error = largest_error::<f32>(f, range, f32::EPSILON.into(), power);
            assert!(error < 16.0, "f32, {a}: {error}");
            let error = largest_error::<f64>(f, range, f64::EPSILON, power);
            assert!(error < 16.0, "f64, {a}: {error}");
        }
    }

    #[test]
    fn powers_at_the_ends() {
        let mut numbers = [0.0, f32::MIN_POSITIVE / 2.0, f32::INFINITY, 1e38].repeat(16);
        Arch::new().dispatch(MapLog2(&mut numbers, Function::Power(0.1)));
        assert_eq!(numbers[..2], [0.0; 2]);
        assert!(numbers.iter().all(|x| x.is_finite()), "{numbers:?}");
        let mut numbers = [0.0, f32::MAX, f32::INFINITY, 1.0].repeat(16);
        Arch::new().dispatch(MapLog2(&mut numbers, Function::Successor(2.0)));
        assert_eq!(numbers[0], 1.0);
        assert!(numbers[1] < 1e-37 && numbers[2] < 1e-37, "{numbers:?}");
    }
}
