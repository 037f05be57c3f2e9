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
        if read.map_err(|e| e.to_string())? == 0 {
            return Ok(None);
        }
        if bytes.len() > LONGEST_ROW {
            let most = LONGEST_ROW >> 20;
            return Err(format!("line {line} is longer than {most} MiB"));
        }
        while matches!(bytes.last(), Some(b'\n' | b'\r')) {
            bytes.pop();
        }
        self.line = line;
        let text =
            String::from_utf8(bytes).map_err(|_| format!("line {line}: no text in UTF-8"))?;
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
            return Err(format!(
                "line {empty} is empty, expected a row on each line"
            ));
        }
        self.has_begun = true;
        record.line = line;
        record.cells.clear();
        if text.contains('"') {
            self.split_quoted(text, record)?;
            return check_columns(record).map(|()| true);
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
        let wrong = |what: &str| Err(format!("line {}: {what}", record.line));
        let delimiter = self.delimiter;
        let is_delimiter = |c: char| match delimiter {
            Delimiter::Char(delimiter) => c == char::from(delimiter),
            Delimiter::Spaces => c == ' ' || c == '\t',
            Delimiter::None => false,
        };
        let is_spaced = delimiter == Delimiter::Spaces;
        record.text.clear();
        let (mut start, mut at) = (0, 0);
        let (mut is_quoted, mut was_quoted) = (false, false);
        loop {
            let next = text[at..].chars().next();
            at += next.map_or(0, char::len_utf8);
            match next {
                None if is_quoted => {
                    let is_long = record.text.len() - start > LONGEST_CELL;
                    let line = self.read_line()?.filter(|_| !is_long);
                    let Some((_, line)) = line else {
                        return wrong("a quote that nothing closes");
                    };
                    record.text.push('\n');
                    (text, at) = (line, 0);
                }
                Some('"') if is_quoted => {
                    is_quoted = text[at..].starts_with('"');
                    if is_quoted {
                        record.text.push('"');
                        at += 1;
                    }
                }
                Some(c) if is_quoted => record.text.push(c),
                Some('"') if !was_quoted && record.text.len() == start => {
                    (is_quoted, was_quoted) = (true, true);
                }
                Some(c) if !is_delimiter(c) => {
                    if was_quoted && c != ' ' {
                        let rest = &text[at - c.len_utf8()..];
                        return wrong(&format!("after a quote {:?}", clipped(rest)));
                    }
                    if !was_quoted && (record.text.len() > start || !c.is_whitespace()) {
                        record.text.push(c);
                    }
                }
                end => {
                    if !was_quoted {
                        let length = record.text.trim_end().len().max(start);
                        record.text.truncate(length);
                    }
                    let place = start..record.text.len();
                    if was_quoted || !is_spaced || !place.is_empty() {
                        record.cells.push(place);
                    }
                    if end.is_none() {
                        return Ok(());
                    }
                    check_columns(record)?;
                    (start, was_quoted) = (record.text.len(), false);
                }
            }
        }
    }
}

fn check_columns(record: &Record) -> Result<()> {
    let line = record.line;
    if record.len() > MOST_COLUMNS {
        return Err(format!(
            "line {line}: expected at most {MOST_COLUMNS} columns"
        ));
    }
    if record.text.len() > LONGEST_ROW {
        return Err(format!("line {line}: a row that is too long"));
    }
    Ok(())
}

impl Delimiter {
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
        match words.len() + quoted > 1
            && numbers > 0
            && numbers + usize::from(numbers > 1) >= words.len()
        {
            true => Self::Spaces,
            false => Self::None,
        }
    }
}
