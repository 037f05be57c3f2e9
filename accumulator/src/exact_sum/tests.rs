use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use proptest::prelude::*;

use super::*;

fn sum(numbers: &[f64]) -> ExactSum {
    let mut sum = ExactSum::default();
    numbers.iter().for_each(|&x| sum.add(x));
    sum
}

#[test]
fn by_hand() {
    let least = f64::from_bits(1);
    let cases: &[(&[f64], f64)] = &[
        (&[], 0.0),
        (&[0.1], 0.1),
        (&[-0.1, -0.2, 0.1, 0.2], 0.0),
        (&[1e308, 1.0, -1e308], 1.0),
        (&[1.0, 1e100, 1.0, -1e100], 2.0),
        (&[least, least], 2.0 * least),
        (&[f64::MIN_POSITIVE, -least], f64::MIN_POSITIVE - least),
        (&[1.0, least], 1.0),
        // halfway between neighbours: to the even one, but for what lies far below
        (&[2f64.powi(53), 1.0], 2f64.powi(53)),
        (&[2f64.powi(53), 1.0, least], 2f64.powi(53) + 2.0),
        (&[2f64.powi(53), 1.0, -least], 2f64.powi(53)),
        (&[2f64.powi(53) + 2.0, 1.0], 2f64.powi(53) + 4.0),
        (&[-(2f64.powi(53)), -1.0, -least], -(2f64.powi(53)) - 2.0),
        // a carry into the next power of two, and beyond the greatest number
        (&[2f64.powi(54) - 2.0, 1.0], 2f64.powi(54)),
        (&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
        (&[f64::MAX, f64::MAX], f64::INFINITY),
        (&[-f64::MAX, -(2f64.powi(969))], -f64::MAX),
        (&[-f64::MAX, -(2f64.powi(970))], f64::NEG_INFINITY),
    ];
    for (numbers, expected) in cases {
        assert_eq!(sum(numbers).value(), *expected, "{numbers:?}");
    }
}

/// More additions than a limb takes, in both signs.
#[test]
fn carries() {
    for x in [-1.0 - f64::EPSILON, 1.0 + f64::EPSILON] {
        let mut all = sum(&[x]);
        for _ in 0..40 {
            all.merge(&all.clone()); // 2⁴⁰ times
            assert!(all.additions < ADDITIONS);
        }
        assert_eq!(all.value(), x * 2f64.powi(40));
        let limbs: i64 = all.limbs.iter().map(|limb| limb.abs()).max().unwrap();
        assert!(limbs < 1 << 62);
        for _ in 0..40 {
            all.merge(&sum(&[-x * 2f64.powi(36)]));
        }
        assert_eq!(all.value(), x * (2f64.powi(40) - 40.0 * 2f64.powi(36)));
    }
}

/// The square of a number of 53 bits has 106.
#[test]
fn products_are_exact() {
    let x = 1.0 + f64::EPSILON;
    let mut square = ExactSum::default();
    square.add_product(&[x, x]);
    // (1 + ε)² = 1 + 2ε + ε²
    assert_eq!(
        square,
        sum(&[1.0, 2.0 * f64::EPSILON, f64::EPSILON.powi(2)])
    );
    // also of four of the least and the greatest numbers, which are no f64
    let (least, most) = (f64::from_bits(1), f64::MAX);
    let mut fourth = ExactSum::default();
    fourth.add_product(&[least, -least, most, most, x]);
    let mut factors = ExactSum::default();
    factors.add_product(&[x, least]);
    let quotient = fourth.exact().over(&factors.exact());
    assert_eq!(quotient, -(least * most) * most); // 2⁻¹⁰⁷⁴ (2¹⁰²⁴ − 2⁹⁷¹)², nearly 2⁹⁷⁴
    let text = serde_json::to_string(&fourth).unwrap();
    assert_eq!(serde_json::from_str::<ExactSum>(&text).unwrap(), fourth);
}

#[test]
fn sums_that_no_additions_give_are_refused() {
    for text in [
        r#"{"negative":false,"first":255,"limbs":[1,1]}"#,
        r#"{"negative":false,"first":9223372036854775807,"limbs":[1]}"#,
        r#"{"negative":false,"first":3,"limbs":[0,1]}"#,
        r#"{"negative":true,"first":3,"limbs":[1,0]}"#,
    ] {
        let message = serde_json::from_str::<ExactSum>(text).unwrap_err();
        assert!(message.to_string().contains("limbs from"), "{message}");
    }
    let last = r#"{"negative":true,"first":254,"limbs":[1,1]}"#;
    let sum: ExactSum = serde_json::from_str(last).unwrap();
    assert_eq!(sum.value(), f64::NEG_INFINITY);
    assert_eq!(serde_json::to_string(&sum).unwrap(), last);
}

/// Finite numbers of all magnitudes, and such as cancel.
fn number() -> impl Strategy<Value = f64> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    let any = POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO;
    prop_oneof![any, -1.0..1.0f64, (-3i32..3).prop_map(f64::from)]
}

/// A finite number in units.
fn integer(x: f64) -> BigInt {
    let exponent = (x.to_bits() >> 52) & 0x7ff;
    let fraction = x.to_bits() % (1 << 52);
    let units = match exponent {
        0 => BigInt::from(fraction),
        _ => BigInt::from(fraction + (1 << 52)) << (exponent - 1),
    };
    if x < 0.0 { -units } else { units }
}

/// Whether no f64 is nearer to a quotient of numbers of units, and of two that are as near this is the even one.
fn is_nearest(value: f64, dividend: &BigInt, divisor: &BigInt) -> bool {
    let distance = |x: f64| -> BigUint {
        let difference: BigInt = integer(x) * divisor - (dividend << 1074u32);
        difference.magnitude().clone()
    };
    [value.next_up(), value.next_down()]
        .into_iter()
        .filter(|other| other.is_finite())
        .all(|other| match distance(value).cmp(&distance(other)) {
            Ordering::Greater => false,
            Ordering::Equal => value.to_bits().is_multiple_of(2),
            Ordering::Less => true,
        })
}

/// What rounds to infinity, and what does not: half of the last digit beyond the greatest number.
fn overflows(dividend: &BigInt, divisor: &BigInt) -> bool {
    let half = BigInt::from(1) << (970 + 1074u32);
    let first: BigInt = (integer(f64::MAX) + half) * divisor;
    let scaled: BigInt = dividend << 1074u32;
    scaled.magnitude() >= first.magnitude()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(512)
    })]

    /// Against integers, and the definition of rounding.
    #[test]
    fn values((numbers, negated) in prop::collection::vec(number(), 0..40).prop_flat_map(|numbers| {
        let negated = prop::collection::vec(any::<bool>(), numbers.len());
        (Just(numbers), negated)
    })) {
        // some numbers come again with the other sign: next to nothing is left
        let again = numbers.iter().zip(&negated).filter(|(_, negated)| **negated).map(|(x, _)| -x);
        let numbers: Vec<f64> = numbers.iter().copied().chain(again).collect();
        let exact: BigInt = numbers.iter().map(|&x| integer(x)).sum();
        let found = sum(&numbers);
        // over 1, and over a sum of which less is left
        for divisor in [vec![1.0], numbers[numbers.len() / 2..].to_vec()] {
            let unit: BigInt = divisor.iter().map(|&x| integer(x)).sum();
            if unit == BigInt::ZERO {
                continue;
            }
            let value = found.exact().over(&sum(&divisor).exact());
            prop_assert_eq!(value.is_infinite(), overflows(&exact, &unit));
            prop_assert_eq!(value < 0.0, exact.sign() * unit.sign() == Sign::Minus && value != 0.0);
            if value.is_finite() {
                prop_assert!(is_nearest(value, &exact, &unit), "{value}");
            }
        }
        prop_assert_eq!(found.value() < 0.0, exact < BigInt::ZERO);
    }

    /// In any order and any parts the same number, and the same bytes.
    #[test]
    fn order_and_parts((numbers, shuffled) in prop::collection::vec(number(), 1..30).prop_flat_map(|numbers| {
        (Just(numbers.clone()), Just(numbers).prop_shuffle())
    }), cut in 0..30usize) {
        let (left, right) = shuffled.split_at(cut.min(shuffled.len()));
        let (all, mut merged) = (sum(&numbers), sum(right));
        merged.merge(&sum(left));
        prop_assert_eq!(&merged, &all);
        let text = serde_json::to_string(&merged).unwrap();
        prop_assert_eq!(&text, &serde_json::to_string(&all).unwrap());
        prop_assert_eq!(serde_json::from_str::<ExactSum>(&text).unwrap(), all);
    }
}
