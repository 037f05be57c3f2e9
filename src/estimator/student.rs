//! Student's t distribution, by the survival function of `statrs`.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// `P(T > t)`.
///
/// - freedom: degrees of freedom, positive
pub(crate) fn upper_tail(t: f64, freedom: f64) -> f64 {
    standard(freedom).sf(t)
}

/// The `t ≥ 0` with `P(T > t) = tail`, for a tail in `(0, ½)`, by bisection to the last digit.
///
/// The `inverse_cdf` of statrs 0.19 loses its digits with many degrees of freedom: 1.83 in place of
/// 1.96 at 10⁷.
pub(crate) fn upper_quantile(tail: f64, freedom: f64) -> f64 {
    let student = standard(freedom);
    let (mut low, mut high) = (0.0, 1.0);
    while student.sf(high) > tail {
        (low, high) = (high, 2.0 * high);
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if student.sf(middle) > tail {
            low = middle
        } else {
            high = middle
        }
    }
}

/// The `t` with `P(T ≤ t) = probability`.
pub(crate) fn quantile(probability: f64, freedom: f64) -> f64 {
    match probability {
        0.5 => 0.0,
        below if below < 0.5 => -upper_quantile(below, freedom),
        above => upper_quantile(1.0 - above, freedom),
    }
}

fn standard(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom).expect("positive degrees of freedom")
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;

    /// `tan(π(½ − tail))` for one degree of freedom, `(1 − 2a)/√(2a(1 − a))` for two, and the table
    /// of Fisher and Yates for ten; the normal quantile in the limit, with the first term of its
    /// expansion, `(z³ + z)/4ν`.
    #[test]
    fn quantiles_in_closed_form() {
        for tail in [0.4, 0.025, 1e-9] {
            let one = (std::f64::consts::PI * tail).tan().recip();
            assert_relative_eq!(upper_quantile(tail, 1.0), one, max_relative = 1e-9);
            let two = (1.0 - 2.0 * tail) / (2.0 * tail * (1.0 - tail)).sqrt();
            assert_relative_eq!(upper_quantile(tail, 2.0), two, max_relative = 1e-9);
        }
        assert_relative_eq!(
            upper_quantile(0.025, 10.0),
            2.228_138_851_964_938_5,
            max_relative = 1e-9
        );
        let z: f64 = 1.959_963_984_540_054;
        for freedom in [1e4, 1e6, 1e7] {
            let expansion = z + (z.powi(3) + z) / (4.0 * freedom);
            assert_relative_eq!(
                upper_quantile(0.025, freedom),
                expansion,
                max_relative = 1e-7
            );
        }
    }
}
