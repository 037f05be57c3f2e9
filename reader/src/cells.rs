//! A column of text, and where rows stand in a file.

/// Text of each row, one after the other.
pub type Cells = csv::StringRecord;

/// A column of text: labels, weights, or what names rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextColumn {
    /// The name of the column; empty without one.
    pub name: String,
    /// The position of the column.
    pub at: usize,
    /// The text of each row.
    pub cells: Cells,
    /// Whether each text is a group, also where all are numbers or say that a value is missing.
    pub are_groups: bool,
}

impl TextColumn {
    /// Keeps some rows, in the order in which they are named.
    pub fn select(&mut self, rows: &[usize]) {
        self.cells = rows.iter().map(|&row| &self.cells[row]).collect();
    }
}

/// The places of rows in a file: their numbers from 0, and, if the file has lines, their lines from 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowLines {
    /// Rows of the file whose line is not the one after that of the row before.
    jumps: Vec<(usize, u64)>,
    /// The row of the file of each row that was selected; empty where they are all, in their order.
    rows: Vec<usize>,
}

impl RowLines {
    /// Adds the line of the next row while a file is read.
    pub fn push(&mut self, row: usize, line: u64) {
        if self.of(row) != Some(line) {
            self.jumps.push((row, line));
        }
    }

    /// The row of the file.
    pub fn row(&self, row: usize) -> usize {
        self.rows.get(row).copied().unwrap_or(row)
    }

    /// The row of the file of each row that was selected; empty where they are all, in their order.
    pub fn selected(&self) -> &[usize] {
        &self.rows
    }

    /// The line of a row.
    pub fn of(&self, row: usize) -> Option<u64> {
        let row = self.row(row);
        let at = self.jumps.partition_point(|(first, _)| *first <= row);
        let (first, line) = self.jumps[..at].last()?;
        Some(line + (row - first) as u64)
    }

    /// Names a row of the file, with its line.
    pub fn name(&self, row: usize) -> String {
        match self.of(row) {
            Some(line) => format!("row {} (line {line})", self.row(row)),
            None => format!("row {}", self.row(row)),
        }
    }

    /// Returns the places of some rows.
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            jumps: self.jumps.clone(),
            rows: rows.iter().map(|&row| self.row(row)).collect(),
        }
    }
}
