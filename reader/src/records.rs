//! The rows of a text, by the crate `csv-core`.

use std::{io::Read, mem, str};

use csv_core::{ReadRecordResult, Terminator};

use crate::{
    Cells, OpenOptions,
    error::{Result, ensure, wrong},
    limits::{LONGEST_ROW, MOST_COLUMNS},
    lines::Lines,
};

/// The cells of a row, and the line at which it begins, from 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    pub line: u64,
    pub cells: Cells,
}

/// Delimiters that are found in the first line; others are named by `--delimiter`.
const DELIMITERS: [u8; 3] = *b"\t;,";

/// A byte that stands in no text: that between the cells of a table of one column.
const NONE: u8 = 0x1f;

/// The rows of a text.
pub struct Records {
    /// At first before the first row, and then behind the one that was read last.
    lines: Lines,
    has_begun: bool,
    csv: Box<csv_core::Reader>,
    /// The delimiter of cells; none if there is one column.
    delimiter: Option<u8>,
    /// Whether a blank line between the rows of a single column is a row without a value.
    blank_is_row: bool,
    /// Blank lines that are still to be given as rows, and the row after them.
    waiting: Option<(u64, Record)>,
    /// The bytes of the cells of a row, one after the other, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Records {
    /// Finds the first line that is neither blank nor a comment, such as a header of numpy.savetxt.
    pub fn new(reader: Box<dyn Read>, options: &OpenOptions) -> Result<Self> {
        let mut lines = Lines::new(reader);
        let is_left_out = |text: &[u8]| text.starts_with(b"#") || text.trim_ascii().is_empty();
        while lines.advance()? && is_left_out(&lines.text) {}
        let delimiter = options.delimiter.or_else(|| delimiter_of(&lines.text));
        let csv = csv_core::ReaderBuilder::new()
            .delimiter(delimiter.unwrap_or(NONE))
            .terminator(Terminator::Any(b'\n'))
            .build();
        Ok(Self {
            lines,
            has_begun: false,
            csv: csv.into(),
            delimiter,
            blank_is_row: options.blank_is_row,
            waiting: None,
            bytes: Vec::new(),
            ends: Vec::new(),
        })
    }

    /// The delimiter that was found in the first line, in words about the cells; empty of one that is named.
    pub fn delimiter_in_words(&self, options: &OpenOptions) -> String {
        let found = self.delimiter.filter(|_| options.delimiter.is_none());
        let words = |byte| {
            let found = char::from(byte);
            format!(
                "; {found:?} in line 1 separates cells, and --delimiter names another character"
            )
        };
        found.map_or_else(String::new, words)
    }

    /// Reads the next row; returns whether there is one.
    pub fn read(&mut self, record: &mut Record) -> Result<bool> {
        match self.waiting.take() {
            None => {}
            Some((0, next)) => {
                *record = next;
                return Ok(true);
            }
            Some((blanks, next)) => {
                record.line = next.line - blanks;
                record.cells = vec![""].into();
                self.waiting = Some((blanks - 1, next));
                return Ok(true);
            }
        }
        let mut blanks = 0;
        while mem::replace(&mut self.has_begun, true) && self.lines.advance()? && self.is_blank() {
            blanks += 1;
        }
        if self.lines.text.is_empty() {
            return Ok(false);
        }
        record.line = self.lines.number;
        ensure!(
            !self.lines.text.starts_with(b"# "),
            "line {} begins with # as a comment, expected a row: comments stand above the first line, and a cell that \
             begins so stands in quotes",
            record.line
        );
        self.read_cells(&mut record.cells)?;
        // in a single column a blank line may be a value that is missing
        if blanks > 0 && self.delimiter.is_none() {
            ensure!(
                self.blank_is_row,
                "line {} is empty, expected a row on each line; --skip-missing leaves out rows without a value",
                record.line - blanks
            );
            self.waiting = Some((blanks, mem::take(record)));
            return self.read(record);
        }
        Ok(true)
    }

    fn is_blank(&self) -> bool {
        let mut bytes = self.lines.text.iter();
        bytes.all(|byte| byte.is_ascii_whitespace() && Some(*byte) != self.delimiter)
    }

    /// Reads the cells of the row that begins with the line, and goes on to other lines within quotes.
    fn read_cells(&mut self, cells: &mut Cells) -> Result<()> {
        let (line, mut size, mut count) = (self.lines.number, 0, 0);
        loop {
            let text = &self.lines.text;
            let most_bytes = size + text.len();
            let most_cells = (count + text.len() + 1).min(MOST_COLUMNS + 1);
            self.bytes.resize(self.bytes.len().max(most_bytes), 0);
            self.ends.resize(self.ends.len().max(most_cells), 0);
            let (bytes, ends) = (&mut self.bytes[size..], &mut self.ends[count..]);
            let (result, _, more_bytes, more_ends) = self.csv.read_record(text, bytes, ends);
            (size, count) = (size + more_bytes, count + more_ends);
            let most = LONGEST_ROW >> 20;
            ensure!(
                size <= LONGEST_ROW,
                "line {line}: a row is longer than {most} MiB: is a quote not closed?"
            );
            ensure!(
                count <= MOST_COLUMNS,
                "expected at most {MOST_COLUMNS} columns"
            );
            if result != ReadRecordResult::InputEmpty {
                break;
            }
            self.lines.advance()?;
        }
        let text = str::from_utf8(&self.bytes[..size]).ok();
        cells.clear();
        let mut start = 0;
        for &end in &self.ends[..count] {
            // bytes of two cells may be a character together, which is none in either
            let cell = text.and_then(|text| text.get(start..end));
            let cell = cell.ok_or_else(|| wrong!("line {line}: no text in UTF-8"))?;
            cells.push_field(cell.trim());
            start = end;
        }
        Ok(())
    }
}

/// The first of a tab, a semicolon and a comma that the first line has outside quotes. A comma that a header does not have
/// is that of decimals.
fn delimiter_of(line: &[u8]) -> Option<u8> {
    let outside = line.split(|byte| *byte == b'"').step_by(2);
    let outside: Vec<u8> = outside.flatten().copied().collect();
    DELIMITERS.into_iter().find(|byte| outside.contains(byte))
}
