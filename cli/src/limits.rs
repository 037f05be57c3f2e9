//! Limits of what is computed where there are many samples, and of memory.

use crate::{
    error::{Result, ensure},
    notes::note,
};
use std::ops::RangeInclusive;

/// Above so many samples, what costs the square of their number is left out unless asked for.
pub use burn_calibration_report::ALL_PAIRS as QUADRATIC_LIMIT;
/// Samples in a block of the SKCE where all pairs are too many.
pub use burn_calibration_report::BLOCK;

/// Bandwidths and length scales, whose squares are numbers as well.
pub const SCALES: RangeInclusive<f64> = 1e-100..=1e100;

/// Bins of all classes together: of each a sum is held.
const BINS: u64 = 1_000_000;
/// The redraws that may be asked for.
pub const REDRAWS: u32 = 100_000;
/// The redraws unless others are asked for.
pub const USUAL_REDRAWS: u32 = 999;
/// Redraws times classes or dimensions: of each pair some numbers are held.
const REDRAWN: u64 = 20_000_000;

/// Checks that the bins of all classes are not too many.
pub fn check_bins(bins: u32, classes: usize) -> Result<()> {
    ensure!(
        u64::from(bins).saturating_mul(classes as u64) <= BINS,
        "--bins {bins}: {classes} classes have so many bins each, expected at most {BINS} together"
    );
    Ok(())
}

/// The redraws of so many that are asked for, and the most: ten times as many, as far as the number of
/// classes or dimensions allows. The usual number becomes smaller where these are too many, which a note says.
pub fn redraws(option: &str, redraws: u32, outcomes: usize) -> Result<(u32, usize)> {
    let most = REDRAWN / outcomes.max(1) as u64;
    let asked = u64::from(redraws);
    if asked <= most {
        return Ok((redraws, (10 * asked).min(most) as usize));
    }
    ensure!(
        redraws == USUAL_REDRAWS && most > 0,
        "{option} {redraws}: expected at most {most}, because classes or dimensions times redraws are at most \
         {REDRAWN}"
    );
    note(format_args!(
        "{most} redraws, not {redraws}, since there are {outcomes} classes or dimensions"
    ));
    Ok((most as u32, most as usize))
}
