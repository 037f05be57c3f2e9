//! Errors of inputs, as they are printed.

pub use burn_calibration_reader::{
    Context, Error, Result,
    error::{bail, ensure, wrong},
};

/// Puts a message on one line, and removes control characters of quoted text.
pub fn one_line(reason: &str) -> String {
    const MOST: usize = 2000;
    let line: String = reason
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MOST)
        .collect();
    line.trim_end().to_owned()
}
