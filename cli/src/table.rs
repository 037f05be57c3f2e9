//! The one writer of tables in words.

use std::fmt;

use crate::words::Computed;

/// A table of titles and cells. Each column is as wide as its widest cell; cells end where their columns end.
#[derive(Default)]
pub struct TextTable {
    /// Spaces before each title.
    indent: usize,
    rows: Vec<Row>,
}

struct Row {
    title: String,
    cells: Vec<String>,
    note: String,
}

impl TextTable {
    /// A table whose columns have titles.
    pub fn new(columns: &[&str]) -> Self {
        let mut table = Self {
            indent: 2,
            rows: Vec::new(),
        };
        table.row("", columns, "");
        table
    }

    /// Adds a title, cells of the first columns, and a note after them.
    pub fn row(&mut self, title: &str, cells: &[impl ToString], note: &str) {
        self.rows.push(Row {
            title: title.to_owned(),
            cells: cells.iter().map(ToString::to_string).collect(),
            note: note.to_owned(),
        });
    }

    /// Adds the cells of a value, or why there is none.
    pub fn known<T>(
        &mut self,
        title: &str,
        value: &Computed<T>,
        cells: impl Fn(&T) -> Vec<String>,
        note: &str,
    ) {
        match &value.0 {
            Ok(value) => self.row(title, &cells(value), note),
            Err(reason) => self.row(title, &["-"], &reason.to_string()),
        }
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = |texts: &mut dyn Iterator<Item = &String>| {
            let widths = texts.map(|text| text.chars().count());
            widths.max().unwrap_or(0)
        };
        let columns = self.rows.iter().map(|row| row.cells.len()).max();
        let titles = longest(&mut self.rows.iter().map(|row| &row.title));
        let widths: Vec<usize> = (0..columns.unwrap_or(0))
            .map(|at| longest(&mut self.rows.iter().filter_map(|row| row.cells.get(at))))
            .collect();
        for row in self.rows.iter().filter(|row| !row.is_empty()) {
            let mut line = format!("{:1$}{2:3$}", "", self.indent, row.title, titles);
            for (cell, width) in row.cells.iter().zip(&widths) {
                line += &format!("  {cell:>width$}");
            }
            if !row.note.is_empty() {
                line += &format!("  {}", row.note);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

impl Row {
    fn is_empty(&self) -> bool {
        let mut texts = [&self.title, &self.note].into_iter().chain(&self.cells);
        texts.all(String::is_empty)
    }
}
