//! The power of two of numbers up to 16, a vector at a time; kernels have `log₂e` in their rate.
//!
//! `2^x = 2^k·2^f` with `k = round(x)` and `f = x − k`, `|f| ≤ ½`, by a polynomial in `f`. The error is
//! below 2 units in the last place; below the smallest normal number the result stays there instead of
//! going to 0.

use pulp::{Arch, Simd, WithSimd};

use super::real::Real;

/// `k` is rounded by adding a number so large that no fraction is left, the exponent's bias along
/// with it; then the lowest bits of the sum are the exponent of `2^k`.
#[inline(always)]
fn exp2<S: Simd, T: Real>(
    simd: S,
    x: T::Lanes<S>,
    [least, rounder]: [f64; 2],
    polynomial: &[f64],
) -> T::Lanes<S> {
    let rounder = T::splat(simd, T::new(rounder));
    let x = T::max(simd, x, T::splat(simd, T::new(least)));
    let shifted = T::add(simd, x, rounder);
    let f = T::sub(simd, x, T::sub(simd, shifted, rounder));
    let mut sum = T::splat(simd, T::new(polynomial[0]));
    for &coefficient in &polynomial[1..] {
        sum = T::mul_add(simd, sum, f, T::splat(simd, T::new(coefficient)));
    }
    T::mul(simd, sum, T::power_of_two(simd, shifted))
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

#[inline(always)]
pub(super) fn exp2_f32<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let rounder = 12_582_912.0 + 127.0; // 1.5 · 2^23 + bias
    exp2::<S, f32>(simd, x, [-126.0, rounder], &POLYNOMIAL_F32)
}

#[inline(always)]
pub(super) fn exp2_f64<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let rounder = 6_755_399_441_055_744.0 + 1023.0; // 1.5 · 2^52 + bias
    exp2::<S, f64>(simd, x, [-1022.0, rounder], &TAYLOR_F64)
}

/// `exp(x)` in place of each non-positive `x`.
pub(crate) fn exp<T: Real>(numbers: &mut [T]) {
    let whole = numbers.len() / MOST_LANES * MOST_LANES;
    let (whole, rest) = numbers.split_at_mut(whole);
    let mut padded = [T::new(0.0); MOST_LANES];
    padded[..rest.len()].copy_from_slice(rest);
    for numbers in [whole, &mut padded] {
        Arch::new().dispatch(Exp(numbers));
    }
    rest.copy_from_slice(&padded[..rest.len()]);
}

/// Lanes of the widest vectors of the narrowest type.
const MOST_LANES: usize = 16;

struct Exp<'a, T>(&'a mut [T]);

impl<T: Real> WithSimd for Exp<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let log2_e = T::splat(simd, T::new(std::f64::consts::LOG2_E));
        for x in T::lanes_mut::<S>(self.0) {
            *x = T::exp2(simd, T::mul(simd, *x, log2_e));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct MapExp2<'a, T>(&'a mut [T]);

    impl<T: Real> WithSimd for MapExp2<'_, T> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for lanes in T::lanes_mut::<S>(self.0) {
                *lanes = T::exp2(simd, *lanes);
            }
        }
    }

    /// The largest error of all arguments, in units of the last place, against one in higher
    /// precision.
    fn largest_error<T: Real>(arguments: &[T], epsilon: f64, exact: impl Fn(f64) -> f64) -> f64 {
        let mut found = arguments.to_vec();
        Arch::new().dispatch(MapExp2(&mut found));
        let errors = arguments.iter().zip(&found).map(|(x, found)| {
            let exact = exact(x.to_f64());
            let unit = epsilon * exact.log2().floor().exp2();
            (found.to_f64() - exact).abs() / unit
        });
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn f32_is_within_two_units() {
        let arguments: Vec<f32> = (0..1 << 16).map(|k| -125.9 * k as f32 / 65536.0).collect();
        let error = largest_error(&arguments, f32::EPSILON.into(), f64::exp2);
        assert!(error < 2.0, "{error}");
    }

    /// The standard library's is within one unit.
    #[test]
    fn f64_is_within_two_units() {
        let arguments: Vec<f64> = (0..1 << 16).map(|k| -1021.9 * k as f64 / 65536.0).collect();
        let error = largest_error(&arguments, f64::EPSILON, f64::exp2);
        assert!(error < 2.0, "{error}");
    }

    #[test]
    fn far_below_it_stays_at_the_smallest_normal_number() {
        let mut numbers = vec![-1e4f32; 16];
        Arch::new().dispatch(MapExp2(&mut numbers));
        let near = |x: f32| (x / f32::MIN_POSITIVE - 1.0).abs() < 1e-3;
        assert!(numbers.iter().all(|&x| near(x)), "{numbers:?}");
        numbers.fill(0.0);
        Arch::new().dispatch(MapExp2(&mut numbers));
        assert_eq!(numbers, [1.0; 16]);
    }
}
