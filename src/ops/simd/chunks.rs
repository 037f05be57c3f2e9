//! Chunks of numbers, on several threads if there is much to do.

use rayon::prelude::*;

/// The number of numbers that is worth a thread.
const WORTH_A_THREAD: usize = 1 << 15;

/// Calls `f` with the index of each chunk of `size` numbers and the chunk; `cost` numbers are read for
/// each that is written.
pub(crate) fn for_each_chunk<T: Send>(
    numbers: &mut [T],
    size: usize,
    cost: usize,
    f: impl Fn((usize, &mut [T])) + Send + Sync,
) {
    if numbers.len() * cost < 2 * WORTH_A_THREAD {
        numbers.chunks_mut(size).enumerate().for_each(f);
    } else {
        numbers
            .par_chunks_mut(size)
            .with_min_len(WORTH_A_THREAD.div_ceil(size * cost))
            .enumerate()
            .for_each(f);
    }
}
