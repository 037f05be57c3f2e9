//! A null from moments: a shifted gamma distribution (Pearson's type III).

use statrs::distribution::{ContinuousCDF, Gamma, Normal};

/// The upper tail of the gamma distribution, shifted to mean 0, with the given standard deviation
/// and skewness `g`: `P((G − a)/√a ≥ t/σ)` with `G ∼ Gamma(a, 1)`, `a = 4/g²`; normal for `g → 0`.
/// For `g < 0` it is that of the reflected distribution, `P((G − a)/√a ≤ −t/σ)`.
///
/// A deviation of 0 is a point mass at 0.
pub(super) fn upper_tail(t: f64, deviation: f64, skewness: f64) -> f64 {
    if deviation == 0.0 {
        return f64::from(t <= 0.0);
    }
    let x = t / deviation;
    if skewness.abs() < 1e-3 {
        return Normal::standard().sf(x);
    }
    let shape = 4.0 / (skewness * skewness);
    let gamma = Gamma::new(shape, 1.0).expect("a positive shape");
    match skewness > 0.0 {
        true => gamma.sf(shape + shape.sqrt() * x),
        false => gamma.cdf(shape - shape.sqrt() * x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the incomplete gamma function of mpmath 1.3.0, to 60 digits.
    #[test]
    fn tails() {
        for (x, skewness, expected) in TAILS {
            let found = upper_tail(2.0 * x, 2.0, skewness);
            assert!(
                (found / expected - 1.0).abs() < 1e-8,
                "x = {x}, skewness {skewness}: {found}, not {expected}"
            );
        }
    }

    const TAILS: [(f64, f64, f64); 12] = [
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
        (-3.0, -2.0, 0.981684361111266),
        (-0.02, 30.0, 0.0228560928978323),
    ];

    #[test]
    fn without_deviation() {
        assert_eq!(
            [upper_tail(0.0, 0.0, 0.0), upper_tail(1.0, 0.0, 0.0)],
            [1.0, 0.0]
        );
        // below the least value
        assert_eq!(upper_tail(-1.0, 1.0, 30.0), 1.0);
        assert_eq!(upper_tail(1.0, 1.0, -30.0), 0.0);
    }
}
