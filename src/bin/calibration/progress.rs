use std::{cell::Cell, fmt::Write, io::IsTerminal, thread, time::Duration};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Progress on standard error, if that is a terminal, once the work has taken two seconds: a bar of the
/// steps by their cost, the time that has passed, and an estimate of what is left.
pub struct Progress {
    bar: ProgressBar,
    /// The cost of the step that is being worked on.
    current: Cell<u64>,
}

/// Work that shows nothing.
const QUICK: Duration = Duration::from_secs(2);
/// Between one picture and the next.
const TICK: Duration = Duration::from_millis(200);

impl Progress {
    /// Of steps that cost so much together, in any unit; 0 where that is not known.
    pub fn new(total: u64) -> Self {
        let template = match total {
            0 => "{spinner} {elapsed}: {msg}",
            _ => "{spinner} {bar:30} {percent:>3} %, {elapsed}, {left}: {msg}",
        };
        let style = ProgressStyle::with_template(template).expect("a valid template");
        let style = style.with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            let left = left(state.elapsed(), state.pos(), state.len().unwrap_or(0));
            let _ = out.write_str(&left);
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
            current: Cell::new(0),
        }
    }

    /// Ends the step before, and begins one of a cost.
    pub fn step(&self, title: &str, cost: u64) {
        self.bar.inc(self.current.replace(cost));
        self.bar.set_message(title.to_owned());
    }

    /// So many of equal steps are done, of `total`.
    pub fn at(&self, done: u64, total: u64, title: String) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(title);
    }
}

/// What the steps that are left take, if they cost what those before did.
fn left(elapsed: Duration, done: u64, total: u64) -> String {
    match done {
        0 => "time left unknown".into(),
        _ => {
            let share = total.saturating_sub(done) as f64 / done as f64;
            let left = Duration::from_secs_f64((elapsed.as_secs_f64() * share).min(1e9));
            format!("about {} left", HumanDuration(left))
        }
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

    /// Of so many redraws.
    pub fn redraws(self, count: u32) -> u64 {
        u64::from(count).saturating_mul(self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left() {
        let left = |done, total| left(Duration::from_secs(30), done, total);
        assert_eq!(left(0, 9), "time left unknown");
        assert_eq!(left(1, 3), "about 60 seconds left");
        assert_eq!(left(3, 3), "about 0 seconds left");
        assert_eq!(left(4, 3), "about 0 seconds left");
    }
}
