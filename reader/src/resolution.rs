//! How finely the numbers of a file are written.

/// Decimals beyond which no number counts as rounded.
const MANY: i32 = 12;

/// The most decimals of a number in text, or those of a decimal type; none of numbers in binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resolution {
    decimals: Option<i32>,
}

impl Resolution {
    /// Returns the resolution of numbers with this number of decimals.
    #[cfg(feature = "parquet")]
    pub fn of_decimals(decimals: i32) -> Self {
        Self {
            decimals: Some(decimals),
        }
    }

    /// Returns the resolution of the numbers divided by 100.
    pub fn of_percent(self) -> Self {
        Self {
            decimals: self.decimals.map(|decimals| decimals + 2),
        }
    }

    /// Takes note of a number in text.
    pub fn see(&mut self, cell: &str) {
        let known = self.decimals.unwrap_or(0);
        if known >= MANY {
            return;
        }
        let (mantissa, exponent) = match cell.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().unwrap_or(0)),
            None => (cell, 0),
        };
        let fraction = mantissa.split_once('.');
        let fraction = fraction.map_or(0, |(_, fraction)| fraction.len() as i32);
        self.decimals = Some(known.max(fraction.saturating_sub(exponent)));
    }

    /// The coarser of two.
    #[cfg(feature = "parquet")]
    pub fn coarser(self, other: Self) -> Self {
        let decimals = [self.decimals, other.decimals].into_iter().flatten().min();
        Self { decimals }
    }

    /// Half a unit in the last place of probabilities in text of one to six decimals, else 10⁻⁶: what takes the place of a
    /// probability of 0.
    pub fn clip(&self) -> f64 {
        const LEAST: f64 = 1e-6;
        match self.decimals {
            Some(decimals @ 1..) => LEAST.max(0.5 * 10f64.powi(-decimals)),
            _ => LEAST,
        }
    }

    /// The decimals of probabilities in text, where they are so few that a small one may be written as 0.
    pub fn few_decimals(&self) -> Option<usize> {
        match self.decimals {
            Some(decimals @ 1..=5) => Some(decimals as usize),
            _ => None,
        }
    }
}
