//! Student's t distribution, by the survival function of `statrs`.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::root::enclose;

/// `P(T > t)`.
///
/// - freedom: degrees of freedom, positive
pub(crate) fn upper_tail(t: f64, freedom: f64) -> f64 {
    standard(freedom).sf(t)
}

/// The `t ≥ 0` with `P(T > t) = tail`, for a tail in `(0, ½)`, to the last digit.
///
/// The `inverse_cdf` of statrs 0.19 loses its digits with many degrees of freedom: 1.83 in place of
/// 1.96 at 10⁷.
pub(crate) fn upper_quantile(tail: f64, freedom: f64) -> f64 {
    let student = standard(freedom);
    let (mut low, mut high) = (0.0, 1.0);
    while student.sf(high) > tail {
        (low, high) = (high, 2.0 * high);
    }
    enclose([low, high], 0.0, |t| tail - student.sf(t))[1]
}

/// The `t` with `P(T ≤ t) = probability`.
pub(crate) fn quantile(probability: f64, freedom: f64) -> f64 {
    if probability < 0.5 {
        -upper_quantile(probability, freedom)
    } else if probability == 0.5 {
        0.0
    } else {
        upper_quantile(1.0 - probability, freedom)
    }
}

fn standard(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom).expect("positive degrees of freedom")
}
