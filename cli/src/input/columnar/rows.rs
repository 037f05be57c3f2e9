//! The rows of record batches, one batch after the other.

use arrow_array::{Array, ArrayRef, RecordBatch};

use super::values::{lists, numbers, push_cells};
use crate::error::{Result, wrong};
use crate::input::{
    Table,
    cells::TextColumn,
    columns::{Columns, Index},
    limits::{check_numbers, check_unpacked},
};

/// What was read so far.
pub struct ColumnarRows<'a> {
    columns: &'a Columns,
    /// The column that names rows.
    id: Option<usize>,
    /// Places in the schema of the columns of each batch; they rise.
    pub wanted: Vec<usize>,
    /// Bytes of the file.
    size: u64,
    pub count: usize,
    pub table: Table,
}

impl<'a> ColumnarRows<'a> {
    /// - `size`: bytes of the file
    pub fn new(columns: &'a Columns, size: u64) -> Self {
        let has_ids = matches!(columns.index, Index::Yes | Index::Named);
        let id = has_ids.then_some(columns.id);
        let numbers = columns.numbers.iter().copied();
        let labels = columns.labels.iter().copied();
        let mut wanted: Vec<usize> = numbers.chain(labels).chain(id).collect();
        wanted.sort_unstable();
        wanted.dedup();
        Self {
            columns,
            id,
            wanted,
            size,
            count: 0,
            table: Table::default(),
        }
    }

    /// Adds the rows of a batch.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let end = self.count + batch.num_rows();
        self.check(end, 1)?;
        let array = |rows: &Self, column: usize| -> ArrayRef {
            let at = rows.wanted.binary_search(&column).unwrap_or_default();
            batch.column(at).clone()
        };
        let labels = &self.columns.labels;
        self.table
            .labels
            .resize_with(labels.len(), TextColumn::default);
        for (at, &label) in labels.iter().enumerate() {
            let label = array(self, label);
            push_cells(&label, &mut self.table.labels[at].cells, self.size)?;
        }
        if let Some(id) = self.id {
            let cells = array(self, id);
            self.no_nulls(id, &cells)?;
            let ids = self.table.ids.get_or_insert_default();
            push_cells(&cells, &mut ids.cells, self.size)?;
        }
        if let [only] = self.columns.numbers[..]
            && let lists = array(self, only)
            && lists.data_type().is_list()
        {
            self.no_nulls(only, &lists)?;
            self.push_lists(only, &lists)?;
        } else {
            let (start, width) = (self.table.numbers.values.len(), self.columns.numbers.len());
            let count = self.check(end, width)?;
            self.table.numbers.values.resize(count, 0.0);
            self.table.numbers.columns = width;
            for (at, &column) in self.columns.numbers.iter().enumerate() {
                let numbers = numbers(&array(self, column));
                let places = self.table.numbers.values[start..].iter_mut().skip(at);
                let pairs = places.step_by(width).zip(numbers);
                pairs.for_each(|(to, number)| *to = number);
            }
        }
        self.count = end;
        Ok(())
    }

    /// Adds rows that are lists of one length.
    fn push_lists(&mut self, column: usize, array: &ArrayRef) -> Result<()> {
        let (lengths, values) = lists(array);
        for (row, &length) in lengths.iter().enumerate() {
            if self.count + row == 0 {
                self.table.numbers.columns = length;
            }
            let known = self.table.numbers.columns;
            let wrong = match length {
                0 => wrong!("a list without numbers, expected some"),
                _ if length == known => continue,
                _ => wrong!("a list of {length} numbers, expected {known} as in the rows before"),
            };
            return Err(wrong.at(self.count + row, self.columns.title(column)));
        }
        let width = self.table.numbers.columns;
        self.check(self.count + lengths.len(), width)?;
        self.table.numbers.values.extend(numbers(&values));
        Ok(())
    }

    /// Checks that so many rows of numbers are not too many, before memory is taken for them.
    fn check(&self, rows: usize, columns: usize) -> Result<usize> {
        let count = check_numbers(rows as u64, columns as u64)?;
        check_unpacked(count as u64 * 8, self.size)?;
        Ok(count)
    }

    /// Checks that each row has an id, or a list.
    fn no_nulls(&self, column: usize, array: &ArrayRef) -> Result<()> {
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let null = nulls.and_then(|nulls| nulls.iter().position(|is_valid| !is_valid));
        null.map_or(Ok(()), |at| {
            let row = self.count + at;
            Err(wrong!("is null, expected a value").at(row, self.columns.title(column)))
        })
    }
}
