use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::Result;

/// `f(0), …, f(count − 1)` in their order, on all cores, with a progress bar.
pub fn map<T: Send>(
    name: &str,
    count: usize,
    f: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len}, {eta} left");
    let progress = ProgressBar::new(count as u64) // drawn on stderr, on a terminal only
        .with_style(style.expect("a valid template"))
        .with_message(name.to_owned());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return Ok(done);
            }
            done.push((index, f(index)?));
            progress.inc(1);
        }
    };
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    let parts: Vec<Result<Vec<(usize, T)>>> = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |handle: thread::ScopedJoinHandle<_>| handle.join().expect("no panic");
        handles.into_iter().map(join).collect()
    });
    progress.finish_and_clear();
    let mut results = Vec::with_capacity(count);
    for part in parts {
        results.extend(part?);
    }
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
