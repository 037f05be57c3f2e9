//! Progress on standard error, and to programs.

use std::{fmt, io::IsTerminal, sync::Arc, thread, time::Duration};

use burn_calibration::recalibration::FitProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::notes;

/// Progress on standard error, if that is a terminal and no program asks, once the work has taken two seconds: a bar of the
/// steps, the time that has passed, and an estimate of what is left.
pub struct Progress {
    bar: ProgressBar,
    watcher: Watcher,
}

/// The progress callback of a program: it gets the title of each step before it begins, its number from 0, and how many
/// steps there are. There is none by default.
#[derive(Clone, Default)]
pub struct Watcher(Option<Arc<Watch>>);

type Watch = dyn Fn(&str, u64, u64) + Send + Sync;

impl Watcher {
    pub fn new(callback: impl Fn(&str, u64, u64) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(callback)))
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("Watcher").field(&self.0.is_some()).finish()
    }
}

const TEMPLATE: &str = "{spinner} {bar:30} {pos} of {len}, {elapsed}, about {eta} left: {msg}";
/// Work that shows nothing.
const QUICK: Duration = Duration::from_secs(2);
/// Between one picture and the next.
const TICK: Duration = Duration::from_millis(200);

impl Progress {
    pub fn new(steps: usize) -> Self {
        Self::watched(steps, &Watcher::default())
    }

    pub fn watched(steps: usize, watcher: &Watcher) -> Self {
        let style = ProgressStyle::with_template(TEMPLATE).expect("a valid template");
        let hidden = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(Some(steps as u64), hidden).with_style(style);
        if std::io::stderr().is_terminal() && !notes::are_kept() {
            let bar = bar.clone();
            thread::spawn(move || {
                thread::sleep(QUICK);
                if !bar.is_finished() {
                    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
                    bar.enable_steady_tick(TICK);
                }
            });
        }
        let watcher = watcher.clone();
        Self { bar, watcher }
    }

    /// Ends the step before, and begins another.
    pub fn step(&self, title: &str) {
        if !self.bar.message().is_empty() {
            self.bar.inc(1);
        }
        self.bar.set_message(title.to_owned());
        if let Some(callback) = &self.watcher.0 {
            callback(title, self.bar.position(), self.bar.length().unwrap_or(0));
        }
    }

    /// Says how many of `total` equal steps are done.
    pub fn at(&self, done: usize, total: usize, title: String) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(title);
    }

    /// Shows where a fit is.
    pub fn of_fit(&self, at: FitProgress) {
        let title = format!("evaluation {}: {:.6}", at.evaluations, at.objective);
        self.at(at.fit - 1, at.fits, title);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
