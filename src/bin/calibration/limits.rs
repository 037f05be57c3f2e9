//! Limits of what is computed where there are many samples, and of memory.

use std::ops::RangeInclusive;

use crate::input::Result;

/// Bandwidths and length scales, whose squares are numbers as well.
pub const SCALES: RangeInclusive<f64> = 1e-100..=1e100;

/// Above so many samples, what costs the square of their number is left out unless asked for.
pub const QUADRATIC_LIMIT: usize = 20_000;
/// Samples in a block of the SKCE where all pairs are too many.
pub const BLOCK: usize = 25;
/// Bins of all classes together: of each a sum is held.
const BINS: u64 = 1_000_000;
/// The redraws that may be asked for.
pub const REDRAWS: u32 = 100_000;
/// Redraws times classes or dimensions: of each pair some numbers are held.
const REDRAWN: u64 = 20_000_000;
/// Samples whose median distance may be asked for.
pub const MEDIAN: usize = QUADRATIC_LIMIT;

/// Checks that the bins of all classes are not too many.
pub fn check_bins(bins: u32, classes: usize) -> Result<()> {
    match u64::from(bins).saturating_mul(classes as u64) {
        0..=BINS => Ok(()),
        _ => Err(format!(
            "--bins {bins}: {classes} classes have so many each, expected at most {BINS} together"
        )),
    }
}

/// The most redraws where so many are asked for: ten times as many, as far as the number of classes or
/// dimensions allows.
pub fn most_redraws(option: &str, redraws: u32, outcomes: usize) -> Result<usize> {
    let most = REDRAWN / outcomes.max(1) as u64;
    let asked = u64::from(redraws);
    match asked <= most {
        true => Ok((10 * asked).min(most) as usize),
        false => Err(format!(
            "{option} {redraws}: expected at most {most}, since classes or dimensions times redraws are at \
             most {REDRAWN}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_stated() {
        assert_eq!(check_bins(15, 1000), Ok(()));
        let bins = check_bins(u32::MAX, 2).unwrap_err();
        assert!(bins.contains("at most 1000000 together"), "{bins}");
        assert_eq!(most_redraws("", 999, 10), Ok(9990));
        assert_eq!(most_redraws("", 100_000, 150), Ok(133_333));
        let redraws = most_redraws("--redraws", 100_000, 1000).unwrap_err();
        assert!(
            redraws.starts_with("--redraws 100000: expected at most 20000,"),
            "{redraws}"
        );
    }
}
