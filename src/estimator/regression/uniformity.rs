use statrs::distribution::{ChiSquared, ContinuousCDF};

/// A test of the hypothesis that independent numbers are uniform on `[0, 1]`.
///
/// Uniform probability integral transforms are what *probabilistic calibration* means; it does not imply
/// that predictions are calibrated: errors in one part of the data can make up for those in another.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Uniformity {
    /// The statistic of the test.
    pub statistic: f64,
    /// The probability of a statistic at least as large under uniformity.
    pub p_value: f64,
}

impl Uniformity {
    /// `max_u |F_n(u) − u|` of the empirical distribution function `F_n` of at least one number.
    pub(super) fn kolmogorov_smirnov(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let distance = |(i, u): (usize, &f64)| ((i + 1) as f64 / n - u).max(u - i as f64 / n);
        let statistic = sorted.iter().enumerate().map(distance).fold(0.0, f64::max);
        let x = n.sqrt() * statistic;
        let corrected = x + (6.0 * n.sqrt()).recip() + (x - 1.0) / (4.0 * n);
        Self {
            statistic,
            p_value: kolmogorov_tail(corrected),
        }
    }

    /// Pearson's `Σ_b (n_b − n/B)²/(n/B)` of counts in `B ≥ 2` bins, `χ²` with `B − 1` degrees of freedom.
    pub(super) fn chi_squared(counts: &[usize]) -> Self {
        let total: usize = counts.iter().sum();
        let expected = total as f64 / counts.len() as f64;
        let term = |&count: &usize| (count as f64 - expected).powi(2) / expected;
        let statistic = counts.iter().map(term).sum();
        let freedom = counts.len() as f64 - 1.0;
        let distribution = ChiSquared::new(freedom).expect("at least two bins");
        Self {
            statistic,
            p_value: distribution.sf(statistic),
        }
    }
}

/// `P(K > x) = 2 Σ_k (−1)^{k−1} e^{−2k²x²}` of the Kolmogorov distribution; below 1 from
/// `P(K ≤ x) = √2π/x · Σ_k e^{−(2k−1)²π²/8x²}`. Five terms of either are exact to rounding.
fn kolmogorov_tail(x: f64) -> f64 {
    use std::f64::consts::PI;
    if x <= 0.0 {
        return 1.0;
    }
    if x < 1.0 {
        let term = |k: i32| (-(f64::from(2 * k - 1) * PI / x).powi(2) / 8.0).exp();
        1.0 - (2.0 * PI).sqrt() / x * (1..=5).map(term).sum::<f64>()
    } else {
        let sign = |k: i32| if k % 2 == 1 { 2.0 } else { -2.0 };
        let term = |k: i32| sign(k) * (-2.0 * (f64::from(k) * x).powi(2)).exp();
        (1..=5).map(term).sum::<f64>()
    }
}
