//! Tables of text: the header, and cells as numbers or text.

use std::io::Read;

use super::{
    Cells, ColumnInfo, ColumnKind, OpenOptions, Plan, Rows, clipped, counted,
    header::Header,
    is_missing,
    limits::MOST_NUMBERS,
    records::{Record, Records},
    titled,
};
use crate::error::{Error, Result, ensure, wrong};

/// A table of text whose first rows are known.
pub struct TextFile {
    records: Records,
    /// Rows that were read to find the header.
    head: Vec<Record>,
    columns: Vec<ColumnInfo>,
}

impl TextFile {
    /// Reads a table up to its first row; returns the columns, whether line 1 is a header, and a note about it.
    pub fn open(
        reader: Box<dyn Read>,
        options: &OpenOptions,
    ) -> Result<(Self, bool, Option<&'static str>)> {
        let mut records = Records::new(reader, options)?;
        let (mut first, mut second) = (Record::default(), Record::default());
        ensure!(records.read(&mut first)?, "holds no rows");
        let has_second = records.read(&mut second)?;
        let header = Header::of(&first, has_second.then_some(&second), options)?;
        ensure!(has_second || header.is_none(), "holds no rows");
        let has_header = header.is_some();
        let rows = [(!has_header).then_some(first), has_second.then_some(second)];
        let head: Vec<Record> = rows.into_iter().flatten().collect();
        let Header { names, note } = header.unwrap_or_default();
        let cells = &head[0].cells;
        ensure!(
            names.is_empty() || names.len() == cells.len(),
            "line 1 has {} and the row below {}, expected the same number{}",
            counted(names.len(), "column"),
            cells.len(),
            records.delimiter_in_words(options)
        );
        let column = |(at, cell): (usize, &str)| ColumnInfo {
            name: names.get(at).cloned().unwrap_or_default(),
            kind: if is_text(cell) && !is_missing(cell) {
                ColumnKind::Text
            } else {
                ColumnKind::Numbers
            },
        };
        let columns = cells.iter().enumerate().map(column).collect();
        let file = Self {
            records,
            head,
            columns,
        };
        Ok((file, has_header, note))
    }

    pub fn columns(&self) -> Vec<ColumnInfo> {
        self.columns.clone()
    }

    /// Whether the first line that is read as a row has a cell.
    pub fn begins_with(&self, cell: &str) -> bool {
        self.head[0].cells.iter().any(|found| found == cell)
    }

    /// Reads the rows.
    pub fn read(self, plan: &Plan) -> Result<Rows> {
        let Self {
            mut records,
            head,
            columns,
        } = self;
        let mut head = head.into_iter();
        read_rows(plan, &columns, |record| match head.next() {
            Some(row) => {
                *record = row;
                Ok(true)
            }
            None => records.read(record),
        })
    }
}

/// Rows that show how many digits all have.
const SEEN: usize = 1000;

/// Reads numbers and text of rows of cells.
pub fn read_rows(
    plan: &Plan,
    columns: &[ColumnInfo],
    mut next: impl FnMut(&mut Record) -> Result<bool>,
) -> Result<Rows> {
    let mut rows = Rows {
        texts: vec![Cells::default(); plan.texts.len()],
        ..Rows::default()
    };
    let (mut record, mut row) = (Record::default(), 0);
    while next(&mut record)? {
        push(&mut rows, row, &record, plan, columns).map_err(|e| e.in_line(record.line))?;
        row += 1;
    }
    ensure!(row > 0, "holds no rows");
    rows.numbers.columns = plan.numbers.len();
    rows.numbers.values.shrink_to_fit(); // a vector that grows holds up to twice as much
    Ok(rows)
}

fn push(
    rows: &mut Rows,
    row: usize,
    record: &Record,
    plan: &Plan,
    columns: &[ColumnInfo],
) -> Result<()> {
    let cells = &record.cells;
    rows.lines.push(row, record.line);
    let (found, width) = (cells.len(), columns.len());
    if found != width {
        let columns = counted(found, "column");
        return Err(wrong!("{columns}, expected {width} as in the first line").at_row(row));
    }
    let title = |column: usize| titled(column, &columns[column].name);
    let values = &mut rows.numbers.values;
    ensure!(
        values.len() + plan.numbers.len() <= MOST_NUMBERS,
        "holds more than {MOST_NUMBERS} numbers, expected fewer"
    );
    for &column in &plan.numbers {
        let mut cell = &cells[column];
        if plan.are_percentages {
            cell = cell.trim_end_matches('%').trim_end();
        }
        let value = match cell.parse() {
            Err(_) if is_missing(cell) => f64::NAN,
            value => value.map_err(|_| no_number(cell, row, &title(column)))?,
        };
        values.push(value);
        if row < SEEN {
            rows.resolution.see(cell);
        }
    }
    for &column in &plan.left_out {
        let cell = &cells[column];
        if !is_text(cell) && !is_missing(cell) {
            let wrong = wrong!(
                "{cell}, expected text as in the first row, by which the column is left out; --columns chooses the \
                 columns of the predictions"
            );
            return Err(wrong.at(row, title(column)));
        }
    }
    for (texts, &column) in rows.texts.iter_mut().zip(&plan.texts) {
        texts.push_field(&cells[column]);
    }
    Ok(())
}

/// Returns the fault of a cell that is no number.
fn no_number(cell: &str, row: usize, title: &str) -> Error {
    let wrong = match cell {
        cell if has_decimal_comma(cell) => {
            wrong!("\"{cell}\" has a decimal comma, expected a decimal point")
        }
        cell if is_percentage(cell) => {
            wrong!("{cell:?}, expected a number; add --percent for percentages")
        }
        cell => wrong!("{:?}, expected a number", clipped(cell)),
    };
    wrong.at(row, title)
}

pub fn has_decimal_comma(cell: &str) -> bool {
    cell.contains(',') && cell.replacen(',', ".", 1).parse::<f64>().is_ok()
}

fn is_percentage(cell: &str) -> bool {
    let number = cell.strip_suffix('%').map(str::trim_end);
    number.is_some_and(|number| number.parse::<f64>().is_ok())
}

/// Whether a cell is neither a number nor one that is written in another way.
pub fn is_text(cell: &str) -> bool {
    cell.parse::<f64>().is_err() && !has_decimal_comma(cell) && !is_percentage(cell)
}

/// The delimiter that an option names.
pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && *byte != b'"' => Ok(*byte),
        _ => Err("expected one character such as ; or |, or tab".into()),
    }
}
