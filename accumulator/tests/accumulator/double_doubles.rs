//! Arithmetic of numbers of two f64 against whole numbers of any size.

use num_bigint::{BigInt, BigUint};
use proptest::{collection::vec, prelude::*};

use crate::double_double::DoubleDouble;
use burn_calibration_testing::data::{assert_relative, cases};

/// The number in units of `2⁻¹⁰⁷⁴`, the least positive f64.
fn units(x: f64) -> BigInt {
    let (exponent, fraction) = ((x.to_bits() >> 52) & 0x7ff, x.to_bits() % (1 << 52));
    let units = match exponent {
        0 => BigInt::from(fraction),
        _ => BigInt::from(fraction + (1 << 52)) << (exponent - 1),
    };
    if x < 0.0 { -units } else { units }
}

fn exact(x: DoubleDouble) -> BigInt {
    units(x.hi) + units(x.lo)
}

/// Whether numbers differ by at most `error 2⁻¹⁰⁶` times a magnitude.
fn is_near(found: &BigInt, expected: &BigInt, error: u32, magnitude: &BigInt) -> bool {
    let difference: BigUint = (found - expected).magnitude() << 106u32;
    difference <= magnitude.magnitude() * error
}

/// Of both signs and many magnitudes, with second parts of any size below half of the last digit.
fn number() -> impl Strategy<Value = DoubleDouble> {
    let part = || prop_oneof![Just(0.0), -2.0..2.0f64];
    (part(), part(), -80..80i32, 54..70i32).prop_map(|(hi, lo, exponent, below)| {
        let unit = 2f64.powi(exponent);
        DoubleDouble::from(hi * unit) + DoubleDouble::from(lo * unit * 2f64.powi(-below))
    })
}

/// Multiples of `2⁻⁹²` below 2.
fn multiple() -> impl Strategy<Value = DoubleDouble> {
    (-1i64 << 46..1 << 46, -1i64 << 46..1 << 46).prop_map(|(hi, lo)| {
        let [hi, lo] = [hi as f64 * 2f64.powi(-46), lo as f64 * 2f64.powi(-92)];
        DoubleDouble::from(hi) + DoubleDouble::from(lo)
    })
}

/// At most 60 terms, whether their sum is exact, and the same in another order.
fn terms() -> impl Strategy<Value = (bool, Vec<DoubleDouble>, Vec<DoubleDouble>)> {
    let terms = prop_oneof![
        (Just(false), vec(number(), 1..60)),
        (Just(true), vec(multiple(), 1..60))
    ];
    terms.prop_flat_map(|(is_exact, terms)| {
        let shuffled = Just(terms.clone()).prop_shuffle();
        (Just(is_exact), Just(terms), shuffled)
    })
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Against integers, with the errors of the documentation.
    #[test]
    fn operations(a in number(), b in number()) {
        let (x, y) = (exact(a), exact(b));
        let sum = &x + &y;
        prop_assert!(is_near(&exact(a + b), &sum, 4, &sum));
        let difference = &x - &y;
        prop_assert!(is_near(&exact(a - b), &difference, 4, &difference));
        let product = &x * &y;
        prop_assert!(is_near(&(exact(a * b) << 1074), &product, 5, &product));
        let of_hi = units(a.hi) * units(b.hi);
        prop_assert_eq!(exact(DoubleDouble::product(a.hi, b.hi)) << 1074, of_hi);
        if b.hi != 0.0 {
            let dividend = &x << 1074;
            prop_assert!(is_near(&(exact(a / b) * &y), &dividend, 16, &dividend));
        }
    }

    /// In any order and any parts: exact if the digits suffice, else to the bound.
    #[test]
    fn sums((is_exact, numbers, shuffled) in terms(), cut in any::<prop::sample::Index>()) {
        let sum = |numbers: &[DoubleDouble]| {
            numbers.iter().fold(DoubleDouble::default(), |sum, &x| sum + x)
        };
        let (left, right) = shuffled.split_at(cut.index(shuffled.len()));
        let expected: BigInt = numbers.iter().map(|&x| exact(x)).sum();
        let magnitudes = numbers.iter().map(|&x| exact(x).magnitude().clone());
        let magnitude = BigInt::from(magnitudes.sum::<BigUint>());
        for found in [sum(&numbers), sum(right) + sum(left)] {
            prop_assert!(is_near(&exact(found), &expected, 4 * 60, &magnitude));
            prop_assert!(!is_exact || exact(found) == expected);
        }
    }

    #[test]
    fn on_file(x in number()) {
        let text = serde_json::to_string(&x).unwrap();
        prop_assert_eq!(serde_json::from_str::<DoubleDouble>(&text).unwrap(), x, "{}", text);
    }
}

#[test]
fn by_hand() {
    let [tenth, three] = [0.1, 3.0].map(DoubleDouble::from);
    assert_eq!(serde_json::to_string(&tenth).unwrap(), "\"0.1\"");
    let third = DoubleDouble::from(1.0) / three;
    // 1/3 − its f64 is 2⁻⁵⁴/3
    assert_eq!(third.hi, 1.0 / 3.0);
    assert_relative(third.lo, 2f64.powi(-54) / 3.0, 1e-15);
    assert_eq!((tenth * three / three).value(), 0.1);
    for text in ["", "1 1", "NaN", "inf", "1 NaN", "0.1 1e-18 1e-40"] {
        let error = DoubleDouble::try_from(text.to_owned()).unwrap_err();
        assert!(error.starts_with("a sum is"), "{error}");
    }
}

/// As f64 without second parts.
#[test]
fn not_finite() {
    use std::ops::{Add, Div, Mul, Sub};
    type Operation<T> = fn(T, T) -> T;
    let operations: [(Operation<f64>, Operation<DoubleDouble>); 4] = [
        (f64::add, DoubleDouble::add),
        (f64::sub, DoubleDouble::sub),
        (f64::mul, DoubleDouble::mul),
        (f64::div, DoubleDouble::div),
    ];
    for (a, b) in [
        (f64::INFINITY, 1.0),
        (1.0, f64::NEG_INFINITY),
        (f64::INFINITY, f64::INFINITY),
        (f64::INFINITY, f64::NEG_INFINITY),
        (f64::NAN, 1.0),
        (1.0, f64::NAN),
        (1.0, 0.0),
        (0.0, 0.0),
        (f64::MAX, f64::MAX),
    ] {
        for (of_f64, of_two) in operations {
            let (expected, found) = (of_f64(a, b), of_two(a.into(), b.into()).value());
            let is_same = found == expected || found.is_nan() && expected.is_nan();
            assert!(is_same, "{a} {b}: {found}, expected {expected}");
        }
    }
}
