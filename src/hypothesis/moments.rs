//! A null from moments: a shifted gamma distribution (Pearson's type III).

use statrs::distribution::{ContinuousCDF, Gamma, Normal};

/// The upper tail of the gamma distribution, shifted to mean 0, with the given standard deviation
/// and skewness `g`: `P((G − a)/√a ≥ t/σ)` with `G ∼ Gamma(a, 1)`, `a = 4/g²`; normal for `g → 0`.
///
/// - For `g ≤ 0` it is that of the normal distribution: the reflected gamma distribution ends on the
///   right, which the null does not.
/// - For `g > √8`, the skewness of `Z² − 1` and the largest that the limit can have, it is the larger of
///   the tails for `g` and for `√8`. A gamma distribution of large skewness has nearly all its mass at its
///   least value, and the tail just above would be next to nothing.
///
/// A deviation of 0 is a point mass at 0.
pub(super) fn upper_tail(t: f64, deviation: f64, skewness: f64) -> f64 {
    if deviation == 0.0 {
        return f64::from(t <= 0.0);
    }
    let x = t / deviation;
    let largest = 8f64.sqrt();
    if skewness < 1e-3 {
        Normal::standard().sf(x)
    } else if skewness <= largest {
        gamma_tail(x, skewness)
    } else {
        // a number too large for the incomplete gamma function is no number, which the maximum ignores
        gamma_tail(x, largest).max(gamma_tail(x, skewness))
    }
}

/// `P((G − a)/√a ≥ x)`, `a = 4/g²`.
fn gamma_tail(x: f64, skewness: f64) -> f64 {
    let shape = 4.0 / (skewness * skewness);
    match Gamma::new(shape, 1.0) {
        Ok(gamma) => gamma.sf(shape + shape.sqrt() * x),
        Err(_) => f64::NAN, // the shape is 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the incomplete gamma function of mpmath 1.3.0, to 60 digits.
    #[test]
    fn tails() {
        for (x, skewness, expected) in TAILS {
            let found = gamma_tail(x, skewness);
            assert!(
                (found / expected - 1.0).abs() < 1e-8,
                "x = {x}, skewness {skewness}: {found}, not {expected}"
            );
        }
    }

    const TAILS: [(f64, f64, f64); 11] = [
        (1.0, 0.002, 0.15865521363166),
        (3.0, 0.5, 0.00542574535583623),
        (2.5, 1.5, 0.0265663763384152),
        (4.0, 2.8, 0.00978660373319419),
        (0.5, 8.0, 0.0789496076794654),
        (10.0, 8.0, 0.00159678081684234),
        (0.1, 30.0, 0.0173467730386329),
        (20.0, 30.0, 0.000571092515346831),
        (100.0, 30.0, 7.53112192351469e-07),
        (0.001, 300.0, 0.000413442537620677),
        (-0.02, 30.0, 0.0228560928978323),
    ];

    #[test]
    fn without_deviation() {
        assert_eq!(
            [upper_tail(0.0, 0.0, 0.0), upper_tail(1.0, 0.0, 0.0)],
            [1.0, 0.0]
        );
    }

    #[test]
    fn the_tail_is_one_at_any_skewness() {
        for skewness in [
            -1e9, -30.0, -0.4, 0.0, 0.5, 2.8, 3.0, 30.0, 1e4, 1e9, 1e160, 1e300,
        ] {
            let values = [-5.0, -0.1, -1e-6, 0.0, 1e-6, 0.1, 1.0, 3.0, 30.0]
                .map(|x| upper_tail(3.0 * x, 3.0, skewness));
            for pair in values.windows(2) {
                assert!(pair[0] >= pair[1], "skewness {skewness}: {values:?}");
            }
            assert!(
                values[0] > 0.999 && (0.3..=0.51).contains(&values[3]),
                "{values:?}"
            );
            assert!((0.0..0.01).contains(&values[8]), "{values:?}");
        }
        // beyond √8 the tail is heavier far out, and not lighter anywhere
        assert!(upper_tail(20.0, 1.0, 30.0) > 1e3 * upper_tail(20.0, 1.0, 2.8));
        assert!(upper_tail(0.0, 1.0, 30.0) > 0.3);
    }
}
