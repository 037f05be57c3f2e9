use serde::{Deserialize, Serialize};

use super::exact;
use crate::score::Interval;

/// The sum of errors between −1 and 1, and that of their squares.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sums {
    #[serde(with = "exact")]
    sum: f64,
    #[serde(with = "exact")]
    squares: f64,
}

/// The number of rates `λ = ½, ¼, …` of bets on the mean.
const RATES: i32 = 14;

impl Sums {
    pub fn add(&mut self, error: f64) {
        self.sum += error;
        self.squares += error * error;
    }

    /// The mean error of so many rows, at least one, with its bounds.
    ///
    /// By Fan's inequality `exp(λx − ψ(λ)x²) ≤ 1 + λx` for `x ≥ −1`, `0 ≤ λ < 1`, `ψ(λ) = −ln(1 − λ) − λ`, each
    /// `exp(λ Σ(x − E x) − ψ(λ) Σ x²)` is a supermartingale (Howard, Ramdas, McAuliffe and Sekhon 2021). By Ville's
    /// inequality, with the same part of `alpha` for each rate and each side,
    /// `|Σ(x − E x)| ≤ min_λ (ln(28/α) + ψ(λ) Σ x²)/λ` after every row.
    pub fn interval(&self, rows: u64, alpha: f64) -> Interval {
        let log = (2.0 * f64::from(RATES) / alpha).ln();
        let radius = |halvings| {
            let rate = 0.5f64.powi(halvings);
            (log - ((-rate).ln_1p() + rate) * self.squares) / rate
        };
        let radius = (1..=RATES).map(radius).fold(f64::INFINITY, f64::min);
        let n = rows as f64;
        Interval {
            estimate: self.sum / n,
            lower: ((self.sum - radius) / n).max(-1.0),
            upper: ((self.sum + radius) / n).min(1.0),
            level: 1.0 - alpha,
        }
    }
}
