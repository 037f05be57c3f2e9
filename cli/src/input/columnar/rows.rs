//! The rows of record batches, one batch after the other.

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray, types::Float64Type};
use arrow_cast::cast;
use arrow_schema::{DataType, Field};

use super::Kind;
use crate::error::{Result, wrong};
use crate::input::{
    Matrix,
    cells::Cells,
    limits::{check_numbers, check_unpacked},
    table::Columns,
};

/// What was read so far.
pub struct Rows<'a> {
    columns: &'a Columns,
    /// Places in the schema of the columns of each batch; they rise.
    pub wanted: Vec<usize>,
    /// Bytes of the file.
    size: u64,
    pub count: usize,
    pub numbers: Matrix,
    pub labels: Cells,
    pub ids: Cells,
}

impl<'a> Rows<'a> {
    pub fn new(columns: &'a Columns, wanted: Vec<usize>, size: u64) -> Self {
        Self {
            columns,
            wanted,
            size,
            count: 0,
            numbers: Matrix::default(),
            labels: Cells::default(),
            ids: Cells::default(),
        }
    }

    /// Adds the rows of a batch.
    pub fn push(&mut self, batch: &RecordBatch, kinds: &[Kind], id: Option<usize>) -> Result<()> {
        let end = (self.count + batch.num_rows()) as u64;
        self.check(end, 1)?;
        let array = |column: usize| {
            let at = self.wanted.binary_search(&column).unwrap_or_default();
            batch.column(at)
        };
        for (column, is_id) in [(self.columns.label, false), (id, true)] {
            let Some(column) = column else { continue };
            let array = array(column);
            self.no_nulls(column, array, 1)?;
            let cells = if is_id {
                &mut self.ids
            } else {
                &mut self.labels
            };
            push_cells(array, cells)?;
            check_unpacked(cells.bytes() as u64, self.size)?;
        }
        match self.columns.numbers[..] {
            [only] if matches!(kinds[only], Kind::Lists(_)) => {
                self.push_lists(only, array(only))?
            }
            _ => {
                let width = self.columns.numbers.len();
                let count = self.check(end, width as u64)?;
                let start = self.numbers.values.len();
                let mut numbers = std::mem::take(&mut self.numbers.values);
                numbers.resize(count, 0.0);
                for (at, &column) in self.columns.numbers.iter().enumerate() {
                    let array = array(column);
                    self.no_nulls(column, array, 1)?;
                    let values = cast(array, &DataType::Float64)?;
                    let places = numbers[start..].iter_mut().skip(at).step_by(width);
                    let values = values.as_primitive::<Float64Type>().values();
                    places.zip(values).for_each(|(to, number)| *to = *number);
                }
                self.numbers.values = numbers;
                self.numbers.columns = width;
            }
        }
        self.count = end as usize;
        Ok(())
    }

    /// Adds rows that are lists of one length.
    fn push_lists(&mut self, column: usize, array: &ArrayRef) -> Result<()> {
        self.no_nulls(column, array, 1)?;
        let item = Field::new_list_field(DataType::Float64, true);
        let lists = cast(array, &DataType::LargeList(item.into()))?;
        let lists = lists.as_list::<i64>();
        let offsets = lists.offsets();
        let Some(first) = offsets.lengths().next() else {
            return Ok(()); // no rows
        };
        let known = if self.count > 0 {
            self.numbers.columns
        } else {
            first
        };
        let mut lengths = offsets.lengths().enumerate();
        let uneven = lengths.find(|&(_, length)| length != known || length == 0);
        if let Some((row, length)) = uneven {
            let wrong = match length {
                0 => wrong!("a list without numbers, expected some"),
                _ => wrong!("a list of {length} numbers, expected {known} as in the rows before"),
            };
            return Err(wrong.at(self.count + row, self.columns.title(column)));
        }
        self.check((self.count + lists.len()) as u64, known as u64)?;
        let values = lists
            .values()
            .slice(offsets[0] as usize, known * lists.len());
        self.no_nulls(column, &values, known)?;
        let numbers = values.as_primitive::<Float64Type>().values();
        self.numbers.values.extend_from_slice(numbers);
        self.numbers.columns = known;
        Ok(())
    }

    /// Checks that so many rows of numbers are not too many, before memory is taken for them.
    fn check(&self, rows: u64, columns: u64) -> Result<usize> {
        let count = check_numbers(rows, columns)?;
        check_unpacked(count as u64 * 8, self.size)?;
        Ok(count)
    }

    /// Checks that a value is in each place, so many of them in a row.
    fn no_nulls(&self, column: usize, array: &ArrayRef, width: usize) -> Result<()> {
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let null = nulls.and_then(|nulls| nulls.iter().position(|is_valid| !is_valid));
        null.map_or(Ok(()), |at| {
            let row = self.count + at / width;
            Err(wrong!("is null, expected a value").at(row, self.columns.title(column)))
        })
    }
}

/// Adds a cell of each row. Text is viewed, so that a long word of many rows is in memory once; whole
/// numbers keep all their digits.
fn push_cells(array: &ArrayRef, cells: &mut Cells) -> Result<()> {
    let values = match array.data_type() {
        DataType::Dictionary(_, value) => &**value,
        other => other,
    };
    if Kind::of(values) == Kind::Text || values.is_integer() {
        let text = cast(array, &DataType::Utf8View)?;
        text.as_string_view()
            .iter()
            .flatten()
            .for_each(|cell| cells.push(cell));
    } else {
        let numbers = cast(array, &DataType::Float64)?;
        let numbers = numbers.as_primitive::<Float64Type>().values();
        numbers
            .iter()
            .for_each(|number| cells.push(&number.to_string()));
    }
    Ok(())
}
