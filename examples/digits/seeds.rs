use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

/// The results of a function of the seed, in their order: one thread a core, each taking the next
/// seed.
pub fn for_each_seed<T: Send>(seeds: Range<u64>, f: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(seeds.start);
    let work = || {
        let mut results = vec![];
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !seeds.contains(&seed) {
                return results;
            }
            results.push((seed, f(seed)));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut results = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let results = threads.into_iter().flat_map(|thread| match thread.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect::<Vec<_>>()
    });
    results.sort_by_key(|(seed, _)| *seed);
    results.into_iter().map(|(_, result)| result).collect()
}
