//! Notes about what was read and computed: on standard error, or kept for a program.

use std::{cell::RefCell, fmt, path::Path};

use burn_calibration_reader::Notes;

use crate::error::one_line;

thread_local! {
    /// The notes of the work of this thread, where a program keeps them.
    static KEPT: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Says a note on one line.
pub fn note(text: impl fmt::Display) {
    let text = one_line(&text.to_string());
    KEPT.with_borrow_mut(|kept| match kept {
        Some(notes) => notes.push(text),
        None => eprintln!("calibration: {text}"),
    });
}

/// Says a note about a file.
pub fn say(path: &Path, what: impl fmt::Display) {
    note(format_args!("{}: {what}", path.display()));
}

/// Runs what reads files, and says its notes, also where it fails.
pub fn noted<T>(read: impl FnOnce(&mut Notes) -> T) -> T {
    let mut notes = Notes::default();
    let read = read(&mut notes);
    notes.0.iter().for_each(note);
    read
}

/// Whether a program keeps the notes of this thread, so that nothing is written to standard error.
pub fn are_kept() -> bool {
    KEPT.with_borrow(Option::is_some)
}

/// Runs work, and returns its result with the notes that it says on this thread.
pub fn kept<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let before = KEPT.replace(Some(Vec::new()));
    let result = work();
    (result, KEPT.replace(before).unwrap_or_default())
}
