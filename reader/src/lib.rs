#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod array;
mod cells;
mod choice;
mod class_numbers;
mod element;
pub mod error;
mod files;
mod header;
mod json;
pub mod labels;
mod limits;
mod lines;
pub mod names;
mod notes;
mod open;
mod opened;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod probabilities;
mod records;
mod resolution;
mod select;
mod text;

use std::path::{Path, PathBuf};

pub use cells::{Cells, RowLines, TextColumn};
pub use choice::{Choice, PredictionColumns};
pub use class_numbers::ClassNumbers;
pub use error::{Context, Error, Result};
pub use files::{File, Files, Inputs, LeftOut, OpenFiles, Repeats, RowWeights};
pub use notes::Notes;
pub use open::is_standard_input;
pub use opened::Opened;
pub use options::{NumberOptions, ReadOptions, Texts};
#[cfg(feature = "parquet")]
pub use parquet::THREAD as PARQUET_THREAD;
pub use resolution::Resolution;
pub use text::delimiter;

/// Numbers in rows of equal length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    /// The number of columns.
    pub columns: usize,
    /// Row-major.
    pub values: Vec<f64>,
}

impl Matrix {
    /// The number of rows.
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

    /// Returns an array of so many rows, with these rows at some places and NaN in the others.
    pub fn spread(&self, places: &[usize], rows: usize) -> Self {
        let mut values = vec![f64::NAN; rows * self.columns];
        for (&place, row) in places.iter().zip(self.values.chunks(self.columns)) {
            values[place * self.columns..][..self.columns].copy_from_slice(row);
        }
        Self {
            columns: self.columns,
            values,
        }
    }

    /// The rows in an order, which may leave some out.
    pub fn with_rows(&self, order: &[usize]) -> Self {
        let row = |&row: &usize| &self.values[row * self.columns..][..self.columns];
        Self {
            columns: self.columns,
            values: order.iter().flat_map(row).copied().collect(),
        }
    }
}

/// A file of numbers, and of labels beside them.
#[derive(Debug, Default)]
pub struct Table {
    /// The names of the columns of numbers; empty without a header.
    pub names: Vec<String>,
    /// The positions of these columns.
    places: Vec<usize>,
    /// A value that is missing is NaN.
    pub numbers: Matrix,
    /// The columns of labels or variables.
    pub labels: Vec<TextColumn>,
    /// The column of the weights of the samples.
    pub weights: Option<TextColumn>,
    /// The column of `--id`.
    pub ids: Option<TextColumn>,
    /// Columns that other files have too, or that are passed through.
    pub others: Vec<TextColumn>,
    /// The places of the rows in the file.
    pub lines: RowLines,
    /// The resolution of the numbers.
    pub resolution: Resolution,
    /// Whether the columns are confidence and correctness, the latter as labels.
    pub is_confidence: bool,
    /// Whether the first line is a header.
    pub has_header: bool,
    /// Whether the columns of numbers are those that are left when no option names any.
    pub is_default: bool,
}

/// Text of a value that is missing, in small letters.
const MISSING: [&str; 6] = ["", "na", "n/a", "nan", "null", "<na>"];

/// Whether a cell says that there is no value: empty, NA, null or NaN.
pub fn is_missing(cell: &str) -> bool {
    MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

impl Table {
    /// Numbers without the names of their columns.
    pub fn of_numbers(numbers: Matrix) -> Self {
        Self {
            places: (0..numbers.columns).collect(),
            numbers,
            ..Self::default()
        }
    }

    /// Columns of text.
    pub fn of_texts(columns: Vec<TextColumn>) -> Self {
        Self {
            labels: columns,
            ..Self::default()
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self.labels.first() {
            Some(labels) if self.numbers.columns == 0 => labels.cells.len(),
            _ => self.numbers.rows(),
        }
    }

    /// Some rows, in the order in which they are named.
    pub fn select(&mut self, rows: &[usize]) {
        self.numbers = self.numbers.with_rows(rows);
        let labels = self.labels.iter_mut();
        let texts = labels.chain(&mut self.weights).chain(&mut self.ids);
        let texts = texts.chain(&mut self.others);
        texts.for_each(|column| column.select(rows));
        self.lines = self.lines.select(rows);
    }

    /// Some of the columns of numbers, without labels.
    pub fn columns(&self, columns: &[usize]) -> Self {
        let name = |&column: &usize| self.names.get(column).cloned();
        Self {
            names: columns.iter().filter_map(name).collect(),
            places: columns.iter().map(|&column| self.places[column]).collect(),
            numbers: self.numbers.with_columns(columns),
            ids: self.ids.clone(),
            lines: self.lines.clone(),
            resolution: self.resolution,
            has_header: self.has_header,
            ..Self::default()
        }
    }

    /// The places of the columns of numbers in the file.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// Puts the places of the columns of numbers in another order.
    pub fn order_places(&mut self, order: &[usize]) {
        self.places = order.iter().map(|&column| self.places[column]).collect();
    }

    /// Names a column of numbers in a message.
    pub fn title(&self, column: usize) -> String {
        let name = self.names.get(column).map_or("", String::as_str);
        titled(self.places.get(column).copied().unwrap_or_default(), name)
    }

    /// The rows without a value, column after column, each with its title. A word that is a label is no missing
    /// one.
    pub fn missing(&self, words: &[String]) -> Vec<(String, Vec<usize>)> {
        let rows = self.numbers.values.chunks(self.numbers.columns.max(1));
        // a column may hold lists of numbers
        let mut gaps: Vec<Vec<usize>> = vec![Vec::new(); self.places.len()];
        for (row, numbers) in rows.enumerate() {
            let missing = numbers
                .iter()
                .enumerate()
                .filter(|(_, number)| number.is_nan());
            for (column, _) in missing {
                let gaps = &mut gaps[column.min(self.places.len() - 1)];
                if gaps.last() != Some(&row) {
                    gaps.push(row);
                }
            }
        }
        let numbers =
            (gaps.into_iter().enumerate()).map(|(column, gaps)| (self.title(column), gaps));
        let is_gap = |cell: &str| is_missing(cell) && !words.iter().any(|word| word == cell);
        let labels = self.labels.iter().filter(|labels| !labels.are_groups);
        let labels = labels.chain(&self.weights).map(|labels| {
            let cells = labels.cells.iter().enumerate();
            let gaps = cells.filter(|(_, cell)| is_gap(cell)).map(|(row, _)| row);
            (titled(labels.at, &labels.name), gaps.collect())
        });
        let all = numbers.chain(labels);
        all.filter(|(_, gaps): &(_, Vec<usize>)| !gaps.is_empty())
            .collect()
    }
}

/// A column in words.
pub fn titled(column: usize, name: &str) -> String {
    if name.is_empty() {
        format!("column {column}")
    } else {
        format!("column {column} ({})", clipped(name))
    }
}

/// The options of opening a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenOptions<'a> {
    /// Whether the first line is a header, if it is not to be found out.
    pub header: Option<bool>,
    /// The delimiter of text, if it is not to be found out.
    pub delimiter: Option<u8>,
    /// Whether rows are probabilities, which tells a header that counts from a row.
    pub are_probabilities: bool,
    /// Whether the number of rows is checked against another file. Without that a first line that may be a
    /// header or a row is an error.
    pub is_counted: bool,
    /// Words that are labels, and hence no header.
    pub words: &'a [String],
    /// Whether a blank line between the rows of a single column is a row without a value.
    pub blank_is_row: bool,
    /// Texts in the place of files.
    pub texts: Option<&'a Texts>,
}

/// A column, by its name and its first value or its type.
#[derive(Debug, Clone)]
pub struct ColumnInfo {
    /// The name; empty without one.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
}

/// The kind of values in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnKind {
    /// A number in each row.
    Numbers,
    /// A list of numbers in each row.
    Lists,
    /// A text in each row.
    Text,
    /// Something else, in words.
    Other(String),
}

/// The columns that are read, by their places.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub numbers: Vec<usize>,
    /// Columns that are kept as text.
    pub texts: Vec<usize>,
    /// Columns that are left out because they are text in the first row, as they must be in all.
    pub left_out: Vec<usize>,
    /// Whether numbers are percentages, which may have the sign.
    pub are_percentages: bool,
}

/// The columns that were read, in the order of the plan.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// A value that is missing is NaN.
    pub numbers: Matrix,
    pub texts: Vec<Cells>,
    pub lines: RowLines,
    pub resolution: Resolution,
}

/// The model that a column is of, and what its name says besides: the longest beginning of the name after which
/// there is nothing, a number, or what is neither a letter nor a digit.
pub(crate) fn of_model<'a>(name: &'a str, models: &[String]) -> Option<(usize, &'a str)> {
    let of = |(at, model): (usize, &String)| {
        let rest = name.strip_prefix(model.as_str())?;
        let is_apart = !model.ends_with(char::is_alphanumeric)
            || !rest.starts_with(char::is_alphanumeric)
            || rest.bytes().all(|byte| byte.is_ascii_digit());
        is_apart.then(|| (at, rest.trim_start_matches(|c: char| !c.is_alphanumeric())))
    };
    let found = models.iter().enumerate().filter_map(of);
    found.min_by_key(|(_, rest)| rest.len())
}

/// `FILE.npz:ARRAY` names an array of an archive.
pub(crate) fn split_array_name(path: &Path) -> (PathBuf, Option<String>) {
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

/// The first characters of what may be long.
pub fn clipped(text: &str) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A number of things: `1 row`, `20 rows`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
