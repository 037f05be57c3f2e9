//! Rows of text: cells between delimiters, within quotes or not.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
    ops::Range,
};

use super::{
    clipped,
    limits::{LONGEST_CELL, LONGEST_ROW, MOST_COLUMNS},
};
use crate::error::{Result, bail, ensure, wrong};

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
    text: String,
    cells: Vec<Range<usize>>,
}

impl Record {
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn cell(&self, column: usize) -> &str {
        &self.text[self.cells[column].clone()]
    }

    pub fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|column| self.cell(column))
    }
}

/// The rows of a text whose delimiter is found in its first two lines. Quotes are read here, and not by the
/// crate `csv`: that has no delimiter of any number of spaces, takes a quote after a space for text, and
/// does not say on which line the row after a blank line is.
pub struct Records<R> {
    reader: BufReader<R>,
    delimiter: Delimiter,
    /// The number of the last line that was read.
    line: u64,
    /// Lines that were read ahead.
    ahead: VecDeque<(u64, String)>,
    has_begun: bool,
}

impl<R: Read> Records<R> {
    pub fn new(reader: R) -> Result<Self> {
        let mut records = Self {
            reader: BufReader::with_capacity(1 << 16, reader),
            delimiter: Delimiter::None,
            line: 0,
            ahead: VecDeque::new(),
            has_begun: false,
        };
        let (mut ahead, mut rows, mut row) = (VecDeque::new(), Vec::new(), String::new());
        let mut said = None;
        while rows.len() < 2
            && row.len() <= LONGEST_CELL
            && let Some((line, mut text)) = records.read_line()?
        {
            if line == 1 {
                text = text.trim_start_matches('\u{feff}').to_owned();
                said = Delimiter::said_by_excel(&text);
                if said.is_some() {
                    continue;
                }
            }
            // numpy.savetxt writes a header as a comment
            if row.is_empty() && text.starts_with('#') {
                continue;
            }
            row.push_str(&text);
            if !row.trim().is_empty() && row.matches('"').count() % 2 == 0 {
                rows.push(std::mem::take(&mut row));
            }
            ahead.push_back((line, text));
        }
        if !row.trim().is_empty() {
            rows.push(row);
        }
        records.delimiter = said.unwrap_or_else(|| Delimiter::of(&rows));
        ahead.append(&mut records.ahead);
        records.ahead = ahead;
        Ok(records)
    }

    fn read_line(&mut self) -> Result<Option<(u64, String)>> {
        if let Some(line) = self.ahead.pop_front() {
            return Ok(Some(line));
        }
        let mut bytes = Vec::new();
        let line = self.line + 1;
        let read = (&mut self.reader)
            .take(LONGEST_ROW as u64 + 1)
            .read_until(b'\n', &mut bytes);
        if read? == 0 {
            return Ok(None);
        }
        if bytes.len() > LONGEST_ROW {
            let most = LONGEST_ROW >> 20;
            bail!("line {line} is longer than {most} MiB");
        }
        while matches!(bytes.last(), Some(b'\n' | b'\r')) {
            bytes.pop();
        }
        self.line = line;
        let text = String::from_utf8(bytes).map_err(|_| wrong!("line {line}: no text in UTF-8"))?;
        if !text.contains('\r') {
            return Ok(Some((line, text)));
        }
        // lines that end with CR alone
        self.ahead = text
            .split('\r')
            .map(str::to_owned)
            .zip(line..)
            .map(|(text, line)| (line, text))
            .collect();
        self.line += self.ahead.len() as u64 - 1;
        Ok(self.ahead.pop_front())
    }

    /// Reads the next row into a record; tells whether there is one.
    pub fn read(&mut self, record: &mut Record) -> Result<bool> {
        let mut empty = None;
        let (line, text) = loop {
            match self.read_line()? {
                None => return Ok(false),
                Some((line, text)) if text.trim().is_empty() => {
                    empty.get_or_insert(line);
                }
                Some(found) => break found,
            }
        };
        // in a single column a blank line may be a value that is missing
        let is_doubtful = self.has_begun && self.delimiter == Delimiter::None;
        if let Some(empty) = empty.filter(|_| is_doubtful) {
            bail!("line {empty} is empty, expected a row on each line");
        }
        self.has_begun = true;
        record.line = line;
        record.text.clear();
        record.cells.clear();
        self.split(text, record)
            .map_err(|reason| wrong!("line {line}: {reason}"))?;
        Ok(true)
    }

    /// Splits a row into cells, which within quotes may go over several lines.
    fn split(&mut self, mut text: String, record: &mut Record) -> Result<()> {
        let delimiter = self.delimiter;
        let mut at = 0;
        loop {
            let is_blank =
                |byte: u8| byte == b' ' || byte == b'\t' && delimiter != Delimiter::Char(b'\t');
            at += count(&text[at..], is_blank);
            if delimiter == Delimiter::Spaces && at == text.len() {
                return Ok(());
            }
            let start = record.text.len();
            let is_quoted = text[at..].starts_with('"');
            let mut is_open = is_quoted;
            at += usize::from(is_quoted);
            while is_open {
                let length = count(&text[at..], |byte| byte != b'"');
                record.text.push_str(&text[at..at + length]);
                at += length;
                if at == text.len() {
                    let is_long = record.text.len() - start > LONGEST_CELL;
                    let next = self.read_line()?.filter(|_| !is_long);
                    let next = next.ok_or_else(|| wrong!("a quote that nothing closes"))?;
                    record.text.push('\n');
                    (text, at) = (next.1, 0);
                } else if text[at..].starts_with("\"\"") {
                    record.text.push('"');
                    at += 2;
                } else {
                    at += 1;
                    is_open = false;
                }
            }
            let end = at + count(&text[at..], |byte| !delimiter.is(byte));
            let plain = text[at..end].trim();
            ensure!(
                !is_quoted || plain.is_empty(),
                "after a quote {:?}",
                clipped(text[at..].trim_start())
            );
            record.text.push_str(plain);
            record.cells.push(start..record.text.len());
            ensure!(
                record.len() <= MOST_COLUMNS,
                "expected at most {MOST_COLUMNS} columns"
            );
            ensure!(record.text.len() <= LONGEST_ROW, "a row that is too long");
            if end == text.len() {
                return Ok(());
            }
            at = end + 1;
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
        match line.strip_prefix("sep=")?.as_bytes() {
            [delimiter] if delimiter.is_ascii() => Some(Self::Char(*delimiter)),
            _ => None,
        }
    }

    /// The delimiter of the first rows: a tab, a semicolon, a comma, or spaces between numbers, rather in
    /// all rows than in the last alone, since a header may say anything.
    fn of(rows: &[String]) -> Self {
        let outside = |row: &String| row.split('"').step_by(2).collect::<String>();
        let Some(line) = rows.last() else {
            return Self::None;
        };
        let outsides: Vec<String> = rows.iter().map(outside).collect();
        let is_in = |row: &String, delimiter: u8| row.contains(char::from(delimiter));
        let in_all = |delimiter: &u8| outsides.iter().all(|row| is_in(row, *delimiter));
        let outside = outside(line);
        let in_last = |delimiter: &u8| is_in(&outside, *delimiter);
        let delimiters = b"\t;,";
        let found = delimiters.iter().copied().find(in_all);
        if let Some(found) = found.or_else(|| delimiters.iter().copied().find(in_last)) {
            return Self::Char(found);
        }
        let is_number = |word: &&str| word.parse::<f64>().is_ok();
        let words: Vec<&str> = outside.split_whitespace().collect();
        let numbers = words.iter().copied().filter(|word| is_number(word)).count();
        let quoted = line.matches('"').count() / 2;
        // a name may stand at the end, or at the beginning in quotes
        let are_several = words.len() + quoted > 1 && numbers > 0;
        if are_several && numbers + usize::from(numbers > 1) >= words.len() {
            Self::Spaces
        } else {
            Self::None
        }
    }
}
