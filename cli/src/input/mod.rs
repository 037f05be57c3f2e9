//! Reading files: which format, which columns, which rows.

mod array;
mod cells;
#[cfg(feature = "parquet")]
mod columnar;
mod element;
mod header;
mod limits;
mod open;
mod records;
mod resolution;
mod select;
mod table;

use std::path::{Path, PathBuf};

use crate::error::{Context, Result, bail, ensure};
pub use cells::{Cells, Ids, Lines};
use open::{Content, open};
pub use records::{Record, Records};
pub use resolution::Resolution;
use table::Columns;
pub use table::PANDAS;

/// Numbers in rows of equal length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    pub columns: usize,
    /// Row-major.
    pub values: Vec<f64>,
}

impl Matrix {
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    /// The columns in an order, which may leave some out.
    pub fn with_columns(&self, order: &[usize]) -> Self {
        let rows = self.values.chunks(self.columns.max(1));
        Self {
            columns: order.len(),
            values: rows
                .flat_map(|row| order.iter().map(|&column| row[column]))
                .collect(),
        }
    }
}

/// A file of numbers, one column of which may be the labels.
#[derive(Debug, Default)]
pub struct Table {
    /// The names of the columns of numbers; empty without a header.
    pub names: Vec<String>,
    pub numbers: Matrix,
    pub labels: Option<Cells>,
    /// The name of their column, if it has one.
    pub label_name: Option<String>,
    /// The position of their column.
    pub label_at: Option<usize>,
    /// What names the rows, if a column does.
    pub ids: Option<Ids>,
    pub lines: Lines,
    pub resolution: Resolution,
    /// Whether the columns are confidence and correctness, the latter as labels.
    pub is_confidence: bool,
    /// Whether the first line is a header.
    pub has_header: bool,
    /// What was taken for what.
    notes: Vec<String>,
}

/// What is known of a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Whether the first line is a header, if it is not to be found out.
    pub header: Option<bool>,
    /// The columns of numbers; without it all but an index and the labels.
    pub columns: Option<&'a str>,
    pub label: WhichLabel<'a>,
    /// Whether a column that counts rows may be an index, and the columns of numbers that it has to leave.
    pub index: Option<usize>,
    /// Whether the columns are confidence and correctness, if that is not told by their names.
    pub confidence: Option<bool>,
    /// The column of correctness where no name tells it.
    pub correct: Option<usize>,
    /// Whether rows are probabilities, which tells a header that counts from a row.
    pub are_probabilities: bool,
    /// Whether the number of rows is checked against another file. Without that a first line that may be a
    /// header or a row is an error.
    pub is_counted: bool,
    /// Words that are labels, and hence no header.
    pub words: &'a [String],
}

/// The column of the labels.
#[derive(Debug, Clone, Copy, Default)]
pub enum WhichLabel<'a> {
    #[default]
    None,
    Last,
    Named(&'a str),
    /// That of a name, and no column of numbers.
    Only(&'a str),
    /// That of a name, if there is one.
    IfThere(&'a str),
}

/// Reads a table; what was taken for what goes to standard error.
pub fn read_table(path: &Path, options: &Options) -> Result<Table> {
    let (file, array) = split_array_name(path);
    let table = open(&file).and_then(|content| match content {
        Content::Text(reader) => table::read(reader, options),
        Content::Npy(reader) => array_table(array::npy(reader)?, options),
        Content::Archive(reader) => array_table(array::npz(reader, array.as_deref())?, options),
        Content::Safetensors(bytes) => {
            array_table(array::safetensors(&bytes, array.as_deref())?, options)
        }
        #[cfg(feature = "parquet")]
        Content::Columnar(bytes) => columnar::read(bytes, options),
    });
    let table = table.and_then(|table| {
        let is_alone = table.numbers.columns == 0 && matches!(options.label, WhichLabel::Named(_));
        ensure!(!is_alone, "one column, expected numbers beside the labels");
        Ok(table)
    });
    let table = table.of(path)?;
    if !table.notes.is_empty() {
        say(path, table.notes.join("; "));
    }
    Ok(table)
}

/// Reads the text of a file, packed or not.
pub fn read_text(path: &Path) -> Result<Box<dyn std::io::Read>> {
    match open(path)? {
        Content::Text(reader) => Ok(reader),
        _ => bail!("expected text"),
    }
}

/// Says how a file was read.
pub fn say(path: &Path, what: impl std::fmt::Display) {
    eprintln!("calibration: {}: {what}", path.display());
}

/// `FILE.npz:ARRAY` names an array of an archive.
fn split_array_name(path: &Path) -> (PathBuf, Option<String>) {
    let text = path.to_string_lossy();
    for end in [".npz", ".safetensors"] {
        if let Some((stem, array)) = text.rsplit_once(&format!("{end}:"))
            && !path.exists()
        {
            return (format!("{stem}{end}").into(), Some(array.into()));
        }
    }
    (path.to_path_buf(), None)
}

/// The table of an array, which has no index.
fn array_table((numbers, format): array::Array, options: &Options) -> Result<Table> {
    let options = Options {
        index: None,
        ..*options
    };
    let columns = Columns::new(Vec::new(), numbers.columns, &options)?;
    let labels = columns.label.map(|label| {
        let rows = numbers.values.chunks(numbers.columns);
        rows.map(|row| row[label]).collect()
    });
    let numbers = if columns.numbers.len() == numbers.columns {
        numbers
    } else {
        numbers.with_columns(&columns.numbers)
    };
    Ok(columns.describe(Table {
        numbers,
        labels,
        resolution: Resolution::Binary(format),
        ..Table::default()
    }))
}

/// The first characters of what may be long.
pub fn clipped(text: &str) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
