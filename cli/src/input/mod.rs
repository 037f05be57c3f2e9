//! Reading files: which format, which columns, which rows.

mod array;
mod cells;
mod choice;
mod element;
mod header;
mod json;
mod limits;
mod open;
#[cfg(feature = "parquet")]
mod parquet;
mod resolution;
mod select;
mod text;

use std::path::{Path, PathBuf};

use crate::{
    error::{Context, Result, one_line},
    program::{Held, HeldFiles},
};
pub use cells::{Cells, RowLines, TextColumn};
pub use choice::{Choice, PredictionColumns, columns_option, is_id};
use json::JsonLines;
use open::{Content, open};
#[cfg(feature = "parquet")]
pub use parquet::silence_reader;
pub use resolution::Resolution;
use text::TextFile;
pub use text::delimiter;

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

    /// So many rows: those of some places are the rows, and the others are NaN.
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
    pub labels: Vec<TextColumn>,
    /// The column of the weights of the samples.
    pub weights: Option<TextColumn>,
    /// The column of `--id`.
    pub ids: Option<TextColumn>,
    /// Columns that other files have too, or that are passed through.
    pub others: Vec<TextColumn>,
    pub lines: RowLines,
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

pub fn is_missing(cell: &str) -> bool {
    MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

impl Table {
    /// The number of rows.
    pub fn len(&self) -> usize {
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
            labels: Vec::new(),
            weights: None,
            ids: self.ids.clone(),
            others: Vec::new(),
            lines: self.lines.clone(),
            resolution: self.resolution,
            is_confidence: false,
            has_header: self.has_header,
            is_default: false,
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
        let labels = self.labels.iter().chain(&self.weights).map(|labels| {
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

/// How a file is opened.
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
}

/// A column, by its name and its first value or its type.
#[derive(Debug, Clone)]
pub struct ColumnInfo {
    /// The name; empty without one.
    pub name: String,
    pub kind: ColumnKind,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnKind {
    Numbers,
    /// A list of numbers in each row.
    Lists,
    Text,
    /// Something else, in words.
    Other(String),
}

/// The columns that are read, by their places.
#[derive(Debug, Default)]
pub struct Plan {
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
pub struct Rows {
    /// A value that is missing is NaN.
    pub numbers: Matrix,
    pub texts: Vec<Cells>,
    pub lines: RowLines,
    pub resolution: Resolution,
}

/// A file whose columns are known, and whose rows are still to be read.
pub struct Opened {
    pub path: PathBuf,
    pub columns: Vec<ColumnInfo>,
    pub has_header: bool,
    /// What was taken for what.
    pub notes: Vec<String>,
    body: Body,
}

enum Body {
    Text(TextFile),
    JsonLines(JsonLines),
    Array(Matrix),
    #[cfg(feature = "parquet")]
    Parquet(parquet::ParquetFile),
}

impl Opened {
    /// Opens a file in memory, if it is held there, or else one of the file system.
    pub fn new(path: &Path, held: &HeldFiles, options: &OpenOptions) -> Result<Self> {
        let opened = match held.get(path) {
            Some(Held::Numbers { columns, values }) => {
                let (columns, values) = (*columns, values.clone());
                Ok(Self::array(Matrix { columns, values }))
            }
            Some(Held::Text(text)) => {
                let bytes = std::io::Cursor::new(text.clone().into_bytes());
                Self::text(Box::new(bytes), options)
            }
            None => Self::file(path, options),
        };
        let mut opened = opened.of(path)?;
        opened.path = path.to_path_buf();
        Ok(opened)
    }

    fn file(path: &Path, options: &OpenOptions) -> Result<Self> {
        let (file, array) = split_array_name(path);
        match open(&file)? {
            Content::Text(reader) => Self::text(reader, options),
            Content::JsonLines(reader) => {
                let file = JsonLines::open(reader)?;
                Ok(Self::with(file.columns(), true, Body::JsonLines(file)))
            }
            Content::Npy(reader) => Ok(Self::array(array::npy(reader)?)),
            Content::Archive(reader) => Ok(Self::array(array::npz(reader, array.as_deref())?)),
            Content::Safetensors(bytes) => {
                let array = array::safetensors(&bytes, array.as_deref())?;
                Ok(Self::array(array))
            }
            #[cfg(feature = "parquet")]
            Content::Parquet(bytes) => {
                let (file, columns) = parquet::ParquetFile::open(bytes)?;
                Ok(Self::with(columns, true, Body::Parquet(file)))
            }
        }
    }

    fn with(columns: Vec<ColumnInfo>, has_header: bool, body: Body) -> Self {
        Self {
            path: PathBuf::new(),
            columns,
            has_header,
            notes: Vec::new(),
            body,
        }
    }

    fn text(reader: Box<dyn std::io::Read>, options: &OpenOptions) -> Result<Self> {
        let (file, has_header, note) = TextFile::open(reader, options)?;
        let opened = Self::with(file.columns(), has_header, Body::Text(file));
        Ok(Self {
            notes: note.map(str::to_owned).into_iter().collect(),
            ..opened
        })
    }

    fn array(array: Matrix) -> Self {
        let column = ColumnInfo {
            name: String::new(),
            kind: ColumnKind::Numbers,
        };
        let columns = vec![column; array.columns];
        Self::with(columns, false, Body::Array(array))
    }

    /// The names of the columns; empty without a header.
    pub fn names(&self) -> Vec<String> {
        if !self.has_header {
            return Vec::new();
        }
        self.columns
            .iter()
            .map(|column| column.name.clone())
            .collect()
    }

    /// The places of the columns that an option names.
    pub fn select(&mut self, spec: &str, option: &str) -> Result<Vec<usize>> {
        if let Body::JsonLines(file) = &mut self.body {
            let found = file.select(spec);
            self.columns = file.columns();
            return found.of(&self.path);
        }
        select::select(spec, &self.names(), self.columns.len(), option).of(&self.path)
    }

    /// The same, if all of them are there under their names.
    pub fn select_if_there(&mut self, spec: &str, option: &str) -> Option<Vec<usize>> {
        let is_json = matches!(self.body, Body::JsonLines(_));
        if !is_json && !select::are_named(spec, &self.names()) {
            return None;
        }
        self.select(spec, option).ok()
    }

    /// The place of the column of `--id`, whose letters may be others in other files.
    pub fn select_id(&mut self, name: &str) -> Result<usize> {
        let is_same = |column: &&ColumnInfo| column.name.eq_ignore_ascii_case(name);
        let mut found = self.columns.iter().filter(is_same);
        let spec = match (found.next(), found.next()) {
            (Some(only), None) => only.name.clone(),
            _ => name.to_owned(),
        };
        Ok(self.select(&spec, "--id")?[0])
    }

    /// The fields of JSON Lines, between commas, of which none is a column of predictions by default.
    pub fn fields(&self) -> Option<String> {
        match &self.body {
            Body::JsonLines(file) => Some(file.fields()),
            _ => None,
        }
    }

    /// Whether a column counts rows or names them for the program that wrote the file: a first column without a name, and
    /// the index of pandas.
    pub fn is_index(&self, column: usize) -> bool {
        let name = &self.columns[column].name;
        let is_first = || name.is_empty() || name.eq_ignore_ascii_case("unnamed: 0");
        self.has_header && (name == "__index_level_0__" || column == 0 && is_first())
    }

    /// A column in words.
    pub fn title(&self, column: usize) -> String {
        titled(column, &self.columns[column].name)
    }

    /// Reads the rows.
    fn read_rows(body: Body, plan: &Plan) -> Result<Rows> {
        match body {
            Body::Text(file) => file.read(plan),
            Body::JsonLines(file) => file.read(plan),
            Body::Array(numbers) => Ok(array_rows(numbers, plan)),
            #[cfg(feature = "parquet")]
            Body::Parquet(file) => file.read(plan),
        }
    }

    /// Reads the columns of a choice, and of others as text.
    pub fn read(self, choice: &Choice, others: &[usize], are_percentages: bool) -> Result<Table> {
        let texts = choice
            .labels
            .iter()
            .chain(&choice.weights)
            .chain(&choice.id);
        let plan = Plan {
            numbers: choice.numbers.clone(),
            texts: texts.chain(others).copied().collect(),
            left_out: choice.left_out.clone(),
            are_percentages,
        };
        let path = self.path;
        let rows = Self::read_rows(self.body, &plan).of(&path)?;
        let texts = rows.texts.into_iter().zip(&plan.texts);
        let mut texts = texts.map(|(cells, &at)| TextColumn {
            name: self.columns[at].name.clone(),
            at,
            cells,
        });
        let labels = texts.by_ref().take(choice.labels.len()).collect();
        let weights = choice.weights.and_then(|_| texts.next());
        let ids = choice.id.and_then(|_| texts.next());
        let is_of_lists = rows.numbers.columns != choice.numbers.len();
        let name = |&column: &usize| self.columns[column].name.clone();
        Ok(Table {
            names: if self.has_header && !is_of_lists {
                choice.numbers.iter().map(name).collect()
            } else {
                Vec::new()
            },
            places: plan.numbers,
            numbers: rows.numbers,
            labels,
            weights,
            ids,
            others: texts.collect(),
            lines: rows.lines,
            resolution: rows.resolution,
            is_confidence: choice.is_confidence,
            has_header: self.has_header,
            is_default: choice.is_default,
        })
    }
}

/// The columns of an array.
fn array_rows(numbers: Matrix, plan: &Plan) -> Rows {
    let text = |&at: &usize| {
        let rows = numbers.values.chunks(numbers.columns);
        rows.map(|row| row[at].to_string()).collect()
    };
    let texts = plan.texts.iter().map(text).collect();
    let is_whole = plan.numbers.iter().copied().eq(0..numbers.columns);
    Rows {
        numbers: if is_whole {
            numbers
        } else {
            numbers.with_columns(&plan.numbers)
        },
        texts,
        ..Rows::default()
    }
}

/// The model that a column is of, and what its name says besides: the longest beginning of the name after which
/// there is nothing, a number, or what is neither a letter nor a digit.
pub fn of_model<'a>(name: &'a str, models: &[String]) -> Option<(usize, &'a str)> {
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

/// Says how a file was read, on one line.
pub fn say(path: &Path, what: impl std::fmt::Display) {
    eprintln!(
        "calibration: {}",
        one_line(&format!("{}: {what}", path.display()))
    );
}

/// `FILE.npz:ARRAY` names an array of an archive.
pub fn split_array_name(path: &Path) -> (PathBuf, Option<String>) {
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
