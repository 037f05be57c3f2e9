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

pub use array::clipped;
pub use cells::{Cells, Ids, Lines};
use element::Element;
use open::{Content, open};
pub use records::{Record, Records};
pub use resolution::Resolution;
use select::select;
pub use table::PANDAS;

/// A clear line about what is wrong with a file, and where.
pub type Result<T, E = String> = std::result::Result<T, E>;

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
#[derive(Debug)]
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
        Content::Parquet(bytes) => columnar::read_parquet(bytes, options),
        #[cfg(feature = "parquet")]
        Content::Arrow(bytes) => columnar::read_arrow(bytes, options),
    });
    let table = table.map_err(|reason| format!("{}: {reason}", path.display()))?;
    if table.numbers.columns == 0 && matches!(options.label, WhichLabel::Named(_)) {
        return Err(format!(
            "{}: one column, expected numbers beside the labels",
            path.display()
        ));
    }
    if !table.notes.is_empty() {
        say(path, &table.notes.join("; "));
    }
    Ok(table)
}

/// Reads the text of a file, packed or not.
pub fn read_text(path: &Path) -> Result<Box<dyn std::io::Read>> {
    match open(path)? {
        Content::Text(reader) => Ok(reader),
        _ => Err("expected text".into()),
    }
}

/// Says how a file was read.
pub fn say(path: &Path, what: &str) {
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

/// The table of an array.
fn array_table((numbers, element): (Matrix, Element), options: &Options) -> Result<Table> {
    let width = numbers.columns;
    let is_confidence = options.confidence == Some(true);
    if is_confidence && width != 2 {
        return Err(format!(
            "{width} columns, expected two: confidence and correctness"
        ));
    }
    let label = match options.label {
        _ if is_confidence => Some(options.correct.unwrap_or(1)),
        WhichLabel::None | WhichLabel::IfThere(_) => None,
        WhichLabel::Last => Some(width - 1),
        WhichLabel::Named(column) | WhichLabel::Only(column) => {
            Some(select(column, &[], width, "--label-column")?[0])
        }
    };
    let chosen = match options.columns {
        Some(columns) => select(columns, &[], width, "--columns")?,
        None if matches!(options.label, WhichLabel::Only(_)) => Vec::new(),
        None => (0..width).filter(|column| Some(*column) != label).collect(),
    };
    let rows = || numbers.values.chunks(width);
    Ok(Table {
        names: Vec::new(),
        labels: label.map(|label| rows().map(|row| row[label]).collect()),
        label_name: None,
        label_at: label,
        ids: None,
        lines: Lines::default(),
        resolution: Resolution::Binary(element),
        is_confidence,
        has_header: false,
        notes: Vec::new(),
        numbers: match chosen.len() == width {
            true => numbers,
            false => numbers.with_columns(&chosen),
        },
    })
}
