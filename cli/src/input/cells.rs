//! A column of text, and where rows stand in a file.

/// Text of each row, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells {
    text: String,
    ends: Vec<usize>,
}

impl Cells {
    pub fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of text, without the place of each row.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The text of a row.
    pub fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[row]]
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|row| self.get(row))
    }
}

/// The column that names rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ids {
    /// The name of the column; empty without one.
    pub name: String,
    pub cells: Cells,
}

impl<T: ToString> FromIterator<T> for Cells {
    fn from_iter<I: IntoIterator<Item = T>>(cells: I) -> Self {
        let mut all = Self::default();
        cells
            .into_iter()
            .for_each(|cell| all.push(&cell.to_string()));
        all
    }
}

/// The lines of rows, from 1; none in files without lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lines {
    /// Rows whose line is not the one after that of the row before.
    jumps: Vec<(usize, u64)>,
}

impl Lines {
    pub fn push(&mut self, row: usize, line: u64) {
        if self.of(row) != Some(line) {
            self.jumps.push((row, line));
        }
    }

    /// The line of a row.
    pub fn of(&self, row: usize) -> Option<u64> {
        let at = self.jumps.partition_point(|(first, _)| *first <= row);
        let (first, line) = self.jumps[..at].last()?;
        Some(line + (row - first) as u64)
    }

    /// Names a row, with its line.
    pub fn name(&self, row: usize) -> String {
        match self.of(row) {
            Some(line) => format!("row {row} (line {line})"),
            None => format!("row {row}"),
        }
    }
}
