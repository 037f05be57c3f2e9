//! Numbers as people read them.

use burn_calibration::numbers::{expected as expected_count, *};

#[test]
fn small_numbers_have_digits() {
    let written = [0.0503, 0.0, -0.0, 0.000_012, -4e-6, 1e-12, f64::INFINITY].map(|x| points(x, 2));
    let expected = ["5.03", "0.00", "0.00", "0.0012", "-0.00040", "1.0e-10", "∞"];
    assert_eq!(written, expected);
    let written = [0.05, 0.000_5, -0.3].map(|x| points(x, 1));
    assert_eq!(written, ["5.0", "0.050", "-30.0"]);
    let written = [0.5, 0.000_04, 0.999_97].map(|x| share(x, 3));
    assert_eq!(written, ["0.500", "0.000040", "0.999970"]);
    let written = [0.0, 1.0, 1.0 - 1e-16].map(|x| share(x, 3));
    assert_eq!(written, ["0.000", "1.000", "1.000"]);
    let written = [0.971, 0.000_31, 0.9999].map(|x| percent(x, 1));
    assert_eq!(written, ["97.1 %", "0.031 %", "99.990 %"]);
    let with_error = |(x, error)| points_with_error(x, error);
    let written = [(0.0546, 0.0034), (-0.0007, 0.0034)].map(with_error);
    assert_eq!(written, ["5.46 ± 0.34", "-0.07 ± 0.34"]);
    let written = [(2e-5, 3.1e-6), (0.1, 0.0)].map(with_error);
    assert_eq!(written, ["0.00200 ± 0.00031", "10.0 ± 0.0"]);
    assert_eq!([percent(1.0, 1), percent(0.0, 1)], ["100 %", "0 %"]);
    let written = [0.0, 0.999_6, 1234.6, 1e-5, -2.5e9, 0.51].map(|x| significant(x, 3));
    assert_eq!(
        written,
        ["0", "1.00", "1235", "1.00e-5", "-2.50e9", "0.510"]
    );
    assert_eq!(significant(f64::NAN, 3), "undefined");
    let written = [310.4, 20.0, 0.031].map(expected_count);
    assert_eq!(written, ["310", "20.0", "0.0310"]);
}
