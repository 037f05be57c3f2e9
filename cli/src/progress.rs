//! Progress on standard error.

use std::{io::IsTerminal, thread, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress on standard error, if that is a terminal, once the work has taken two seconds: a bar of the
/// steps, the time that has passed, and an estimate of what is left.
pub struct Progress(ProgressBar);

const TEMPLATE: &str = "{spinner} {bar:30} {pos} of {len}, {elapsed}, about {eta} left: {msg}";
/// Work that shows nothing.
const QUICK: Duration = Duration::from_secs(2);
/// Between one picture and the next.
const TICK: Duration = Duration::from_millis(200);

impl Progress {
    pub fn new(steps: usize) -> Self {
        let style = ProgressStyle::with_template(TEMPLATE).expect("a valid template");
        let hidden = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(Some(steps as u64), hidden).with_style(style);
        if std::io::stderr().is_terminal() {
            let bar = bar.clone();
            thread::spawn(move || {
                thread::sleep(QUICK);
                if !bar.is_finished() {
                    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
                    bar.enable_steady_tick(TICK);
                }
            });
        }
        Self(bar)
    }

    /// Ends the step before, and begins another.
    pub fn step(&self, title: &str) {
        if !self.0.message().is_empty() {
            self.0.inc(1);
        }
        self.0.set_message(title.to_owned());
    }

    /// Says how many of `total` equal steps are done.
    pub fn at(&self, done: usize, total: usize, title: String) {
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
        self.0.set_message(title);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
