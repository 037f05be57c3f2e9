//! Work for several threads. The threads themselves are compiled once, and not once for each place that has
//! work for them: they were a fifth of the machine code of the library.

use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

use rayon::prelude::*;

/// The number of numbers that is worth a thread.
const WORTH_A_THREAD: usize = 1 << 15;

/// Calls a function with each of `0..count`, on all threads.
fn for_each(count: usize, of: &(dyn Fn(usize) + Sync)) {
    if count < 2 {
        (0..count).for_each(of);
    } else {
        (0..count).into_par_iter().for_each(of);
    }
}

/// The values of a function at `0..count`, in this order.
pub(crate) fn map<R: Send>(count: usize, of: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each(count, &|i| {
        let result = of(i);
        *results[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let results = results.into_iter().map(|result| {
        let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        result.expect("each number had its turn")
    });
    results.collect()
}

/// The values of a function at each item, which it may change, in their order.
pub(crate) fn map_mut<T: Send, R: Send>(
    items: &mut [T],
    of: &(dyn Fn(&mut T) -> R + Sync),
) -> Vec<R> {
    let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    map(items.len(), &|i| {
        of(&mut items[i].lock().unwrap_or_else(PoisonError::into_inner))
    })
}

/// Samples of a sum of its own: the parts are the same, in the same order, whatever the number of threads.
const PART: usize = 1 << 14;

/// Sums over `0..samples`, each of `width` numbers, on all threads.
pub(crate) fn sums<const K: usize>(
    samples: usize,
    width: usize,
    add: impl Fn(usize, &mut [Vec<f64>; K]) + Sync,
) -> [Vec<f64>; K] {
    let zeros = || std::array::from_fn(|_| vec![0.0; width]);
    let part = |part: usize| {
        let mut sums = zeros();
        (part * PART..samples.min((part + 1) * PART)).for_each(|i| add(i, &mut sums));
        sums
    };
    let parts: Vec<[Vec<f64>; K]> = map(samples.div_ceil(PART), &part);
    let mut sums = zeros();
    for part in &parts {
        for (sums, part) in sums.iter_mut().zip(part) {
            sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
    }
    sums
}

/// Calls `f` with the index of each chunk of `size` numbers and the chunk; `cost` numbers are read for
/// each that is written. On several threads if there is much to do.
pub(crate) fn for_each_chunk<T: Send>(
    numbers: &mut [T],
    size: usize,
    cost: usize,
    f: impl Fn((usize, &mut [T])) + Sync,
) {
    if numbers.len() * cost < 2 * WORTH_A_THREAD {
        numbers.chunks_mut(size).enumerate().for_each(f);
    } else {
        on_threads(numbers, size, WORTH_A_THREAD.div_ceil(size * cost), &f);
    }
}

/// The function that each chunk is given to.
type Of<'a, T> = dyn Fn((usize, &mut [T])) + Sync + 'a;

fn on_threads<T: Send>(numbers: &mut [T], size: usize, at_once: usize, f: &Of<T>) {
    let chunks = numbers.par_chunks_mut(size).with_min_len(at_once);
    chunks.enumerate().for_each(f);
}

/// Below so many coordinates of pairs a pass is done by the calling thread.
const WORTH_THREADS: usize = 1 << 18;

/// The most shares of the tiles of a pass, and so the most threads that have work. A constant, not the number of threads
/// of this machine: a sum over shares would depend on it.
const SHARES: usize = 16;

/// The most threads for the pairs of `n` vectors of `d` coordinates in so many tiles of rows, however many there are:
/// one if there is little to do.
pub(crate) fn threads_for(n: usize, d: usize, tiles: usize) -> usize {
    if n * n * d < WORTH_THREADS {
        1
    } else {
        SHARES.min(tiles)
    }
}

/// Calls `step(share, tile)` for each tile, of which the first have the most to do, on at most so many threads; the
/// merged shares, one for each of these threads whether it is there or not. Which tiles are in a share, and in which
/// order shares are merged, depends on their numbers alone: so the result is the same for any number of threads. On one
/// thread about `log₂` of the shares are in memory at once.
pub(crate) fn fold_tiles<S: Send>(
    tiles: usize,
    threads: usize,
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, usize) + Sync,
    merge: impl Fn(&mut S, S) + Sync,
) -> S {
    let share = |number: usize| {
        let mut share = start();
        // forwards and backwards in turn
        for round in 0..tiles.div_ceil(threads) {
            let tile = match round % 2 {
                0 => round * threads + number,
                _ => (round + 1) * threads - 1 - number,
            };
            if tile < tiles {
                step(&mut share, tile);
            }
        }
        share
    };
    merged(0..threads.max(1), &share, &merge)
}

/// Halves of a range one after the other, each on its own thread where one is free.
fn merged<S: Send>(
    numbers: Range<usize>,
    share: &(dyn Fn(usize) -> S + Sync),
    merge: &(dyn Fn(&mut S, S) + Sync),
) -> S {
    if numbers.len() == 1 {
        return share(numbers.start);
    }
    let middle = numbers.start + numbers.len() / 2;
    let [mut first, mut second] = [None, None];
    both(
        &mut || first = Some(merged(numbers.start..middle, share, merge)),
        &mut || second = Some(merged(middle..numbers.end, share, merge)),
    );
    let mut all = first.expect("the first half was computed");
    merge(&mut all, second.expect("the second half was computed"));
    all
}

/// Calls both functions, on two threads if another one is free.
fn both(first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    rayon::join(first, second);
}
