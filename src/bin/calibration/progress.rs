use std::{
    fmt::Write,
    io::IsTerminal,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Progress on standard error, if that is a terminal, once the work has taken two seconds: a bar of the
/// steps by their cost, the time that has passed, and an estimate of what is left.
pub struct Progress {
    bar: ProgressBar,
    at: Arc<Mutex<At>>,
}

/// Where the work is.
#[derive(Clone, Copy)]
struct At {
    began: Instant,
    /// When the current step began.
    stepped: Instant,
    /// Costs: of the steps that are done, of the current one, and of all.
    done: u64,
    current: u64,
    total: u64,
}

/// Work that shows nothing.
const QUICK: Duration = Duration::from_secs(2);
/// Between one picture and the next.
const TICK: Duration = Duration::from_millis(200);

impl Progress {
    /// Starts the progress of steps that cost so much together, in any unit; 0 where that is not known.
    pub fn new(total: u64) -> Self {
        let template = match total {
            0 => "{spinner} {elapsed}: {msg}",
            _ => "{spinner} {bar:30} {percent:>3} %, {elapsed}, {left}: {msg}",
        };
        let style = ProgressStyle::with_template(template).expect("a valid template");
        let now = Instant::now();
        let at = Arc::new(Mutex::new(At {
            began: now,
            stepped: now,
            done: 0,
            current: 0,
            total,
        }));
        let shown = at.clone();
        let style = style.with_key("left", move |_: &ProgressState, out: &mut dyn Write| {
            let at = *shown.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = out.write_str(&at.left(Instant::now()));
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
        Self { bar, at }
    }

    /// Ends the step before, and begins one of a cost.
    pub fn step(&self, title: &str, cost: u64) {
        self.update(title.to_owned(), |at| {
            (at.done, at.current) = (at.done + at.current, cost);
        });
    }

    /// Says how many of `total` equal steps are done.
    pub fn at(&self, done: u64, total: u64, title: String) {
        self.update(title, |at| {
            (at.done, at.current, at.total) = (done, 1, total);
        });
    }

    fn update(&self, title: String, change: impl FnOnce(&mut At)) {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let before = at.done;
        change(&mut at);
        if at.done != before {
            at.stepped = Instant::now();
        }
        let (done, total) = (at.done, at.total);
        drop(at); // drawing asks for it
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(title);
    }
}

impl At {
    /// What is left, if it costs what the steps before did: at least what follows the current step.
    fn left(&self, now: Instant) -> String {
        if self.done == 0 {
            return "time left unknown".into();
        }
        let second = (self.stepped - self.began).as_secs_f64() / self.done as f64;
        let seconds = |cost: u64| second * self.total.saturating_sub(cost) as f64;
        let left = seconds(self.done) - (now - self.stepped).as_secs_f64();
        let left = left.max(seconds(self.done + self.current)).min(1e9);
        format!(
            "about {} left",
            HumanDuration(Duration::from_secs_f64(left))
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left() {
        let began = Instant::now();
        let left = |done, current, total, passed| {
            let stepped = began + Duration::from_secs(30);
            let at = At {
                began,
                stepped,
                done,
                current,
                total,
            };
            at.left(stepped + Duration::from_secs(passed))
        };
        assert_eq!(left(0, 3, 9, 0), "time left unknown");
        assert_eq!(left(1, 1, 3, 0), "about 60 seconds left");
        assert_eq!(left(1, 1, 3, 20), "about 40 seconds left");
        assert_eq!(left(1, 1, 3, 100), "about 30 seconds left");
        assert_eq!(left(3, 0, 3, 0), "about 0 seconds left");
        assert_eq!(left(4, 1, 3, 0), "about 0 seconds left");
    }
}
