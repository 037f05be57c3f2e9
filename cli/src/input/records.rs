//! Rows of text: cells between delimiters, within quotes or not.

use std::io::{BufRead, BufReader, Chain, Cursor, Read};

use super::{
    cells::Cells,
    clipped,
    limits::{LONGEST_CELL, LONGEST_ROW, MOST_COLUMNS},
};
use crate::error::{Result, ensure, wrong};

/// What is between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    Char(u8),
    /// Spaces and tabs, any number of them.
    Spaces,
    /// Nothing: there is one cell.
    None,
}

/// The cells of a row, and the line that it begins at, from 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    pub line: u64,
    pub cells: Cells,
}

/// The rows of a text whose delimiter is found in its first two rows. Quotes are read here, and not by the
/// crate `csv`: that has no delimiter of any number of spaces, takes a quote after a space for text, and
/// does not say on which line the row after a blank line is.
pub struct Records<R> {
    reader: BufReader<Chain<Cursor<Vec<u8>>, R>>,
    delimiter: Delimiter,
    /// The last byte of a line.
    end: u8,
    /// The line that was read last, and its number.
    text: String,
    line: u64,
    has_begun: bool,
    /// Whether a blank line between the rows of a single column is a row without a value.
    blank_is_row: bool,
    /// Such lines before the line that was read last, which are still to be given.
    blanks: u64,
}

impl<R: Read> Records<R> {
    /// - `blank_is_row`: whether a blank line between the rows of a single column is a row without a value
    pub fn new(mut reader: R, blank_is_row: bool) -> Result<Self> {
        let mut head = Vec::new();
        let most = LONGEST_CELL as u64;
        reader.by_ref().take(most).read_to_end(&mut head)?;
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3); // a mark of the order of bytes
        }
        // lines end with CR alone where the first one does
        let first = head.iter().position(|byte| b"\r\n".contains(byte));
        let is_cr = first.is_some_and(|at| head[at] == b'\r' && head.get(at + 1) != Some(&b'\n'));
        let end = if is_cr { b'\r' } else { b'\n' };
        let text = String::from_utf8_lossy(&head);
        let mut lines = text.split_inclusive(char::from(end)).peekable();
        let said = lines.peek().and_then(|line| Delimiter::said_by_excel(line));
        let mut skipped = u64::from(said.is_some());
        lines.next_if(|_| said.is_some());
        // numpy.savetxt writes a header as a comment
        let is_skipped = |line: &&str| line.starts_with('#') || line.trim().is_empty();
        while lines.next_if(is_skipped).is_some() {
            skipped += 1;
        }
        let (mut rows, mut row) = (Vec::new(), String::new());
        while rows.len() < 2
            && let Some(line) = lines.next()
        {
            row.push_str(line);
            if !row.trim().is_empty() && row.matches('"').count() % 2 == 0 {
                rows.push(std::mem::take(&mut row));
            }
        }
        rows.extend(Some(row).filter(|row| !row.trim().is_empty()));
        let mut records = Self {
            delimiter: said.unwrap_or_else(|| Delimiter::of(&rows)),
            reader: BufReader::with_capacity(1 << 16, Cursor::new(head).chain(reader)),
            end,
            text: String::new(),
            line: 0,
            has_begun: false,
            blank_is_row,
            blanks: 0,
        };
        for _ in 0..skipped {
            records.read_line()?;
        }
        Ok(records)
    }

    /// Reads the next line; tells whether there is one.
    fn read_line(&mut self) -> Result<bool> {
        self.line += 1;
        let line = self.line;
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        let mut reader = self.reader.by_ref().take(LONGEST_ROW as u64 + 1);
        let read = reader.read_until(self.end, &mut bytes)?;
        let most = LONGEST_ROW >> 20;
        ensure!(read <= LONGEST_ROW, "line {line} is longer than {most} MiB");
        while bytes.pop_if(|byte| matches!(byte, b'\n' | b'\r')).is_some() {}
        let text = String::from_utf8(bytes).map_err(|_| wrong!("line {line}: no text in UTF-8"))?;
        self.text = text;
        Ok(read > 0)
    }

    /// Reads the next row into a record; tells whether there is one.
    pub fn read(&mut self, record: &mut Record) -> Result<bool> {
        let mut empty = None;
        if self.blanks == 0 {
            loop {
                if !self.read_line()? {
                    return Ok(false);
                }
                if !self.text.trim().is_empty() {
                    break;
                }
                empty.get_or_insert(self.line);
            }
        }
        // in a single column a blank line may be a value that is missing
        let is_doubtful = self.has_begun && self.delimiter == Delimiter::None;
        if let Some(empty) = empty.filter(|_| is_doubtful) {
            ensure!(
                self.blank_is_row,
                "line {empty} is empty, expected a row on each line; --skip-missing leaves out rows without a value"
            );
            self.blanks = self.line - empty + 1;
        }
        self.has_begun = true;
        self.blanks = self.blanks.saturating_sub(1);
        let line = self.line;
        record.line = line - self.blanks;
        record.cells.clear();
        if self.blanks > 0 {
            record.cells.push_field("");
            return Ok(true);
        }
        self.split(&mut record.cells)
            .map_err(|reason| wrong!("line {line}: {reason}"))?;
        Ok(true)
    }

    /// Splits a row into cells, which within quotes may go over several lines.
    fn split(&mut self, cells: &mut Cells) -> Result<()> {
        let delimiter = self.delimiter;
        let is_blank =
            |byte: u8| byte == b' ' || byte == b'\t' && delimiter != Delimiter::Char(b'\t');
        let (mut at, mut quoted) = (0, String::new());
        loop {
            at += count(&self.text[at..], is_blank);
            if delimiter == Delimiter::Spaces && at == self.text.len() {
                return Ok(());
            }
            quoted.clear();
            let is_quoted = self.text[at..].starts_with('"');
            if is_quoted {
                at = self.unquote(at + 1, &mut quoted)?;
            }
            let end = at + count(&self.text[at..], |byte| !delimiter.is(byte));
            let plain = self.text[at..end].trim();
            if is_quoted {
                let rest = self.text[at..].trim_start();
                ensure!(plain.is_empty(), "after a quote {:?}", clipped(rest));
                cells.push_field(&quoted);
            } else {
                cells.push_field(plain);
            }
            ensure!(
                cells.len() <= MOST_COLUMNS,
                "expected at most {MOST_COLUMNS} columns"
            );
            ensure!(
                cells.as_byte_record().as_slice().len() <= LONGEST_ROW,
                "a row that is too long"
            );
            if end == self.text.len() {
                return Ok(());
            }
            at = end + 1;
        }
    }

    /// Reads what is within quotes, from a place in the line on; gives the place after it.
    fn unquote(&mut self, mut at: usize, cell: &mut String) -> Result<usize> {
        loop {
            let rest = &self.text[at..];
            if let Some((before, after)) = rest.split_once('"') {
                cell.push_str(before);
                at += before.len() + 1;
                if !after.starts_with('"') {
                    return Ok(at);
                }
                cell.push('"');
                at += 1;
            } else {
                cell.push_str(rest);
                cell.push('\n');
                let is_long = cell.len() > LONGEST_CELL;
                let is_closed = !is_long && self.read_line()?;
                ensure!(is_closed, "a quote that nothing closes");
                at = 0;
            }
        }
    }
}

/// The number of bytes at the beginning of a text that are such.
fn count(text: &str, is_such: impl Fn(u8) -> bool) -> usize {
    let end = text.bytes().position(|byte| !is_such(byte));
    end.unwrap_or(text.len())
}

impl Delimiter {
    fn is(self, byte: u8) -> bool {
        match self {
            Self::Char(delimiter) => byte == delimiter,
            Self::Spaces => byte == b' ' || byte == b'\t',
            Self::None => false,
        }
    }

    /// That of a first line `sep=;`, which is for Excel.
    fn said_by_excel(line: &str) -> Option<Self> {
        match line
            .trim_end_matches(['\r', '\n'])
            .strip_prefix("sep=")?
            .as_bytes()
        {
            [delimiter] if delimiter.is_ascii() => Some(Self::Char(*delimiter)),
            _ => None,
        }
    }

    /// The delimiter of the first rows: a tab, a semicolon, a comma, or spaces between numbers, rather in
    /// all rows than in the last alone, since a header may say anything.
    fn of(rows: &[String]) -> Self {
        let outside = |row: &String| row.split('"').step_by(2).collect::<String>();
        let outsides: Vec<String> = rows.iter().map(outside).collect();
        let (Some(line), Some(outside)) = (rows.last(), outsides.last()) else {
            return Self::None;
        };
        let is_in = |row: &String, delimiter: u8| row.contains(char::from(delimiter));
        let in_all = |delimiter: &u8| outsides.iter().all(|row| is_in(row, *delimiter));
        let in_last = |delimiter: &u8| is_in(outside, *delimiter);
        let delimiters = || b"\t;,".iter().copied();
        if let Some(found) = delimiters().find(in_all).or(delimiters().find(in_last)) {
            return Self::Char(found);
        }
        let words: Vec<&str> = outside.split_whitespace().collect();
        let numbers = words.iter().filter(|word| word.parse::<f64>().is_ok());
        let (numbers, quoted) = (numbers.count(), line.matches('"').count() / 2);
        // a name may stand at the end, or at the beginning in quotes
        let are_several = words.len() + quoted > 1 && numbers > 0;
        if are_several && numbers + usize::from(numbers > 1) >= words.len() {
            Self::Spaces
        } else {
            Self::None
        }
    }
}
