//! Work for several threads. What takes closures is compiled once for a type of results, and not once for
//! each place: threads are much code.

use rayon::prelude::*;

/// The number of numbers that is worth a thread.
const WORTH_A_THREAD: usize = 1 << 15;

/// What a function gives for `0..count`, in this order.
pub(crate) fn map<R: Send>(count: usize, of: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    (0..count).into_par_iter().map(of).collect()
}

/// Calls `f` with the index of each chunk of `size` numbers and the chunk; `cost` numbers are read for
/// each that is written. On several threads if there is much to do.
pub(crate) fn for_each_chunk<T: Send>(
    numbers: &mut [T],
    size: usize,
    cost: usize,
    f: impl Fn((usize, &mut [T])) + Sync,
) {
    match numbers.len() * cost < 2 * WORTH_A_THREAD {
        true => numbers.chunks_mut(size).enumerate().for_each(f),
        false => on_threads(numbers, size, WORTH_A_THREAD.div_ceil(size * cost), &f),
    }
}

/// What is done with each chunk.
type Of<'a, T> = dyn Fn((usize, &mut [T])) + Sync + 'a;

fn on_threads<T: Send>(numbers: &mut [T], size: usize, at_once: usize, f: &Of<T>) {
    let chunks = numbers.par_chunks_mut(size).with_min_len(at_once);
    chunks.enumerate().for_each(f);
}
