//! Columnar files: Parquet and Arrow IPC, read as record batches.

mod arrow;
mod footer;
mod parquet;
mod rows;

use std::panic::{self, AssertUnwindSafe};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};

use super::{
    Options, Table,
    element::Element,
    resolution::Resolution,
    table::{Columns, Index, PANDAS},
};
use crate::error::{Result, bail, ensure, wrong};
use rows::Rows;

/// The batches of a file, one after the other.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch>>>;

/// Reads the columns with these places in the schema, which rise.
type Open = Box<dyn FnOnce(&[usize]) -> Result<Batches>>;

/// A file whose schema is known, and whose columns are not read yet.
struct Source {
    schema: SchemaRef,
    /// Bytes of the file.
    size: u64,
    open: Open,
}

/// Reads the columns of Parquet that are asked for.
pub fn read_parquet(bytes: Vec<u8>, options: &Options) -> Result<Table> {
    caught("Parquet", || read(parquet::open(bytes)?, options))
}

/// Reads the columns of Arrow IPC that are asked for, a file or a stream.
pub fn read_arrow(bytes: Vec<u8>, options: &Options) -> Result<Table> {
    caught("Arrow IPC", || read(arrow::open(bytes)?, options))
}

/// Turns a panic of a reader into an error: readers take some of what a file says for granted.
fn caught(format: &str, read: impl FnOnce() -> Result<Table>) -> Result<Table> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let table = panic::catch_unwind(AssertUnwindSafe(read));
    panic::set_hook(hook);
    table.unwrap_or_else(|_| Err(wrong!("{format} that is broken")))
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Numbers(Element),
    /// Numbers with so many decimals.
    Decimals(i32),
    /// A list of numbers in each row.
    Lists(Element),
    Text,
    /// Something else, by its name.
    Other(String),
}

impl Kind {
    fn of(data_type: &DataType) -> Self {
        use DataType as D;
        let found = match data_type {
            D::Boolean => Self::Numbers(Element::Bool),
            D::Int8 => Self::Numbers(Element::I8),
            D::Int16 => Self::Numbers(Element::I16),
            D::Int32 => Self::Numbers(Element::I32),
            D::Int64 => Self::Numbers(Element::I64),
            D::UInt8 => Self::Numbers(Element::U8),
            D::UInt16 => Self::Numbers(Element::U16),
            D::UInt32 => Self::Numbers(Element::U32),
            D::UInt64 => Self::Numbers(Element::U64),
            D::Float16 => Self::Numbers(Element::F16),
            D::Float32 => Self::Numbers(Element::F32),
            D::Float64 => Self::Numbers(Element::F64),
            D::Decimal32(_, scale)
            | D::Decimal64(_, scale)
            | D::Decimal128(_, scale)
            | D::Decimal256(_, scale) => Self::Decimals((*scale).into()),
            D::Utf8 | D::LargeUtf8 | D::Utf8View => Self::Text,
            D::Dictionary(_, value) => Self::of(value),
            D::List(item) | D::LargeList(item) | D::FixedSizeList(item, _) => {
                match Self::of(item.data_type()) {
                    Self::Numbers(element) => Self::Lists(element),
                    _ => Self::Other(String::new()),
                }
            }
            _ => Self::Other(String::new()),
        };
        match (found, data_type) {
            (Self::Lists(_), D::Dictionary(..)) | (Self::Other(_), _) => {
                let name = format!("{data_type:?}");
                let end = name.find(|c: char| !c.is_alphabetic());
                Self::Other(format!(
                    "of the type {}",
                    &name[..end.unwrap_or(name.len())]
                ))
            }
            (found, _) => found,
        }
    }
}

/// Reads the columns that are asked for.
fn read(source: Source, options: &Options) -> Result<Table> {
    let names: Vec<String> = (source.schema.fields().iter())
        .map(|field| field.name().clone())
        .collect();
    let kinds: Vec<Kind> = (source.schema.fields().iter())
        .map(|field| Kind::of(field.data_type()))
        .collect();
    let mut columns = Columns::new(names.clone(), names.len(), options)?;
    let notes = if options.columns.is_none() {
        choose(&mut columns, &names, &kinds)
    } else {
        Vec::new()
    };
    if let Some(label) = columns.label {
        check_labels(&columns, label, &kinds)?;
    }
    let resolution = coarsest(&columns, &kinds)?;
    let is_id = matches!(
        kinds.get(columns.id),
        Some(Kind::Numbers(_) | Kind::Decimals(_) | Kind::Text)
    );
    let has_ids = is_id && matches!(columns.index, Index::Yes | Index::Named);
    let id = has_ids.then_some(columns.id);
    let mut wanted: Vec<usize> = (columns.numbers.iter().copied())
        .chain(columns.label)
        .chain(id)
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut rows = Rows::new(&columns, wanted, source.size);
    for batch in (source.open)(&rows.wanted)? {
        rows.push(&batch?, &kinds, id)?;
    }
    ensure!(rows.count > 0, "holds no rows");
    let (numbers, labels) = (rows.numbers, rows.labels);
    let ids = id.map(|_| rows.ids);
    let are_lists = matches!(columns.numbers[..], [only] if matches!(kinds[only], Kind::Lists(_)));
    let label = columns.label;
    let mut table = columns.into_table(ids);
    if are_lists {
        table.names.clear();
    }
    Ok(Table {
        numbers,
        labels: label.map(|_| labels),
        resolution,
        notes,
        ..table
    })
}

/// Leaves an index out, and takes a single column of lists for the rows; what was taken for what.
fn choose(columns: &mut Columns, names: &[String], kinds: &[Kind]) -> Vec<String> {
    // a class may be named as an index is: Indonesian is "id"
    let Some(id) = kinds.get(columns.id) else {
        return Vec::new();
    };
    let is_float = matches!(id, Kind::Numbers(element) if element.epsilon() > 0.0);
    if columns.index == Index::Counting || columns.index == Index::Named && is_float {
        columns.take_back();
    }
    let mut notes = Vec::new();
    if columns.index != Index::No && names[columns.id] != PANDAS {
        let title = columns.title(columns.id);
        notes.push(format!("{title} is an index and is left out"));
    }
    columns.numbers.retain(|&column| names[column] != PANDAS);
    let is_list = |column: &&usize| matches!(kinds[**column], Kind::Lists(_));
    let lists: Vec<usize> = columns.numbers.iter().filter(is_list).copied().collect();
    if let ([list], true) = (&lists[..], columns.numbers.len() > 1) {
        let title = columns.title(*list);
        notes.push(format!("the rows are the lists of {title}"));
        columns.numbers = lists;
    }
    notes
}

/// Checks that labels are numbers or text.
fn check_labels(columns: &Columns, label: usize, kinds: &[Kind]) -> Result<()> {
    let name = match &kinds[label] {
        Kind::Numbers(_) | Kind::Decimals(_) | Kind::Text => return Ok(()),
        Kind::Lists(_) => "lists",
        Kind::Other(name) => name,
    };
    let title = columns.title(label);
    bail!("{title}: {name}, expected labels as numbers or text");
}

/// The numbers with the fewest digits among those that are asked for.
fn coarsest(columns: &Columns, kinds: &[Kind]) -> Result<Resolution> {
    let mut coarsest: Option<Element> = None;
    let mut fewest: Option<i32> = None;
    for &column in &columns.numbers {
        let wrong = |what: &str| {
            let title = columns.title(column);
            Err(wrong!("{title}: {what}; --columns chooses columns"))
        };
        let element = match &kinds[column] {
            Kind::Numbers(element) => *element,
            Kind::Decimals(decimals) => {
                fewest = Some(fewest.map_or(*decimals, |known| known.min(*decimals)));
                continue;
            }
            Kind::Lists(element) if columns.numbers.len() == 1 => *element,
            Kind::Lists(_) => return wrong("lists, expected numbers, or a single column of lists"),
            Kind::Text => return wrong("text, expected numbers"),
            Kind::Other(name) => return wrong(&format!("{name}, expected numbers")),
        };
        let is_coarser = |known: &Element| known.epsilon() >= element.epsilon();
        coarsest = coarsest.filter(is_coarser).or(Some(element));
    }
    Ok(match fewest {
        Some(decimals) => Resolution::of_decimals(decimals),
        None => Resolution::Binary(coarsest.unwrap_or(Element::F64)),
    })
}
