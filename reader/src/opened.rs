//! Files whose columns are known and whose rows are still to be read, in any format.

use std::{
    io::{Cursor, Read},
    path::{Path, PathBuf},
};

#[cfg(feature = "parquet")]
use super::parquet::ParquetFile;
use super::{
    Choice, ColumnInfo, ColumnKind, Matrix, OpenOptions, Plan, Rows, Table, TextColumn, array,
    json::JsonLines,
    open::{Content, open},
    select, split_array_name,
    text::TextFile,
    titled,
};
use crate::error::{Context, Result};

/// What is said of a name in a first line that is no header.
const LINE_1: &str = "line 1 has it and is read as a row; --header yes takes it as names, and --labels-header yes that \
                      of the labels";

/// A file whose columns are known, and whose rows are still to be read.
pub struct Opened {
    /// The path.
    pub path: PathBuf,
    /// The columns in their order.
    pub columns: Vec<ColumnInfo>,
    /// Whether the columns have names.
    pub has_header: bool,
    /// Notes about how the file was read.
    pub notes: Vec<String>,
    /// The columns that are read.
    pub choice: Choice,
    body: Body,
}

enum Body {
    Text(TextFile),
    JsonLines(JsonLines),
    Array(Matrix),
    #[cfg(feature = "parquet")]
    Parquet(ParquetFile),
}

impl Opened {
    /// Opens a file, or the text that stands in its place.
    pub fn new(path: &Path, options: &OpenOptions) -> Result<Self> {
        let opened = match options.texts.and_then(|texts| texts.get(path)) {
            Some(text) => Self::text(Box::new(Cursor::new(text.clone())), options),
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
                let (file, columns) = ParquetFile::open(bytes)?;
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
            choice: Choice::default(),
            body,
        }
    }

    fn text(reader: Box<dyn Read>, options: &OpenOptions) -> Result<Self> {
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
            let found = file.select(spec, false);
            self.columns = file.columns();
            return found.of(&self.path);
        }
        let found = select::select(spec, &self.names(), self.columns.len(), option);
        let is_row = |file: &TextFile| !self.has_header && file.begins_with(spec);
        let found = match &self.body {
            Body::Text(file) if is_row(file) => found.map_err(|error| error.with_hint(LINE_1)),
            _ => found,
        };
        found.of(&self.path)
    }

    /// The columns that an option names, if it names some, and whether they must be there under their names.
    pub(crate) fn select_named(
        &mut self,
        columns: Option<(&str, bool)>,
        option: &str,
    ) -> Result<Vec<usize>> {
        let is_json = matches!(self.body, Body::JsonLines(_));
        match columns {
            Some((spec, false)) if is_json => Ok(self.select(spec, option).unwrap_or_default()),
            Some((spec, must)) if must || select::are_named(spec, &self.names()) => {
                self.select(spec, option)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Adds the columns of a field of JSON Lines that has the predictions of a model, under names that begin with it.
    pub(crate) fn select_model(&mut self, model: &str) -> Result<()> {
        if let Body::JsonLines(file) = &mut self.body {
            let found = file.select(model, true);
            self.columns = file.columns();
            found.of(&self.path)?;
        }
        Ok(())
    }

    /// The place of the column of `--id`, if there is one, whose letters may be others in other files.
    pub fn select_id(&mut self, name: Option<&str>) -> Result<Option<usize>> {
        let Some(name) = name else {
            return Ok(None);
        };
        let is_same = |column: &&ColumnInfo| column.name.eq_ignore_ascii_case(name);
        let mut found = self.columns.iter().filter(is_same);
        let spec = match (found.next(), found.next()) {
            (Some(only), None) => only.name.clone(),
            _ => name.to_owned(),
        };
        Ok(Some(self.select(&spec, "--id")?[0]))
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

    /// Reads the columns of the choice.
    ///
    /// # Errors
    ///
    /// A row of another length than the first, and a cell that is no number where one is expected, with their places.
    pub fn read(self, are_percentages: bool) -> Result<Table> {
        let choice = self.choice;
        let texts = choice.labels.iter().chain(&choice.weights);
        let texts = texts.chain(&choice.id).chain(&choice.others);
        let plan = Plan {
            texts: texts.copied().collect(),
            numbers: choice.numbers,
            left_out: choice.left_out,
            are_percentages,
        };
        let rows = match self.body {
            Body::Text(file) => file.read(&plan),
            Body::JsonLines(file) => file.read(&plan),
            Body::Array(numbers) => Ok(array_rows(numbers, &plan)),
            #[cfg(feature = "parquet")]
            Body::Parquet(file) => file.read(&plan),
        };
        let rows = rows.of(&self.path)?;
        let texts = rows.texts.into_iter().zip(&plan.texts);
        let mut texts = texts.map(|(cells, &at)| TextColumn {
            name: self.columns[at].name.clone(),
            at,
            cells,
            are_groups: false,
        });
        let has_names = self.has_header && rows.numbers.columns == plan.numbers.len();
        let named = plan.numbers.iter().filter(|_| has_names);
        Ok(Table {
            names: named.map(|&at| self.columns[at].name.clone()).collect(),
            numbers: rows.numbers,
            labels: texts.by_ref().take(choice.labels.len()).collect(),
            weights: choice.weights.and_then(|_| texts.next()),
            ids: choice.id.and_then(|_| texts.next()),
            others: texts.collect(),
            lines: rows.lines,
            resolution: rows.resolution,
            is_confidence: choice.is_confidence,
            has_header: self.has_header,
            is_default: choice.is_default,
            places: plan.numbers,
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
