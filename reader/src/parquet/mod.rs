//! Parquet, read as record batches.

mod file;
mod rows;
mod thrift;
mod values;

use std::thread;

use arrow_schema::DataType;

use super::{ColumnInfo, ColumnKind, Plan, Rows, resolution::Resolution, titled};
use crate::error::{Result, bail, ensure, wrong};
pub use file::ParquetFile;
use rows::ParquetRows;

/// The name of the thread that reads Parquet. A panic of it is an error, so its message need not be printed.
pub const THREAD: &str = "parquet";

/// Bytes of the stack of that thread.
const STACK: usize = 64 << 20;

/// Runs the reader on a thread of its own. A panic is an error: the reader takes some of what a file says for granted.
fn guarded<T: Send>(read: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(THREAD.into()).stack_size(STACK);
        let thread = thread.spawn_scoped(scope, read)?;
        let read = thread.join();
        read.unwrap_or_else(|_| Err(wrong!("Parquet that is broken")))
    })
}

/// The kind of a column, by its type.
fn kind(data_type: &DataType) -> ColumnKind {
    use DataType as D;
    match data_type {
        D::Utf8 | D::LargeUtf8 | D::Utf8View => return ColumnKind::Text,
        D::Dictionary(_, value) => {
            let value = kind(value);
            if matches!(value, ColumnKind::Numbers | ColumnKind::Text) {
                return value;
            }
        }
        D::List(item) | D::LargeList(item) | D::FixedSizeList(item, _)
            if kind(item.data_type()) == ColumnKind::Numbers =>
        {
            return ColumnKind::Lists;
        }
        D::Boolean => return ColumnKind::Numbers,
        number if number.is_numeric() => return ColumnKind::Numbers,
        _ => {}
    }
    let name = format!("{data_type:?}");
    let name = name.split(|c: char| !c.is_alphabetic()).next();
    ColumnKind::Other(format!("of the type {}", name.unwrap_or_default()))
}

/// The decimals of a column of a decimal type.
fn resolution(data_type: &DataType) -> Resolution {
    use DataType as D;
    match data_type {
        D::Decimal32(_, scale)
        | D::Decimal64(_, scale)
        | D::Decimal128(_, scale)
        | D::Decimal256(_, scale) => Resolution::of_decimals((*scale).into()),
        D::Dictionary(_, value) => resolution(value),
        D::List(item) | D::LargeList(item) | D::FixedSizeList(item, _) => {
            resolution(item.data_type())
        }
        _ => Resolution::default(),
    }
}

impl ParquetFile {
    /// Reads a file up to its schema.
    pub fn open(bytes: Vec<u8>) -> Result<(Self, Vec<ColumnInfo>)> {
        let file = guarded(|| Self::new(bytes))?;
        let fields = file.schema().fields().iter();
        let column = |field: &arrow_schema::FieldRef| ColumnInfo {
            name: field.name().clone(),
            kind: kind(field.data_type()),
        };
        let columns = fields.map(column).collect();
        Ok((file, columns))
    }

    /// Reads the columns that are asked for.
    pub fn read(self, plan: &Plan) -> Result<Rows> {
        guarded(|| {
            let resolution = self.check(plan)?;
            let mut rows = ParquetRows::new(plan, &self);
            for batch in self.batches(&rows.wanted)? {
                rows.push(&batch?)?;
            }
            ensure!(rows.count > 0, "holds no rows");
            Ok(Rows {
                resolution,
                ..rows.rows
            })
        })
    }

    /// Checks that columns of numbers hold such; returns the fewest decimals of those of a decimal type.
    fn check(&self, plan: &Plan) -> Result<Resolution> {
        let mut coarsest = Resolution::default();
        for &column in &plan.numbers {
            let field = self.schema().field(column);
            let what = match kind(field.data_type()) {
                ColumnKind::Numbers => None,
                ColumnKind::Lists if plan.numbers.len() == 1 => None,
                ColumnKind::Lists => {
                    Some("lists, expected numbers, or a single column of lists".into())
                }
                ColumnKind::Text => Some("text, expected numbers".into()),
                ColumnKind::Other(name) => Some(format!("{name}, expected numbers")),
            };
            if let Some(what) = what {
                let title = titled(column, field.name());
                bail!("{title}: {what}; --columns chooses columns");
            }
            coarsest = coarsest.coarser(resolution(field.data_type()));
        }
        Ok(coarsest)
    }
}
