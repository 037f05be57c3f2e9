//! The scaled complementary error function `erfcx(z) = e^{z²} erfc(z)` of vectors, for `z ≥ 0`: as
//! `kernel::expectation::erfcx` has it, whose coefficients these are.

use pulp::Simd;

use crate::ops::simd::{real::Real, wide::Wide};

/// The coefficients of `p` in f64, see [`erfcx`].
pub(crate) const F64: [f64; 27] = [
    0.7160046047255598,
    -0.26941522193111067,
    0.1796807850522008,
    -0.06866325733580463,
    -0.02349416518082352,
    0.07144649329372958,
    -0.07507989406056624,
    0.05290941742535291,
    -0.026497529715570036,
    0.008519150453365553,
    -0.0007611605151942539,
    -0.0008036101366074451,
    0.00038426292825730535,
    2.4004616900444983e-06,
    -5.8722953164161095e-05,
    1.1789789903800147e-05,
    7.632514999916741e-06,
    -3.001198958767976e-06,
    -1.0383195881600625e-06,
    6.026017115522808e-07,
    1.647200309330676e-07,
    -1.0842406547182343e-07,
    -2.9337587280544798e-08,
    1.5805500927101727e-08,
    4.6314531984428085e-09,
    -1.3264685397129549e-09,
    -4.2049088964871433e-10,
];

/// The coefficients of `p` for other dtypes.
pub(crate) const F32: [f64; 15] = [
    0.7160046045879617,
    -0.26941521821725695,
    0.17968080280837773,
    -0.06866339969912708,
    -0.023494542003989257,
    0.07144808593497935,
    -0.0750768365100501,
    0.05290145124267779,
    -0.02650978443757365,
    0.008540100221429307,
    -0.0007342102827277332,
    -0.0008345031475255999,
    0.00035073721879082346,
    2.8152934549504916e-05,
    -3.5857440981395754e-05,
];

fn coefficients<T>() -> &'static [f64] {
    if size_of::<T>() == 8 { &F64 } else { &F32 }
}

/// `1/(z + 4)` and `1/(z + 1)`, by one division.
#[inline(always)]
fn reciprocals<S: Simd, T: Real>(z: Wide<S, T>) -> [Wide<S, T>; 2] {
    let (four, one) = (z + 4.0, z + 1.0);
    let over = (four * one).recip();
    [one * over, four * over]
}

/// `X(z) = erfcx(z)`, `−X'(z)` and `(zX(z))'`, without cancellation, by Horner's scheme for `p` and its
/// slope.
#[inline(always)]
pub(super) fn erfcx<S: Simd, T: Real>(z: Wide<S, T>) -> [Wide<S, T>; 3] {
    let [step, w] = reciprocals(z);
    let x = step.mul_add(z.constant(-7.0), z.constant(1.0)); // (z − 3)/(z + 4)
    let (mut p, mut slope) = (z.constant(0.0), z.constant(0.0));
    for &coefficient in coefficients::<T>().iter().rev() {
        slope = slope.mul_add(x, p);
        p = p.mul_add(x, z.constant(coefficient));
    }
    let (value, slope) = (p * w, slope * (step * step * 7.0));
    let decrease = (value - slope) * w;
    [
        value,
        decrease,
        value.mul_add(w, slope * (slope.constant(1.0) - w)),
    ]
}
