//! Tiles dealt out to threads.

use crate::parallel;

/// Below so many coordinates of pairs a pass is done by the calling thread.
const WORTH_THREADS: usize = 1 << 18;

/// Threads for `n` vectors of `d` coordinates in so many tiles of rows.
pub(crate) fn threads(n: usize, d: usize, tiles: usize) -> usize {
    if n * n * d < WORTH_THREADS {
        1
    } else {
        rayon::current_num_threads().min(tiles)
    }
}

/// Calls `step(share, tile)` for each tile, of which the first have the most to do; the merged shares:
/// the same result for the same number of threads.
pub(crate) fn deal<S: Send>(
    tiles: usize,
    threads: usize,
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, usize) + Sync,
    merge: impl Fn(&mut S, S),
) -> S {
    let share = |thread: usize| {
        let mut share = start();
        // forwards and backwards in turn
        for round in 0..tiles.div_ceil(threads) {
            let tile = match round % 2 {
                0 => round * threads + thread,
                _ => (round + 1) * threads - 1 - thread,
            };
            if tile < tiles {
                step(&mut share, tile);
            }
        }
        share
    };
    if threads == 1 {
        return share(0);
    }
    let mut shares = parallel::map(threads, &share).into_iter();
    let mut all = shares.next().expect("at least one share");
    shares.for_each(|other| merge(&mut all, other));
    all
}
