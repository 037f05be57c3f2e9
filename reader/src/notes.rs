//! What was taken for what, for people to read.

use std::{fmt, path::Path};

/// Notes about how files were read, in their order. Whoever reads a file says them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes(pub Vec<String>);

impl Notes {
    /// Adds a note.
    pub fn add(&mut self, note: impl fmt::Display) {
        self.0.push(note.to_string());
    }

    /// Adds a note about a file.
    pub fn say(&mut self, path: &Path, what: impl fmt::Display) {
        self.add(format_args!("{}: {what}", path.display()));
    }
}
