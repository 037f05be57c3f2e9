//! Tables of text: which line is a header, which columns are numbers, labels, or an index.

use std::io::Read;

use super::{
    Matrix, Options, Result, Table, WhichLabel,
    array::clipped,
    cells::{Cells, Ids, Lines},
    header::{Header, may_be_header},
    limits::{MOST_NUMBERS, check_numbers},
    records::{Record, Records},
    resolution::Resolution,
    select::{by_name, select},
};

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
    if !records.read(&mut first)? {
        return Err("holds no rows".into());
    }
    let has_second = records.read(&mut second)?;
    let header = Header::of(&first, has_second.then_some(&second), options);
    if header == Header::None
        && !options.is_counted
        && options.header.is_none()
        && has_second
        && may_be_header(&first, &second)
    {
        let line = first.cells().collect::<Vec<_>>().join(",");
        return Err(format!(
            "line {} ({}) may be a header or a row, expected --header yes or --header no",
            first.line,
            clipped(&line)
        ));
    }
    let width = match header {
        Header::None => first.len(),
        _ if has_second => second.len(),
        _ => return Err("holds no rows".into()),
    };
    let mut columns = Columns::new(&header, width, options)?;
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
    let mut table = rows.finish(columns, header.note(), options)?;
    table.has_header = header != Header::None;
    Ok(table)
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
    pub fn new(header: &Header, width: usize, options: &Options) -> Result<Self> {
        let names = header.names();
        if !names.is_empty() && names.len() != width {
            return Err(format!(
                "line 1 has {} columns and the row below {width}, expected as many",
                names.len()
            ));
        }
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
        if options.confidence == Some(true) && width != 2 {
            return Err(format!(
                "{width} columns, expected two: confidence and correctness"
            ));
        }
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
            return Err(format!(
                "{}: {} columns, expected {} as in the first line",
                self.lines.name(row),
                record.len(),
                columns.width
            ));
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
                    value.map_err(|_| self.wrong(row, columns.title(id), record.cell(id)))?;
                    self.take_back(columns);
                }
            }
        }
        if self.values.len() + columns.numbers.len() > MOST_NUMBERS {
            return Err(format!(
                "holds more than {MOST_NUMBERS} numbers, expected fewer"
            ));
        }
        for &column in &columns.numbers {
            let cell = record.cell(column);
            let value = cell.parse();
            let value = value.map_err(|_| self.wrong(row, columns.title(column), cell))?;
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

    fn wrong(&self, row: usize, column: String, cell: &str) -> String {
        format!("{}, {column}: {}", self.lines.name(row), wrong(cell))
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
        if self.count == 0 {
            return Err("holds no rows".into());
        }
        let left = columns.numbers.len();
        if columns.index == Index::Counting
            && (self.count < COUNTING || options.index.is_none_or(|least| left < least))
        {
            self.take_back(&mut columns);
        }
        let mut notes: Vec<String> = header.into_iter().map(str::to_owned).collect();
        notes.extend(columns.note());
        let name = |column: usize| columns.names.get(column).cloned();
        let names = columns.numbers.iter().filter_map(|&column| name(column));
        Ok(Table {
            names: names.collect(),
            numbers: Matrix {
                columns: columns.numbers.len(),
                values: self.values,
            },
            label_name: columns.label.and_then(name),
            label_at: columns.label,
            labels: columns.label.map(|_| self.labels),
            ids: matches!(columns.index, Index::Yes | Index::Named).then(|| Ids {
                name: name(columns.id).unwrap_or_default(),
                cells: self.ids,
            }),
            lines: self.lines,
            resolution: self.resolution,
            is_confidence: columns.is_confidence,
            has_header: false,
            notes,
        })
    }
}

/// What is wrong with a cell that is no number.
fn wrong(cell: &str) -> String {
    match cell {
        "" => "is empty, expected a number".into(),
        cell if has_decimal_comma(cell) => {
            format!("\"{cell}\" has a decimal comma, expected a decimal point")
        }
        cell => format!("{:?}, expected a number", clipped(cell)),
    }
}

pub fn has_decimal_comma(cell: &str) -> bool {
    cell.contains(',') && cell.replacen(',', ".", 1).parse::<f64>().is_ok()
}
