//! Numbers as people read them.

use burn_calibration::numbers::*;

#[test]
fn small_numbers_have_digits() {
    let written = [0.0503, 0.0, -0.0, 0.000_012, -4e-6, 1e-12, f64::INFINITY].map(|x| points(x, 2));
    assert_eq!(
        written,
        ["5.03", "0.00", "0.00", "0.0012", "-0.00040", "1.0e-10", "∞"]
    );
    assert_eq!(
        [points(0.05, 1), points(0.000_5, 1), points(-0.3, 1)],
        ["5.0", "0.050", "-30.0"]
    );
    assert_eq!(
        [share(0.5, 3), share(0.000_04, 3), share(0.999_97, 3)],
        ["0.500", "0.000040", "0.999970"]
    );
    assert_eq!(
        [share(0.0, 3), share(1.0, 3), share(1.0 - 1e-16, 3)],
        ["0.000", "1.000", "1.000"]
    );
    assert_eq!(
        [percent(0.971, 1), percent(0.000_31, 1), percent(0.9999, 1)],
        ["97.1 %", "0.031 %", "99.990 %"]
    );
    let written = [
        (0.0546, 0.0034),
        (-0.0007, 0.0034),
        (2e-5, 3.1e-6),
        (0.1, 0.0),
    ]
    .map(|(x, error)| points_with_error(x, error));
    assert_eq!(
        written,
        [
            "5.46 ± 0.34",
            "-0.07 ± 0.34",
            "0.00200 ± 0.00031",
            "10.0 ± 0.0"
        ]
    );
    assert_eq!([percent(1.0, 1), percent(0.0, 1)], ["100 %", "0 %"]);
    let written = [0.0, 0.999_6, 1234.6, 1e-5, -2.5e9, 0.51, f64::NAN].map(|x| significant(x, 3));
    assert_eq!(
        written,
        [
            "0",
            "1.00",
            "1235",
            "1.00e-5",
            "-2.50e9",
            "0.510",
            "undefined"
        ]
    );
    assert_eq!(
        [expected(310.4), expected(20.0), expected(0.031)],
        ["310", "20.0", "0.0310"]
    );
}
