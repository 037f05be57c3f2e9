//! How finely the numbers of a file are written, and what that does to a sum.

use burn::tensor::DType;

/// The distance from 1 that a sum may have in any file.
const LEAST: f64 = 1e-5;
/// The largest distance that is put down to rounding.
const MOST: f64 = 0.01;
/// Digits beyond which rounding is below the smallest distance.
const MANY: i32 = 12;

/// The format of the numbers of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Resolution {
    /// The most decimals and the most significant digits of a number in text.
    Text {
        decimals: i32,
        digits: i32,
    },
    Binary(DType),
}

impl Default for Resolution {
    fn default() -> Self {
        Self::Text {
            decimals: 0,
            digits: 0,
        }
    }
}

impl Resolution {
    /// That of numbers with this number of decimals.
    pub fn of_decimals(decimals: i32) -> Self {
        Self::Text {
            decimals,
            digits: MANY,
        }
    }

    /// That of numbers that are divided by 100.
    pub fn of_percent(self) -> Self {
        match self {
            Self::Text { decimals, digits } => Self::Text {
                decimals: decimals + 2,
                digits,
            },
            binary => binary,
        }
    }

    /// Takes note of a number in text.
    pub fn see(&mut self, cell: &str) {
        let Self::Text { decimals, digits } = self else {
            return;
        };
        if *decimals >= MANY && *digits >= MANY {
            return;
        }
        let (mantissa, exponent) = match cell.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().unwrap_or(0)),
            None => (cell, 0),
        };
        let fraction = mantissa
            .split_once('.')
            .map_or("", |(_, fraction)| fraction);
        let significant = mantissa.trim_start_matches(['0', '.', '-', '+']);
        let significant = significant.bytes().filter(u8::is_ascii_digit).count();
        *decimals = (*decimals).max((fraction.len() as i32).saturating_sub(exponent));
        *digits = (*digits).max(significant as i32);
    }

    /// The distance from 1 that rounding can give to the sum of a row: half a unit in the last place of each
    /// number.
    pub fn tolerance(&self, row: &[f64]) -> f64 {
        let rounding = match *self {
            Self::Text { decimals, digits } => {
                let unit = |p: f64| {
                    // 0 has no digits
                    let magnitude =
                        p.abs().clamp(f64::MIN_POSITIVE, f64::MAX).log10().floor() as i32;
                    let last = magnitude - digits.min(MANY) + 1;
                    10f64.powi((-decimals.min(MANY)).max(last))
                };
                0.5 * row.iter().map(|&p| unit(p)).sum::<f64>()
            }
            // rounded once or twice by a softmax in this format
            Self::Binary(_) => 2.0 * self.epsilon(),
        };
        (rounding * 1.001).clamp(LEAST, MOST.max(2.0 * self.epsilon()))
    }

    /// The distance from 1 to the next number in binary, 0 of whole numbers and text.
    fn epsilon(&self) -> f64 {
        match self {
            Self::Text { .. } => 0.0,
            Self::Binary(dtype) => dtype.finfo().map_or(0.0, |info| info.epsilon),
        }
    }

    /// Whether numbers have fewer digits than others: those in text have fewer than any in binary.
    #[cfg(feature = "parquet")]
    pub fn is_coarser(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Text { decimals, .. },
                Self::Text {
                    decimals: known, ..
                },
            ) => decimals < known,
            (Self::Text { .. }, Self::Binary(_)) => true,
            (Self::Binary(_), Self::Text { .. }) => false,
            (Self::Binary(_), Self::Binary(_)) => self.epsilon() > other.epsilon(),
        }
    }

    /// Half a unit in the last place of probabilities in text of one to six decimals, else 10⁻⁶: what takes the place of a
    /// probability of 0.
    pub fn clip(&self) -> f64 {
        const LEAST: f64 = 1e-6;
        match *self {
            Self::Text {
                decimals: decimals @ 1..,
                ..
            } => LEAST.max(0.5 * 10f64.powi(-decimals)),
            _ => LEAST,
        }
    }

    /// The decimals of probabilities in text, where they are so few that a small one may be written as 0.
    pub fn few_decimals(&self) -> Option<usize> {
        match *self {
            Self::Text {
                decimals: decimals @ 1..=5,
                ..
            } => Some(decimals as usize),
            _ => None,
        }
    }

    /// The precision of the numbers, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Text { decimals, .. } if *decimals < MANY => format!("{decimals} decimals"),
            Self::Text { digits, .. } => format!("{digits} digits"),
            Self::Binary(dtype) => dtype.name().into(),
        }
    }
}
