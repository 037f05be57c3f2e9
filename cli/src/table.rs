//! Tables in words.

use std::fmt;

use burn_calibration::names::Name;

use crate::words::Known;

/// A table of titles and cells, whose columns have widths.
pub struct TextTable<const N: usize> {
    /// Spaces before each title.
    indent: usize,
    /// The width of the titles.
    titles: usize,
    /// The widths of the cells, which end where their columns end.
    cells: [usize; N],
}

impl<const N: usize> TextTable<N> {
    pub fn new(indent: usize, titles: usize, cells: [usize; N]) -> Self {
        Self {
            indent,
            titles,
            cells,
        }
    }

    /// The titles of the columns.
    pub fn head(&self, f: &mut fmt::Formatter, columns: [&str; N]) -> fmt::Result {
        self.line(f, "", &columns, "")
    }

    /// A title, cells of the first columns, and a note after them.
    pub fn line(
        &self,
        f: &mut fmt::Formatter,
        title: &str,
        cells: &[impl fmt::Display],
        note: &str,
    ) -> fmt::Result {
        let (indent, titles) = (self.indent, self.titles);
        write!(f, "{:indent$}{title:titles$}", "")?;
        for (cell, width) in cells.iter().zip(self.cells) {
            write!(f, " {cell:>width$}")?;
        }
        if !note.is_empty() {
            write!(f, "  {note}")?;
        }
        writeln!(f)
    }

    /// The cells of a value, or why there is none.
    pub fn known<T>(
        &self,
        f: &mut fmt::Formatter,
        title: &str,
        value: &Known<T>,
        cells: impl Fn(&T) -> Vec<String>,
        note: &str,
    ) -> fmt::Result {
        match &value.0 {
            Ok(value) => self.line(f, title, &cells(value), note),
            Err(reason) => self.line(f, title, &["-"], &reason.to_string()),
        }
    }
}

/// The width of a column of titles.
pub fn title_width<'a>(names: impl Iterator<Item = &'a Name>) -> usize {
    let widths = names.map(|name| name.title.chars().count());
    widths.fold(38, usize::max)
}
