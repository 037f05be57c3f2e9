//! Limits of what is computed where there are many samples.

/// Above so many samples, what costs the square of their number is left out unless asked for.
pub const QUADRATIC_LIMIT: usize = 20_000;
/// Samples in a block of the SKCE where all pairs are too many.
pub const BLOCK: usize = 25;
