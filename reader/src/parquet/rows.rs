//! The rows of record batches, one batch after the other.

use arrow_array::{Array, ArrayRef, RecordBatch};

use super::{
    file::ParquetFile,
    values::{lists, numbers, push_cells},
};
use crate::error::{Result, wrong};
use crate::{
    Cells, Plan, Rows, counted,
    limits::{check_numbers, check_unpacked},
    titled,
};

/// The rows that were read so far.
pub struct ParquetRows<'a> {
    plan: &'a Plan,
    file: &'a ParquetFile,
    /// Places in the schema of the columns of each batch; they rise.
    pub wanted: Vec<usize>,
    pub count: usize,
    pub rows: Rows,
}

impl<'a> ParquetRows<'a> {
    pub fn new(plan: &'a Plan, file: &'a ParquetFile) -> Self {
        let mut wanted = [&plan.numbers[..], &plan.texts].concat();
        wanted.sort_unstable();
        wanted.dedup();
        Self {
            plan,
            file,
            wanted,
            count: 0,
            rows: Rows {
                texts: vec![Cells::default(); plan.texts.len()],
                ..Rows::default()
            },
        }
    }

    /// Adds the rows of a batch.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let end = self.count + batch.num_rows();
        let size = self.file.size();
        self.check(end, 1)?;
        let array = |rows: &Self, column: usize| -> ArrayRef {
            let at = rows.wanted.binary_search(&column).unwrap_or_default();
            batch.column(at).clone()
        };
        for (at, &column) in self.plan.texts.iter().enumerate() {
            let cells = array(self, column);
            push_cells(&cells, &mut self.rows.texts[at], size)?;
        }
        if let [only] = self.plan.numbers[..]
            && let lists = array(self, only)
            && lists.data_type().is_list()
        {
            self.push_lists(only, &lists)?;
        } else {
            let matrix = &mut self.rows.numbers;
            let (start, width) = (matrix.values.len(), self.plan.numbers.len());
            let count = self.check(end, width)?;
            let matrix = &mut self.rows.numbers;
            matrix.values.resize(count, 0.0);
            matrix.columns = width;
            for (at, &column) in self.plan.numbers.iter().enumerate() {
                let numbers = numbers(&array(self, column))?;
                let places = self.rows.numbers.values[start..].iter_mut().skip(at);
                let pairs = places.step_by(width).zip(numbers);
                pairs.for_each(|(to, number)| *to = number);
            }
        }
        self.count = end;
        Ok(())
    }

    /// Adds rows that are lists of one length.
    fn push_lists(&mut self, column: usize, array: &ArrayRef) -> Result<()> {
        let title = titled(column, self.file.schema().field(column).name());
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let null = nulls.and_then(|nulls| nulls.iter().position(|is_valid| !is_valid));
        if let Some(at) = null {
            return Err(wrong!("is null, expected a list").at(self.count + at, title));
        }
        let (lengths, values) = lists(array);
        for (row, &length) in lengths.iter().enumerate() {
            if self.count + row == 0 {
                self.rows.numbers.columns = length;
            }
            let known = self.rows.numbers.columns;
            let wrong = match length {
                0 => wrong!("a list without numbers, expected some"),
                _ if length == known => continue,
                _ => {
                    let numbers = counted(length, "number");
                    wrong!("a list of {numbers}, expected {known} as in the rows before")
                }
            };
            return Err(wrong.at(self.count + row, title));
        }
        let width = self.rows.numbers.columns;
        self.check(self.count + lengths.len(), width)?;
        self.rows.numbers.values.extend(numbers(&values)?);
        Ok(())
    }

    /// Checks that so many rows of numbers are not too many, before memory is taken for them.
    fn check(&self, rows: usize, columns: usize) -> Result<usize> {
        let count = check_numbers(rows as u64, columns as u64)?;
        check_unpacked(count as u64 * 8, self.file.size())?;
        Ok(count)
    }
}
