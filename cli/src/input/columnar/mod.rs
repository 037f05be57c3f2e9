//! Columnar files: Parquet and Arrow IPC, read as record batches.

mod arrow;
mod parquet;
mod rows;
mod thrift;
mod values;

use std::panic::{self, AssertUnwindSafe};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use burn::tensor::DType;

use super::{
    Options, Table,
    columns::{Columns, Index, PANDAS},
    resolution::Resolution,
};
use crate::error::{Result, bail, ensure, wrong};
use rows::ColumnarRows;

/// Reads the columns of a file of Parquet, or of a file or a stream of Arrow IPC, that are asked for. A panic
/// of a reader is an error: readers take some of what a file says for granted.
pub fn read(bytes: Vec<u8>, options: &Options) -> Result<Table> {
    let is_parquet = bytes.starts_with(b"PAR");
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let table = panic::catch_unwind(AssertUnwindSafe(|| {
        if is_parquet {
            parquet::read(bytes, options)
        } else {
            arrow::read(bytes, options)
        }
    }));
    panic::set_hook(hook);
    let format = if is_parquet { "Parquet" } else { "Arrow IPC" };
    table.unwrap_or_else(|_| Err(wrong!("{format} that is broken")))
}

/// The bytes before the footer of a file, and the footer, whose size stands before the last magic bytes.
fn footer<'a>(bytes: &'a [u8], magic: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (before, size) = bytes.strip_suffix(magic)?.split_last_chunk()?;
    let size = u32::from_le_bytes(*size) as usize;
    before.split_at_checked(before.len().checked_sub(size)?)
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
enum ColumnKind {
    Numbers(Resolution),
    /// A list of numbers in each row.
    Lists(Resolution),
    Text,
    /// Something else, in words.
    Other(String),
}

impl ColumnKind {
    fn of(data_type: &DataType) -> Self {
        use DataType as D;
        let found = match data_type {
            D::Float16 => Some(Self::Numbers(Resolution::Binary(DType::F16))),
            D::Float32 => Some(Self::Numbers(Resolution::Binary(DType::F32))),
            D::Float64 => Some(Self::Numbers(Resolution::Binary(DType::F64))),
            D::Boolean => Some(Self::Numbers(Resolution::Binary(DType::U8))),
            whole if whole.is_integer() => Some(Self::Numbers(Resolution::Binary(DType::I64))),
            D::Decimal32(_, scale)
            | D::Decimal64(_, scale)
            | D::Decimal128(_, scale)
            | D::Decimal256(_, scale) => {
                Some(Self::Numbers(Resolution::of_decimals((*scale).into())))
            }
            D::Utf8 | D::LargeUtf8 | D::Utf8View => Some(Self::Text),
            D::Dictionary(_, value) => {
                Some(Self::of(value)).filter(|found| matches!(found, Self::Numbers(_) | Self::Text))
            }
            D::List(item) | D::LargeList(item) | D::FixedSizeList(item, _) => {
                match Self::of(item.data_type()) {
                    Self::Numbers(resolution) => Some(Self::Lists(resolution)),
                    _ => None,
                }
            }
            _ => None,
        };
        found.unwrap_or_else(|| {
            let name = format!("{data_type:?}");
            let name = name.split(|c: char| !c.is_alphabetic()).next();
            Self::Other(format!("of the type {}", name.unwrap_or_default()))
        })
    }
}

/// Reads the columns that are asked for from a file of so many bytes, whose batches have the columns with the
/// given places in the schema, which rise.
fn read_batches<I>(
    schema: &SchemaRef,
    size: usize,
    options: &Options,
    batches: impl FnOnce(&[usize]) -> Result<I>,
) -> Result<Table>
where
    I: Iterator<Item = Result<RecordBatch>>,
{
    let fields = schema.fields().iter();
    let (names, kinds): (Vec<String>, Vec<ColumnKind>) = fields
        .map(|field| (field.name().clone(), ColumnKind::of(field.data_type())))
        .unzip();
    let mut columns = Columns::new(names.clone(), names.len(), options)?;
    let mut notes = Vec::new();
    if options.columns.is_none() {
        choose(&mut columns, &names, &kinds, &mut notes);
    }
    for &label in &columns.labels {
        check_labels(&columns, label, &kinds)?;
    }
    let resolution = coarsest(&columns, &kinds)?;
    if !matches!(
        kinds.get(columns.id),
        Some(ColumnKind::Numbers(_) | ColumnKind::Text)
    ) {
        columns.index = Index::No;
    }
    let mut rows = ColumnarRows::new(&columns, size as u64);
    for batch in batches(&rows.wanted)? {
        rows.push(&batch?)?;
    }
    ensure!(rows.count > 0, "holds no rows");
    let ColumnarRows { mut table, .. } = rows;
    let is_of_lists = table.numbers.columns != columns.numbers.len();
    table = columns.describe(Table {
        resolution,
        notes,
        ..table
    });
    if is_of_lists {
        table.names.clear();
    }
    Ok(table)
}

/// Leaves an index out, and takes a single column of lists for the rows; notes what was taken for what.
fn choose(columns: &mut Columns, names: &[String], kinds: &[ColumnKind], notes: &mut Vec<String>) {
    // a class may be named as an index is: Indonesian is "id"
    let Some(id) = kinds.get(columns.id) else {
        return;
    };
    let is_float = matches!(id, ColumnKind::Numbers(Resolution::Binary(dtype)) if dtype.is_float());
    let is_index = match columns.index {
        Index::Yes => true,
        Index::Named => !is_float,
        Index::Counting | Index::No => false,
    };
    columns.settle(is_index);
    notes.extend(columns.note());
    columns.numbers.retain(|&column| names[column] != PANDAS);
    let is_list = |column: &&usize| matches!(kinds[**column], ColumnKind::Lists(_));
    let lists: Vec<usize> = columns.numbers.iter().filter(is_list).copied().collect();
    if let ([list], true) = (&lists[..], columns.numbers.len() > 1) {
        let title = columns.title(*list);
        notes.push(format!("the rows are the lists of {title}"));
        columns.numbers = lists;
    }
}

/// Checks that labels are numbers or text.
fn check_labels(columns: &Columns, label: usize, kinds: &[ColumnKind]) -> Result<()> {
    let name = match &kinds[label] {
        ColumnKind::Numbers(_) | ColumnKind::Text => return Ok(()),
        ColumnKind::Lists(_) => "lists",
        ColumnKind::Other(name) => name,
    };
    let title = columns.title(label);
    bail!("{title}: {name}, expected labels as numbers or text");
}

/// The resolution of the numbers with the fewest digits among those that are asked for.
fn coarsest(columns: &Columns, kinds: &[ColumnKind]) -> Result<Resolution> {
    let mut coarsest = Resolution::Binary(DType::F64);
    for (at, &column) in columns.numbers.iter().enumerate() {
        let what = match &kinds[column] {
            ColumnKind::Numbers(found) | ColumnKind::Lists(found)
                if columns.numbers.len() == 1
                    || matches!(kinds[column], ColumnKind::Numbers(_)) =>
            {
                if at == 0 || found.is_coarser(&coarsest) {
                    coarsest = *found;
                }
                continue;
            }
            ColumnKind::Numbers(_) | ColumnKind::Lists(_) => {
                "lists, expected numbers, or a single column of lists"
            }
            ColumnKind::Text => "text, expected numbers",
            ColumnKind::Other(name) => &format!("{name}, expected numbers"),
        };
        let title = columns.title(column);
        bail!("{title}: {what}; --columns chooses columns");
    }
    Ok(coarsest)
}
