//! Rows of text: cells between delimiters, within quotes or not.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
    ops::Range,
};

use super::{
    Result,
    array::clipped,
    limits::{LONGEST_CELL, LONGEST_ROW, MOST_COLUMNS},
};

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

/// The rows of a text whose delimiter is found in its first two lines.
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
        while rows.len() < 2
            && row.len() <= LONGEST_CELL
            && let Some((line, mut text)) = records.read_line()?
        {
            if line == 1 {
                text = text.trim_start_matches('\u{feff}').to_owned();
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
        records.delimiter = Delimiter::of(&rows);
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
        if read.map_err(|e| e.to_string())? == 0 {
            return Ok(None);
        }
        self.line = line;
        while matches!(bytes.last(), Some(b'\n' | b'\r')) {
            bytes.pop();
        }
        match bytes.len() > LONGEST_ROW {
            true => Err(format!(
                "line {line} is longer than {} MiB",
                LONGEST_ROW >> 20
            )),
            false => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some((line, text))),
                Err(_) => Err(format!("line {line}: no text in UTF-8")),
            },
        }
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
        if let Some(empty) = empty.filter(|_| self.has_begun) {
            return Err(format!(
                "line {empty} is empty, expected a row on each line"
            ));
        }
        self.has_begun = true;
        record.line = line;
        record.cells.clear();
        if text.contains('"') {
            return self.split_quoted(text, record).map(|()| true);
        }
        record.text = text;
        let (text, cells) = (&record.text, &mut record.cells);
        let start = text.as_ptr() as usize;
        let place = |cell: &str| {
            let cell_start = cell.as_ptr() as usize - start;
            cell_start..cell_start + cell.len()
        };
        let most = MOST_COLUMNS + 1;
        match self.delimiter {
            Delimiter::Char(delimiter) => {
                let words = text.split(char::from(delimiter)).map(str::trim);
                cells.extend(words.map(place).take(most));
            }
            Delimiter::Spaces => cells.extend(text.split_whitespace().map(place).take(most)),
            Delimiter::None => cells.push(place(text.trim())),
        }
        check_columns(record).map(|()| true)
    }

    /// Splits a row with quotes, whose cells may go over several lines.
    fn split_quoted(&mut self, mut text: String, record: &mut Record) -> Result<()> {
        let wrong = |line: u64, what: &str| format!("line {line}: {what}");
        record.text.clear();
        let mut at = 0;
        loop {
            let is_space = |c| c == ' ' || c == '\t' && self.delimiter == Delimiter::Spaces;
            at = text.len() - text[at..].trim_start_matches(is_space).len();
            let start = record.text.len();
            if text[at..].starts_with('"') {
                at += 1;
                loop {
                    match text[at..].find('"') {
                        Some(end) => {
                            record.text.push_str(&text[at..at + end]);
                            at += end + 1;
                            if !text[at..].starts_with('"') {
                                break;
                            }
                            record.text.push('"');
                            at += 1;
                        }
                        None => {
                            record.text.push_str(&text[at..]);
                            record.text.push('\n');
                            let next = self
                                .read_line()?
                                .filter(|_| record.text.len() - start <= LONGEST_CELL);
                            (_, text) = next
                                .ok_or_else(|| wrong(record.line, "a quote that nothing closes"))?;
                            at = 0;
                        }
                    }
                }
                record.cells.push(start..record.text.len());
            } else {
                let rest = &text[at..];
                let end = match self.delimiter {
                    Delimiter::Char(delimiter) => rest.find(char::from(delimiter)),
                    Delimiter::Spaces => rest.find([' ', '\t']),
                    Delimiter::None => None,
                };
                let cell = &rest[..end.unwrap_or(rest.len())];
                record.text.push_str(cell.trim_end());
                at += cell.len();
                record.cells.push(start..record.text.len());
            }
            let rest = text[at..].trim_start_matches(' ');
            match (self.delimiter, rest.chars().next()) {
                (Delimiter::Spaces, _) if rest.trim().is_empty() => return check_columns(record),
                (_, None) => return check_columns(record),
                (Delimiter::Spaces, _)
                    if rest.len() < text.len() - at || rest.starts_with('\t') => {}
                (Delimiter::Char(delimiter), Some(found)) if found == char::from(delimiter) => {
                    at = text.len() - rest.len() + 1;
                }
                _ => {
                    return Err(wrong(
                        record.line,
                        &format!("after a quote {:?}", clipped(rest)),
                    ));
                }
            }
            if record.text.len() > LONGEST_ROW {
                return Err(wrong(record.line, "a row that is too long"));
            }
            check_columns(record)?;
        }
    }
}

fn check_columns(record: &Record) -> Result<()> {
    match record.len() > MOST_COLUMNS {
        true => Err(format!(
            "line {}: expected at most {MOST_COLUMNS} columns",
            record.line
        )),
        false => Ok(()),
    }
}

impl Delimiter {
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
        match words.len() + quoted > 1
            && numbers > 0
            && numbers + usize::from(numbers > 1) >= words.len()
        {
            true => Self::Spaces,
            false => Self::None,
        }
    }
}
