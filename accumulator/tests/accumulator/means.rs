//! Means of numbers under names.

use approx::assert_relative_eq;
use burn_calibration::error::Error;
use burn_calibration_accumulator::*;
use proptest::prelude::*;
use rand::RngExt;
use statrs::statistics::Statistics;

use crate::agree;
use burn_calibration_testing::data::{cases, rng};

fn means(numbers: &[f64]) -> Means {
    let mut means = Means::new([("family", "normal")]);
    means.add("crps", numbers).unwrap();
    means
}

proptest! {
    #![proptest_config(cases(64))]

    /// Pieces in either order are the whole, also on file.
    #[test]
    fn pieces_are_the_whole(numbers in prop::collection::vec(-1e6..1e6f64, 2..40), at in 0.0..1.0f64) {
        let (first, second) = numbers.split_at((at * numbers.len() as f64) as usize);
        let whole = means(&numbers);
        for [a, b] in [[first, second], [second, first]] {
            let mut merged = means(a);
            merged.merge(&means(b)).unwrap();
            agree(&merged, &whole, 40.0 * 1e6);
            let [merged, whole] = [&merged, &whole].map(|means| means.mean("crps").unwrap());
            prop_assert_eq!(merged.estimate, whole.estimate);
            assert_relative_eq!(merged.standard_error, whole.standard_error, max_relative = 1e-15);
        }
        let text = serde_json::to_string(&whole).unwrap();
        prop_assert_eq!(serde_json::from_str::<Means>(&text).unwrap(), whole);
    }
}

#[test]
fn mean_and_standard_error() {
    let found = means(&[1.0, 2.0, 6.0]).mean("crps").unwrap();
    assert_relative_eq!(found.estimate, 3.0);
    // variance (4 + 1 + 9)/2 = 7 over 3 numbers
    let error = (7.0f64 / 3.0).sqrt();
    assert_relative_eq!(found.standard_error, error, max_relative = 1e-15);
}

/// What tells pieces apart is an error, and then nothing is taken.
#[test]
fn errors() {
    let own = means(&[1.0]);
    let mut other = Means::new([("family", "laplace")]);
    other.add("crps", &[1.0]).unwrap();
    let mut names = Means::new([("family", "normal")]);
    names.add("log", &[1.0]).unwrap();
    for other in [other, names] {
        let mut merged = own.clone();
        assert!(matches!(merged.merge(&other), Err(Error::Merge { .. })));
        assert_eq!(merged, own);
    }
    let mut merged = Means::new([("family", "normal")]);
    merged.merge(&own).unwrap();
    assert_eq!(merged, own);
    for number in [f64::NAN, f64::INFINITY, -1e101] {
        let error = merged.add("crps", &[2.0, number]).unwrap_err().to_string();
        let expected = format!("number 1 of crps is {number:e}, expected one from -1e100 to 1e100");
        assert_eq!(error, expected);
        assert_eq!(merged, own);
    }
    assert!(matches!(own.mean("log"), Err(Error::TooFewSamples { .. })));
    let test = own.block_test("crps", 2, 3);
    assert!(matches!(test, Err(Error::TooFewSamples { .. })));
    assert_ne!(Means::digest_of([1.0, 2.0]), Means::digest_of([2.0, 1.0]));
}

/// Means that are far from 0, and numbers of any size.
#[test]
fn against_two_passes() {
    let mut rng = rng(1);
    for (offset, scale) in [
        (0.0, 1.0),
        (5.0, 1e-3),
        (-1e9, 1e-3),
        (0.0, 1e-60),
        (0.0, 1e99),
    ] {
        let draw = |_| offset + scale * rng.random_range(-1.0..1.0f64);
        let numbers: Vec<f64> = (0..1000).map(draw).collect();
        let found = means(&numbers).mean("crps").unwrap();
        let centred: Vec<f64> = numbers.iter().map(|x| x - offset).collect(); // exact or nearly so
        assert_relative_eq!(
            found.estimate - offset,
            centred.as_slice().mean(),
            max_relative = 1e-10,
            epsilon = 1e-15 * (offset.abs() + scale)
        );
        let expected = (centred.as_slice().variance() / 1000.0).sqrt();
        assert_relative_eq!(found.standard_error, expected, max_relative = 1e-10);
    }
}

/// Not even by rounding, in any pieces.
#[test]
fn equal_values_do_not_deviate() {
    let error = |means: &Means| means.mean("crps").unwrap().standard_error;
    for x in [0.1, -1.0 / 3.0, 745.13, 1e-50] {
        let mut all = means(&[x; 12_345]);
        all.merge(&means(&[x; 678])).unwrap();
        assert_eq!(error(&all), 0.0);
        all.merge(&all.clone()).unwrap();
        assert_eq!((error(&all), all.mean("crps").unwrap().estimate), (0.0, x));
    }
    let next = 0.1f64.next_up();
    let mut numbers = [0.1; 999];
    numbers[500] = next;
    // one number that is off by d: d² (n − 1)/n
    let deviations = (next - 0.1).powi(2) * 998.0 / 999.0;
    let expected = (deviations / (998.0 * 999.0)).sqrt();
    assert_relative_eq!(error(&means(&numbers)), expected, max_relative = 1e-14);
}
