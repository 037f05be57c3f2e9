use serde::{Deserialize, Serialize};

use super::exact;
use crate::{root::enclose, score::Interval};

/// The sums of errors between −1 and 1, of at least one row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sums {
    rows: u64,
    #[serde(with = "exact")]
    sum: f64,
    #[serde(with = "exact")]
    squares: f64,
}

/// The number of rates `½, ¼, …` in the mixture.
const RATES: i32 = 14;

impl Sums {
    pub fn add(&mut self, error: f64) {
        self.rows += 1;
        self.sum += error;
        self.squares += error * error;
    }

    /// By Fan's inequality `exp(λx − ψ(λ)x²) ≤ 1 + λx` for `x ≥ −1`, `0 ≤ λ < 1`, `ψ(λ) = −ln(1 − λ) − λ`, each
    /// `exp(λ Σ(x − E x) − ψ(λ) Σ x²)` is a supermartingale, and so is their mixture over `λ`
    /// (Howard, Ramdas, McAuliffe and Sekhon 2021). Each side has half of `alpha`.
    pub fn interval(&self, alpha: f64) -> Interval {
        let goal = (2.0 / alpha).ln();
        let log_mixture = |radius: f64| {
            let log = |halvings: i32| {
                let rate = 0.5f64.powi(halvings);
                rate * radius + ((-rate).ln_1p() + rate) * self.squares
            };
            let logs = (1..=RATES).map(log);
            let most = logs.clone().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logs.map(|log| (log - most).exp()).sum();
            most + (sum / f64::from(RATES)).ln()
        };
        let mut high = 1.0;
        while log_mixture(high) < goal {
            high *= 2.0;
        }
        let [_, high] = enclose([0.0, high], 0.0, |radius| log_mixture(radius) - goal);
        let n = self.rows as f64;
        Interval {
            estimate: self.sum / n,
            lower: ((self.sum - high) / n).max(-1.0),
            upper: ((self.sum + high) / n).min(1.0),
            level: 1.0 - alpha,
        }
    }
}
