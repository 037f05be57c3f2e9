//! Tables of text, row after row.

use std::io::Read;

use super::{
    Options, Table,
    cells::{Cells, TextColumn},
    clipped,
    columns::{Columns, Index},
    header::Header,
    is_missing,
    limits::MOST_NUMBERS,
    records::{Record, Records},
};
use crate::error::{Error, Result, ensure, wrong};

/// Rows from which on a column that counts is an index.
const COUNTING: usize = 3;

/// Rows that show how many digits all have.
const SEEN: usize = 1000;

/// Reads a table of text.
pub fn read(reader: impl Read, options: &Options) -> Result<Table> {
    let mut records = Records::new(reader, options.skip_missing)?;
    let (mut first, mut second) = (Record::default(), Record::default());
    ensure!(records.read(&mut first)?, "holds no rows");
    let has_second = records.read(&mut second)?;
    let header = Header::of(&first, has_second.then_some(&second), options)?;
    ensure!(has_second || header.is_none(), "holds no rows");
    let is_row = header.is_none();
    let width = if is_row { &first } else { &second }.cells.len();
    let Header { names, note } = header.unwrap_or_default();
    let mut rows = RowReader::new(Columns::new(names, width, options)?, options);
    let mut head = [is_row.then_some(first), has_second.then_some(second)]
        .into_iter()
        .flatten();
    rows.read(options, |record| match head.next() {
        Some(row) => {
            *record = row;
            Ok(true)
        }
        None => records.read(record),
    })?;
    rows.finish(note, options)
}

/// Reads the rows of a table whose columns have names.
pub fn read_named(
    columns: Columns,
    options: &Options,
    next: impl FnMut(&mut Record) -> Result<bool>,
) -> Result<Table> {
    let mut rows = RowReader::new(columns, options);
    rows.read(options, next)?;
    rows.finish(None, options)
}

/// The rows that were read.
struct RowReader {
    columns: Columns,
    count: usize,
    /// The first number of the column that may count rows.
    start: f64,
    are_percentages: bool,
    table: Table,
}

impl RowReader {
    fn new(columns: Columns, options: &Options) -> Self {
        Self {
            columns,
            count: 0,
            start: 0.0,
            are_percentages: options.are_percentages,
            table: Table::default(),
        }
    }

    /// Reads all rows. A column that is text from its first row to its last may hold the labels.
    fn read(
        &mut self,
        options: &Options,
        mut next: impl FnMut(&mut Record) -> Result<bool>,
    ) -> Result<()> {
        let mut record = Record::default();
        while next(&mut record)? {
            let Err(error) = self.push(&record) else {
                continue;
            };
            let text = (self.count == 0)
                .then(|| self.columns.first_text(&record))
                .flatten();
            let mut column = text;
            while let Some(at) = column
                && next(&mut record).unwrap_or(false)
            {
                column = column.filter(|_| at < record.cells.len() && is_text(&record.cells[at]));
            }
            return Err(match column {
                Some(column) => error.with_hint(&self.columns.hint_of_text(column, options)),
                None => error,
            });
        }
        Ok(())
    }

    fn push(&mut self, record: &Record) -> Result<()> {
        let (row, cells) = (self.count, &record.cells);
        self.table.lines.push(row, record.line);
        let (found, width) = (cells.len(), self.columns.width);
        if found != width {
            let wrong = wrong!("{found} columns, expected {width} as in the first line");
            return Err(wrong.at_row(row).in_line(record.line));
        }
        self.look_at_index(cells);
        let (columns, table) = (&self.columns, &mut self.table);
        if let Index::Yes | Index::Named = columns.index {
            let ids = &mut table.ids.get_or_insert_default().cells;
            ids.push_field(&cells[columns.id]);
        }
        let values = &mut table.numbers.values;
        ensure!(
            values.len() + columns.numbers.len() <= MOST_NUMBERS,
            "holds more than {MOST_NUMBERS} numbers, expected fewer"
        );
        for &column in &columns.numbers {
            let mut cell = &cells[column];
            if self.are_percentages {
                cell = cell.trim_end_matches('%').trim_end();
            }
            let value = match cell.parse() {
                Err(_) if is_missing(cell) => f64::NAN,
                value => value.map_err(|_| no_number(row, columns, (record, column)))?,
            };
            values.push(value);
            if row < SEEN && (columns.index == Index::No || column != columns.id) {
                table.resolution.see(cell);
            }
        }
        table
            .labels
            .resize_with(columns.labels.len(), TextColumn::default);
        for (labels, &column) in table.labels.iter_mut().zip(&columns.labels) {
            labels.cells.push_field(&cells[column]);
        }
        self.count += 1;
        Ok(())
    }

    /// Finds out from the next row whether the column that may be an index is one.
    fn look_at_index(&mut self, cells: &Cells) {
        let columns = &mut self.columns;
        let (Index::Named | Index::Counting) = columns.index else {
            return;
        };
        let value = cells[columns.id].parse::<f64>();
        if self.count == 0 {
            self.start = value.clone().unwrap_or(f64::NAN);
        }
        let counts = |value: f64| {
            let is_start = self.start == 0.0 || self.start == 1.0;
            is_start && value == self.start + self.count as f64
        };
        match (columns.index, value) {
            (Index::Named, Err(_)) => {
                columns.index = Index::Yes;
                self.leave_index_out();
            }
            (Index::Named, Ok(value)) if value.fract() == 0.0 => {}
            (Index::Counting, Ok(value)) if counts(value) => {}
            _ => {
                columns.settle(false);
                self.table.ids = None;
            }
        }
    }

    /// Leaves an index out of the numbers.
    fn leave_index_out(&mut self) {
        let columns = &mut self.columns;
        let width = columns.numbers.len();
        if let Some(place) = columns.numbers.iter().position(|at| *at == columns.id) {
            let (values, mut kept) = (&mut self.table.numbers.values, 0);
            for row in 0..self.count {
                for column in (0..width).filter(|column| *column != place) {
                    values[kept] = values[row * width + column];
                    kept += 1;
                }
            }
            values.truncate(kept);
        }
        if let Some(place) = columns.labels.iter().position(|at| *at == columns.id)
            && self.count > 0
        {
            self.table.labels.remove(place);
        }
        columns.settle(true);
    }

    fn finish(mut self, header: Option<&str>, options: &Options) -> Result<Table> {
        ensure!(self.count > 0, "holds no rows");
        let left = self.columns.numbers.len().saturating_sub(1);
        let are_few = self.count < COUNTING || options.index.is_none_or(|least| left < least);
        match self.columns.index {
            Index::Counting if are_few => self.columns.settle(false),
            Index::Counting | Index::Named => self.leave_index_out(),
            Index::Yes | Index::No => {}
        }
        let notes = header.map(str::to_owned).into_iter();
        self.table.notes = notes.chain(self.columns.note()).collect();
        self.table.numbers.columns = self.columns.numbers.len();
        self.table.numbers.values.shrink_to_fit(); // a vector that grows holds up to twice as much
        Ok(self.columns.describe(self.table))
    }
}

/// What is wrong with a cell that is no number.
fn no_number(row: usize, columns: &Columns, (record, column): (&Record, usize)) -> Error {
    let wrong = match &record.cells[column] {
        cell if has_decimal_comma(cell) => {
            wrong!("\"{cell}\" has a decimal comma, expected a decimal point")
        }
        cell if is_percentage(cell) => {
            wrong!("{cell:?}, expected a number; add --percent for percentages")
        }
        cell => wrong!("{:?}, expected a number", clipped(cell)),
    };
    wrong.at(row, columns.title(column)).in_line(record.line)
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
