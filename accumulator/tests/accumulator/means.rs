//! Means of numbers under names.

use approx::assert_relative_eq;
use burn_calibration::error::Error;
use burn_calibration_accumulator::*;
use proptest::prelude::*;

use crate::data::cases;

fn means(numbers: &[f64]) -> Means {
    let mut means = Means::new([("family", "normal")]);
    means.add("crps", numbers).unwrap();
    means
}

proptest! {
    #![proptest_config(cases(64))]

    /// Pieces in either order are the whole, bit for bit, also on file.
    #[test]
    fn pieces_are_the_whole(numbers in prop::collection::vec(-1e6..1e6f64, 2..40), at in 0.0..1.0f64) {
        let (first, second) = numbers.split_at((at * numbers.len() as f64) as usize);
        let whole = means(&numbers);
        for [a, b] in [[first, second], [second, first]] {
            let mut merged = means(a);
            merged.merge(&means(b)).unwrap();
            prop_assert_eq!(&merged, &whole);
            prop_assert_eq!(merged.digest(), whole.digest());
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
