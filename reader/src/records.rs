//! The rows of a text, by the crate `csv`.

use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

use super::{
    Cells, OpenOptions,
    limits::{LONGEST_HEAD, LONGEST_ROW, MOST_COLUMNS},
};
use crate::error::{Result, ensure, wrong};

/// The cells of a row, and the line at which it begins, from 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    pub line: u64,
    pub cells: Cells,
}

/// Delimiters that are found in the first rows; others are named by `--delimiter`.
const DELIMITERS: [u8; 3] = *b"\t;,";

/// A byte that stands in no text: that between the cells of a table of one column.
const NONE: u8 = 0x1f;

/// The rows of a text.
pub struct Records {
    reader: csv::Reader<Lines>,
    /// Whether there is one column.
    is_single: bool,
    /// Whether a blank line between the rows of a single column is a row without a value.
    blank_is_row: bool,
    /// Lines that were left out before the first row.
    skipped: u64,
    /// The line after the one that was read last.
    next: u64,
    has_begun: bool,
    /// Blank lines that are still to be given as rows, and the row after them.
    waiting: Option<(u64, Cells)>,
    /// Bytes that were read since the last row.
    unread: Rc<Cell<usize>>,
}

impl Records {
    pub fn new(mut reader: Box<dyn Read>, options: &OpenOptions) -> Result<Self> {
        let mut head = Vec::new();
        let read = reader.by_ref().take(LONGEST_HEAD).read_to_end(&mut head);
        read?;
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3); // a mark of the order of bytes
        }
        let has = |byte: u8| head.contains(&byte);
        ensure!(
            !has(b'\r') || has(b'\n'),
            "lines end with CR alone, expected LF or CR LF"
        );
        // numpy.savetxt writes a header as a comment
        let text = String::from_utf8_lossy(&head).into_owned();
        let (mut skipped, mut start) = (0, 0);
        for line in text.split_inclusive('\n') {
            if !line.starts_with('#') && !line.trim().is_empty() {
                break;
            }
            skipped += 1;
            start += line.len();
        }
        let delimiter = options.delimiter.or_else(|| sniffed(&text[start..]));
        let mut lines = head.split_inclusive(|byte| *byte == b'\n');
        let bytes: usize = lines.by_ref().take(skipped).map(<[u8]>::len).sum();
        head.drain(..bytes);
        let unread = Rc::new(Cell::new(0));
        let lines = Lines {
            reader: Box::new(io::Cursor::new(head).chain(reader)),
            ready: Vec::new(),
            at: 0,
            has_return: false,
            is_ended: false,
            unread: unread.clone(),
        };
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .delimiter(delimiter.unwrap_or(NONE))
            .terminator(csv::Terminator::Any(b'\n'))
            .from_reader(lines);
        Ok(Self {
            reader,
            is_single: delimiter.is_none(),
            blank_is_row: options.blank_is_row,
            skipped: skipped as u64,
            next: 1,
            has_begun: false,
            waiting: None,
            unread,
        })
    }

    /// Reads the next row; returns whether there is one.
    pub fn read(&mut self, record: &mut Record) -> Result<bool> {
        if let Some((blanks, cells)) = self.waiting.take() {
            record.line = self.skipped + self.next - 1 - blanks;
            if blanks > 0 {
                record.cells.clear();
                record.cells.push_field("");
                self.waiting = Some((blanks - 1, cells));
            } else {
                record.cells = cells;
            }
            return Ok(true);
        }
        let expected = self.next;
        loop {
            if !self.read_cells(&mut record.cells)? {
                return Ok(false);
            }
            // a line of spaces
            if record.cells.len() > 1 || !record.cells[0].is_empty() {
                break;
            }
        }
        let inner = record.cells.iter().map(|cell| cell.matches('\n').count());
        let line = self.next - 1 - inner.sum::<usize>() as u64;
        let blanks = line.saturating_sub(expected);
        record.line = self.skipped + line;
        // in a single column a blank line may be a value that is missing
        if blanks > 0 && self.has_begun && self.is_single {
            ensure!(
                self.blank_is_row,
                "line {} is empty, expected a row on each line; --skip-missing leaves out rows without a value",
                self.skipped + expected
            );
            let cells = std::mem::take(&mut record.cells);
            self.waiting = Some((blanks, cells));
            return self.read(record);
        }
        self.has_begun = true;
        Ok(true)
    }

    /// Reads the next cells as the crate `csv` does, which leaves out empty lines.
    fn read_cells(&mut self, cells: &mut Cells) -> Result<bool> {
        self.unread.set(0);
        let read = self.reader.read_record(cells);
        let read = read.map_err(|error| match error.kind() {
            csv::ErrorKind::Utf8 { pos, .. } => {
                let line = pos.as_ref().map_or(0, csv::Position::line) + self.skipped;
                wrong!("line {line}: no text in UTF-8")
            }
            _ => error.into(),
        })?;
        self.next = self.reader.position().line();
        ensure!(
            cells.len() <= MOST_COLUMNS,
            "expected at most {MOST_COLUMNS} columns"
        );
        Ok(read)
    }
}

/// Text whose lines all end with LF, within the limit of the bytes of a row.
struct Lines {
    reader: Box<dyn Read>,
    /// Bytes that are read, of which those before a place are given.
    ready: Vec<u8>,
    at: usize,
    /// Whether the last byte was CR, which is kept back until the next one is known.
    has_return: bool,
    is_ended: bool,
    unread: Rc<Cell<usize>>,
}

impl Lines {
    fn fill(&mut self) -> io::Result<()> {
        let mut block = [0; 1 << 16];
        let count = self.reader.read(&mut block)?;
        self.ready.clear();
        self.at = 0;
        if count == 0 && !self.is_ended {
            self.is_ended = true;
            self.ready.push(b'\n');
        }
        for &byte in &block[..count] {
            if self.has_return && byte != b'\n' {
                self.ready.push(b'\r');
            }
            self.has_return = byte == b'\r';
            if !self.has_return {
                self.ready.push(byte);
            }
        }
        self.unread.set(self.unread.get() + count);
        if self.unread.get() > LONGEST_ROW {
            let most = LONGEST_ROW >> 20;
            let reason = format!("a row is longer than {most} MiB: is a quote not closed?");
            return Err(io::Error::other(reason));
        }
        Ok(())
    }
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.ready.len() {
            let was_ended = self.is_ended;
            self.fill()?;
            if was_ended && self.ready.is_empty() {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.ready.len() - self.at);
        buffer[..count].copy_from_slice(&self.ready[self.at..][..count]);
        self.at += count;
        Ok(count)
    }
}

/// The delimiter of a text: the first of a tab, a semicolon and a comma that the first two rows have equally often, outside
/// quotes, or that a header has once less, where the first column has no name. A comma that is in no header is that of
/// decimals.
fn sniffed(text: &str) -> Option<u8> {
    let (mut rows, mut row) = (Vec::new(), String::new());
    for line in text.split_inclusive('\n') {
        row.push_str(line);
        if rows.len() == 2 {
            break;
        }
        if !row.trim().is_empty() && row.matches('"').count() % 2 == 0 {
            rows.push(std::mem::take(&mut row));
        }
    }
    if rows.is_empty() {
        rows.push(row);
    }
    let counts = |delimiter: &u8| -> Vec<usize> {
        let is_one = |c: &char| *c == char::from(*delimiter);
        let outside = |row: &String| row.split('"').step_by(2).collect::<String>();
        let count = |row: &String| outside(row).chars().filter(is_one).count();
        rows.iter().map(count).collect()
    };
    let is_found = |delimiter: &&u8| match counts(delimiter)[..] {
        [first, second] => first > 0 && (first == second || first + 1 == second),
        [only] => only > 0,
        _ => false,
    };
    let is_in_header = |delimiter: &&u8| counts(delimiter)[0] > 0;
    // rows of different lengths are an error that names them
    let mut found = DELIMITERS.iter().find(is_found);
    found = found.or_else(|| DELIMITERS.iter().find(is_in_header));
    found.copied()
}
