//! Notes about what was read and computed. They are part of an answer, and are on standard error unless a program asks.

use std::{
    cell::{Cell, RefCell},
    fmt,
    path::Path,
};

use burn_calibration_reader::Notes;

use crate::{error::one_line, words::complain};

thread_local! {
    /// The notes of the work of this thread.
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Whether a program keeps them.
    static ARE_KEPT: Cell<bool> = const { Cell::new(false) };
}

/// Says a note on one line.
pub fn note(text: impl fmt::Display) {
    let text = one_line(&text.to_string());
    if !are_kept() {
        complain(&text);
    }
    SAID.with_borrow_mut(|said| said.push(text));
}

/// The notes that the work of this thread said so far.
pub fn said() -> Vec<String> {
    SAID.with_borrow(Clone::clone)
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
    ARE_KEPT.get()
}

/// Runs work, and returns its result with the notes that it says on this thread.
pub fn kept<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let before = (SAID.take(), ARE_KEPT.replace(true));
    let result = work();
    ARE_KEPT.set(before.1);
    (result, SAID.replace(before.0))
}
