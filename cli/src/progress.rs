use std::{
    fmt::Write,
    io::IsTerminal,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Progress on standard error, if that is a terminal, once the work has taken two seconds: a bar of the
/// steps by their cost, the time that has passed, and an estimate of what is left.
pub struct Progress {
    bar: ProgressBar,
    /// The cost of the current step.
    current: AtomicU64,
}

/// Work that shows nothing.
const QUICK: Duration = Duration::from_secs(2);
/// Between one picture and the next.
const TICK: Duration = Duration::from_millis(200);

impl Progress {
    /// Starts the progress of steps that cost so much together, in any unit; 0 where that is not known.
    pub fn new(total: u64) -> Self {
        let template = if total == 0 {
            "{spinner} {elapsed}: {msg}"
        } else {
            "{spinner} {bar:30} {percent:>3} %, {elapsed}, {left}: {msg}"
        };
        let style = ProgressStyle::with_template(template).expect("a valid template");
        let style = style.with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            let _ = if state.pos() == 0 {
                out.write_str("time left unknown")
            } else {
                write!(out, "about {} left", HumanDuration(state.eta()))
            };
        });
        let hidden = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(Some(total), hidden).with_style(style);
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
        Self {
            bar,
            current: AtomicU64::new(0),
        }
    }

    /// Ends the step before, and begins one of a cost.
    pub fn step(&self, title: &str, cost: u64) {
        self.bar.inc(self.current.swap(cost, Ordering::Relaxed));
        self.bar.set_message(title.to_owned());
    }

    /// Says how many of `total` equal steps are done.
    pub fn at(&self, done: u64, total: u64, title: String) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(title);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Costs of steps on `n` samples, in pairs of samples.
#[derive(Clone, Copy)]
pub struct Costs {
    n: u64,
}

impl Costs {
    pub fn new(n: usize) -> Self {
        Self { n: n as u64 }
    }

    pub fn linear(self) -> u64 {
        100 * self.n
    }

    pub fn quadratic(self) -> u64 {
        self.n * self.n
    }

    /// The cost of so many redraws.
    pub fn redraws(self, count: u32) -> u64 {
        u64::from(count).saturating_mul(self.n)
    }
}
