use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error, if that is a terminal, once the work has taken a second.
pub fn progress(steps: u64) -> ProgressBar {
    let target = match std::io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr_with_hz(5),
        false => ProgressDrawTarget::hidden(),
    };
    let style =
        ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("a valid template");
    ProgressBar::with_draw_target(Some(steps), target).with_style(style)
}
