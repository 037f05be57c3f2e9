//! Tables of text: which line is a header, which columns are numbers, labels, or an index.

use std::io::Read;

use super::{
    Matrix, Options, Table, WhichLabel,
    cells::{Cells, Ids, Lines},
    clipped,
    header::{Header, may_be_header},
    limits::{MOST_NUMBERS, check_numbers},
    records::{Record, Records},
    resolution::Resolution,
    select::{by_name, select},
};
use crate::error::{Error, Result, bail, ensure, wrong};

/// The name that pandas gives to an index.
pub const PANDAS: &str = "__index_level_0__";

/// Rows from which on a column that counts is an index.
const COUNTING: usize = 3;

/// Rows that show how many digits all have.
const SEEN: usize = 1000;

/// Reads a table of text.
pub fn read(reader: impl Read, options: &Options) -> Result<Table> {
    let mut records = Records::new(reader)?;
    let (mut first, mut second) = (Record::default(), Record::default());
    ensure!(records.read(&mut first)?, "holds no rows");
    let has_second = records.read(&mut second)?;
    let header = Header::of(&first, has_second.then_some(&second), options);
    if header == Header::None
        && !options.is_counted
        && options.header.is_none()
        && has_second
        && may_be_header(&first, &second)
    {
        let (line, cells) = (first.line, first.cells().collect::<Vec<_>>().join(","));
        let cells = clipped(&cells);
        bail!(
            "line {line} ({cells}) may be a header or a row, expected --header yes or --header no"
        );
    }
    let width = match header {
        Header::None => first.len(),
        _ if has_second => second.len(),
        _ => bail!("holds no rows"),
    };
    let mut columns = Columns::new(header.names(), width, options)?;
    let mut rows = Rows::default();
    if let Header::None = header {
        rows.push(&first, &mut columns)?;
    }
    if has_second {
        rows.push(&second, &mut columns)?;
        while records.read(&mut first)? {
            rows.push(&first, &mut columns)?;
        }
    }
    rows.finish(columns, header.note(), options)
}

/// What is done with the columns.
pub struct Columns {
    names: Vec<String>,
    width: usize,
    pub label: Option<usize>,
    pub numbers: Vec<usize>,
    /// The column that may name or count rows, and what is known of it.
    pub id: usize,
    pub index: Index,
    /// Whether that column is one of numbers if it is no index.
    is_open: bool,
    pub is_confidence: bool,
}

/// Names of columns that name rows.
const IDS: [&str; 8] = [
    "index",
    "id",
    "idx",
    "row",
    "ids",
    "sample_id",
    "row_id",
    "sample",
];

/// What is known of a column as one that names or counts rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Index {
    /// It is none.
    No,
    /// It is one, whatever it holds.
    Yes,
    /// It is one if it holds whole numbers, or text.
    Named,
    /// It is one if it counts.
    Counting,
}

impl Columns {
    /// - `names`: those of the header, empty without one
    pub fn new(names: Vec<String>, width: usize, options: &Options) -> Result<Self> {
        ensure!(
            names.is_empty() || names.len() == width,
            "line 1 has {} columns and the row below {width}, expected as many",
            names.len()
        );
        let is_confidence = options.confidence == Some(true)
            || options.confidence.is_none() && width == 2 && are_confidences(&names);
        let label = match (options.label, width) {
            (_, 2) if is_confidence => {
                let named = by_name(&names, &CORRECT).or(options.correct);
                Some(named.unwrap_or(1))
            }
            (WhichLabel::None, _) => None,
            (WhichLabel::Last, _) => {
                let is_id = |name: &String| IDS.contains(&&*name.to_lowercase()) || name == PANDAS;
                let last = names.iter().rposition(|name| !is_id(name));
                Some(last.unwrap_or(width - 1))
            }
            (WhichLabel::Named(name) | WhichLabel::Only(name), _) => {
                Some(select(name, &names, width, "--label-column")?[0])
            }
            (WhichLabel::IfThere(name), _) => names.iter().position(|other| other == name),
        };
        ensure!(
            options.confidence != Some(true) || width == 2,
            "{width} columns, expected two: confidence and correctness"
        );
        let chosen = options
            .columns
            .map(|columns| select(columns, &names, width, "--columns"));
        let chosen = chosen.transpose()?;
        let is_only = matches!(options.label, WhichLabel::Only(_));
        let is_taken = |column: usize| {
            label == Some(column) || chosen.as_ref().is_some_and(|all| all.contains(&column))
        };
        let known = |(column, name): (usize, &String)| {
            let name = name.to_lowercase();
            let is_nameless = column == 0 && (name.is_empty() || name == "unnamed: 0");
            let index = match name {
                _ if is_nameless || name == PANDAS => Index::Yes,
                name if IDS.contains(&&*name) => Index::Named,
                _ => return None,
            };
            (!is_taken(column)).then_some((column, index))
        };
        let is_open = chosen.is_none() && !is_only;
        let (id, index) = match names.iter().enumerate().find_map(known) {
            _ if width < 2 || is_confidence => (0, Index::No),
            Some(known) => known,
            None if is_open && label != Some(0) && options.index.is_some() => (0, Index::Counting),
            None => (0, Index::No),
        };
        let numbers = match chosen {
            Some(chosen) => chosen,
            None if is_only => Vec::new(),
            None => (0..width)
                .filter(|&column| Some(column) != label && (index == Index::No || column != id))
                .collect(),
        };
        check_numbers(1, width as u64)?;
        Ok(Self {
            names,
            width,
            label,
            numbers,
            id,
            index,
            is_open,
            is_confidence,
        })
    }

    /// Takes the column that was no index for one of numbers, where it may be; its place among them.
    pub fn take_back(&mut self) -> Option<usize> {
        self.index = Index::No;
        let place = self
            .numbers
            .iter()
            .filter(|column| **column < self.id)
            .count();
        self.is_open.then(|| {
            self.numbers.insert(place, self.id);
            place
        })
    }

    /// What is said of an index that is left out.
    pub fn note(&self) -> Option<String> {
        let name = self.names.get(self.id).filter(|name| !name.is_empty());
        let name = name.map(|name| format!(" ({})", clipped(name)));
        let column = match self.id {
            0 => "the first column".to_owned(),
            id => format!("column {id}"),
        };
        (self.is_open && self.index != Index::No).then(|| {
            let name = name.unwrap_or_default();
            format!("{column}{name} is an index and is left out")
        })
    }

    /// A table that knows its columns, and has no rows yet.
    pub fn into_table(self, ids: Option<Cells>) -> Table {
        let name = |column: usize| self.names.get(column).cloned();
        let id = name(self.id).unwrap_or_default();
        Table {
            names: self
                .numbers
                .iter()
                .filter_map(|&column| name(column))
                .collect(),
            label_name: self.label.and_then(name),
            label_at: self.label,
            ids: ids.map(|cells| Ids { name: id, cells }),
            is_confidence: self.is_confidence,
            has_header: !self.names.is_empty(),
            ..Table::default()
        }
    }

    /// Names a column in a message.
    pub fn title(&self, column: usize) -> String {
        match self.names.get(column).filter(|name| !name.is_empty()) {
            Some(name) => format!("column {column} ({})", clipped(name)),
            None => format!("column {column}"),
        }
    }
}

const CONFIDENCE: [&str; 5] = ["confidence", "conf", "confidences", "probability", "prob"];
const CORRECT: [&str; 5] = ["accuracy", "acc", "correct", "correctness", "hit"];

fn are_confidences(names: &[String]) -> bool {
    by_name(names, &CONFIDENCE).is_some() && by_name(names, &CORRECT).is_some()
}

/// The rows that were read.
#[derive(Default)]
struct Rows {
    count: usize,
    values: Vec<f64>,
    /// The column that may be an index, while it may be one of numbers.
    first: Vec<f64>,
    /// What it holds.
    ids: Cells,
    labels: Cells,
    lines: Lines,
    resolution: Resolution,
}

impl Rows {
    fn push(&mut self, record: &Record, columns: &mut Columns) -> Result<()> {
        let row = self.count;
        self.lines.push(row, record.line);
        if record.len() != columns.width {
            let (found, width) = (record.len(), columns.width);
            let wrong = wrong!("{found} columns, expected {width} as in the first line");
            return Err(wrong.at_row(row).in_line(record.line));
        }
        let id = columns.id;
        if columns.index != Index::No {
            self.ids.push(record.cell(id));
        }
        if let Index::Named | Index::Counting = columns.index {
            let value = record.cell(id).parse::<f64>();
            let counts = value.as_ref().is_ok_and(|&value| match self.first.first() {
                Some(start) => value == start + row as f64,
                None => value == 0.0 || value == 1.0,
            });
            let is_index = match (columns.index, &value) {
                (Index::Named, Ok(value)) => value.fract() == 0.0,
                (Index::Named, Err(_)) => true,
                _ => counts,
            };
            match (is_index, value) {
                (true, Ok(value)) => self.first.push(value),
                (true, Err(_)) => columns.index = Index::Yes,
                (false, value) => {
                    value.map_err(|_| no_number(row, columns, (record, id)))?;
                    self.take_back(columns);
                }
            }
        }
        ensure!(
            self.values.len() + columns.numbers.len() <= MOST_NUMBERS,
            "holds more than {MOST_NUMBERS} numbers, expected fewer"
        );
        for &column in &columns.numbers {
            let cell = record.cell(column);
            let value = cell.parse();
            let value = value.map_err(|_| no_number(row, columns, (record, column)))?;
            if row < SEEN {
                self.resolution.see(cell);
            }
            self.values.push(value);
        }
        if let Some(label) = columns.label {
            self.labels.push(record.cell(label));
        }
        self.count += 1;
        Ok(())
    }

    /// Takes the column that was no index for one of numbers.
    fn take_back(&mut self, columns: &mut Columns) {
        let width = columns.numbers.len();
        let Some(place) = columns.take_back() else {
            return;
        };
        let mut values = Vec::with_capacity(self.values.len() + self.first.len());
        for (row, &first) in self.first.iter().enumerate() {
            let others = &self.values[row * width..(row + 1) * width];
            values.extend_from_slice(&others[..place]);
            values.push(first);
            values.extend_from_slice(&others[place..]);
        }
        self.values = values;
    }

    fn finish(
        mut self,
        mut columns: Columns,
        header: Option<&str>,
        options: &Options,
    ) -> Result<Table> {
        ensure!(self.count > 0, "holds no rows");
        let left = columns.numbers.len();
        if columns.index == Index::Counting
            && (self.count < COUNTING || options.index.is_none_or(|least| left < least))
        {
            self.take_back(&mut columns);
        }
        let mut notes: Vec<String> = header.into_iter().map(str::to_owned).collect();
        notes.extend(columns.note());
        let ids = matches!(columns.index, Index::Yes | Index::Named).then_some(self.ids);
        Ok(Table {
            numbers: Matrix {
                columns: columns.numbers.len(),
                values: self.values,
            },
            labels: columns.label.map(|_| self.labels),
            lines: self.lines,
            resolution: self.resolution,
            notes,
            ..columns.into_table(ids)
        })
    }
}

/// What is wrong with a cell that is no number.
fn no_number(row: usize, columns: &Columns, (record, column): (&Record, usize)) -> Error {
    let wrong = match record.cell(column) {
        "" => wrong!("is empty, expected a number"),
        cell if has_decimal_comma(cell) => {
            wrong!("\"{cell}\" has a decimal comma, expected a decimal point")
        }
        cell => wrong!("{:?}, expected a number", clipped(cell)),
    };
    wrong.at(row, columns.title(column)).in_line(record.line)
}

pub fn has_decimal_comma(cell: &str) -> bool {
    cell.contains(',') && cell.replacen(',', ".", 1).parse::<f64>().is_ok()
}
