use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::Result;

/// Calls a function of each item, one thread a core, each taking the next item.
///
/// A thread is the only one of its pool, so that what it calls shares its work with no other.
pub fn for_each<T: Sync>(items: &[T], f: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            pool.install(|| f(item))?;
        }
        Ok(())
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let join = |thread: thread::ScopedJoinHandle<_>| {
            thread.join().unwrap_or_else(|p| resume_unwind(p))
        };
        threads.into_iter().try_for_each(join)
    })
}
