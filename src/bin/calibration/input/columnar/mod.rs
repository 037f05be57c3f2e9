//! Columnar files: Parquet and Arrow IPC.

mod arrow;
mod batch;
mod pages;
mod parquet;

pub use arrow::ArrowFile;
pub use parquet::ParquetFile;

use super::{
    Matrix, Options, Result, Table,
    cells::{Cells, Ids, Lines},
    element::Element,
    header::Header,
    limits::{check_numbers, check_unpacked},
    resolution::Resolution,
    table::{Columns, Index, PANDAS},
};

/// A column of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Numbers(Element),
    /// Numbers with so many decimals.
    Decimals(i32),
    /// A list of numbers in each row.
    Lists(Element),
    Text,
    /// Something else, by its name.
    Other(String),
}

/// Some consecutive rows of a column.
#[derive(Debug, PartialEq)]
pub enum Values {
    /// So many numbers in each row.
    Numbers(Vec<f64>, usize),
    Text(Vec<String>),
}

impl Values {
    fn rows(&self) -> usize {
        match self {
            Self::Numbers(numbers, width) => numbers.len() / width.max(&1),
            Self::Text(text) => text.len(),
        }
    }
}

/// A row that is wrong, and what is wrong with it; without a row it is the column.
#[derive(Debug, PartialEq)]
pub struct Wrong(pub Option<usize>, pub String);

impl<E: ToString> From<E> for Wrong {
    fn from(reason: E) -> Self {
        Self(None, reason.to_string())
    }
}

/// A file whose columns are read one by one, some rows at a time.
pub trait Columnar {
    fn fields(&self) -> &[Field];

    /// The rows of each part.
    fn parts(&self) -> &[usize];

    /// The bytes of the file.
    fn size(&self) -> usize;

    /// The values of a column in a part.
    fn read(&self, part: usize, column: usize) -> Result<Values, Wrong>;
}

/// Reads the columns that are asked for.
pub fn read(file: &dyn Columnar, options: &Options) -> Result<Table> {
    let fields = file.fields();
    let names = || fields.iter().map(|field| field.name.clone());
    let header = Header::Names(names().collect(), true);
    let mut columns = Columns::new(&header, fields.len(), options)?;
    let notes = match options.columns {
        None => choose(&mut columns, fields),
        Some(_) => Vec::new(),
    };
    if let Some(label) = columns.label {
        check_labels(&columns, label, fields)?;
    }
    let resolution = coarsest(&columns, fields)?;
    let (mut numbers, mut labels) = (Matrix::default(), Cells::default());
    let is_id = fields.get(columns.id).is_some_and(|field| {
        matches!(
            field.kind,
            Kind::Numbers(_) | Kind::Decimals(_) | Kind::Text
        )
    });
    let has_ids = is_id && matches!(columns.index, Index::Yes | Index::Named);
    let mut ids = Cells::default();
    let mut first = 0; // row of the part
    for (at, &rows) in file.parts().iter().enumerate() {
        let part = Part {
            file,
            columns: &columns,
            at,
            rows,
            first,
        };
        if let Some(label) = columns.label {
            part.read_labels(label, &mut labels)?;
        }
        if has_ids {
            part.read_labels(columns.id, &mut ids)?;
        }
        match columns.numbers[..] {
            [] => {}
            [only] => part.read_lists(only, &mut numbers)?,
            ref many => part.read_columns(many, &mut numbers)?,
        }
        first += rows;
    }
    if first == 0 {
        return Err("holds no rows".into());
    }
    let name = |&column: &usize| fields[column].name.clone();
    Ok(Table {
        names: match columns.numbers[..] {
            [list] if matches!(fields[list].kind, Kind::Lists(_)) => Vec::new(),
            _ => columns.numbers.iter().map(name).collect(),
        },
        numbers,
        label_name: columns.label.as_ref().map(name),
        label_at: columns.label,
        labels: columns.label.map(|_| labels),
        ids: has_ids.then(|| Ids {
            name: name(&columns.id),
            cells: ids,
        }),
        lines: Lines::default(),
        resolution,
        is_confidence: columns.is_confidence,
        has_header: true,
        notes,
    })
}

/// Leaves an index out, and takes a single column of lists for the rows; what was taken for what.
fn choose(columns: &mut Columns, fields: &[Field]) -> Vec<String> {
    // a class may be named as an index is: Indonesian is "id"
    let Some(id) = fields.get(columns.id) else {
        return Vec::new();
    };
    let is_float = matches!(id.kind, Kind::Numbers(element) if element.epsilon() > 0.0);
    if columns.index == Index::Counting || columns.index == Index::Named && is_float {
        columns.take_back();
    }
    let mut notes = Vec::new();
    if columns.index != Index::No && id.name != PANDAS {
        notes.push(format!(
            "{} is an index and is left out",
            columns.title(columns.id)
        ));
    }
    columns
        .numbers
        .retain(|&column| fields[column].name != PANDAS);
    let is_list = |column: &&usize| matches!(fields[**column].kind, Kind::Lists(_));
    let lists: Vec<usize> = columns.numbers.iter().filter(is_list).copied().collect();
    if let ([list], true) = (&lists[..], columns.numbers.len() > 1) {
        notes.push(format!(
            "the rows are the lists of {}",
            columns.title(*list)
        ));
        columns.numbers = lists;
    }
    notes
}

/// Checks that labels are numbers or text.
fn check_labels(columns: &Columns, label: usize, fields: &[Field]) -> Result<()> {
    let name = match &fields[label].kind {
        Kind::Numbers(_) | Kind::Decimals(_) | Kind::Text => return Ok(()),
        Kind::Lists(_) => "lists",
        Kind::Other(name) => name,
    };
    Err(format!(
        "{}: {name}, expected labels as numbers or text",
        columns.title(label)
    ))
}

/// The numbers with the fewest digits among those that are asked for.
fn coarsest(columns: &Columns, fields: &[Field]) -> Result<Resolution> {
    let mut coarsest: Option<Element> = None;
    let mut fewest: Option<i32> = None;
    for &column in &columns.numbers {
        let wrong = |what: &str| {
            Err(format!(
                "{}: {what}; --columns chooses columns",
                columns.title(column)
            ))
        };
        let element = match &fields[column].kind {
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

/// Some rows of all columns.
struct Part<'a> {
    file: &'a dyn Columnar,
    columns: &'a Columns,
    at: usize,
    rows: usize,
    /// The place of its first row in the file.
    first: usize,
}

impl Part<'_> {
    fn column(&self, column: usize) -> Result<Values> {
        let title = || self.columns.title(column);
        let found = self.file.read(self.at, column);
        let found = found.map_err(|Wrong(row, reason)| match row {
            Some(row) => format!("row {}, {}: {reason}", self.first + row, title()),
            None => format!("{}: {reason}", title()),
        })?;
        match found.rows() == self.rows {
            true => Ok(found),
            false => Err(format!(
                "{}: {} rows in part {}, expected {}",
                title(),
                found.rows(),
                self.at,
                self.rows
            )),
        }
    }

    fn wrong<T>(&self, column: usize, reason: &str) -> Result<T> {
        Err(format!("{}: {reason}", self.columns.title(column)))
    }

    fn read_labels(&self, column: usize, labels: &mut Cells) -> Result<()> {
        match self.column(column)? {
            Values::Numbers(numbers, 1) => {
                (numbers.iter()).for_each(|number| labels.push(&number.to_string()));
            }
            Values::Numbers(..) => return self.wrong(column, "lists, expected labels"),
            Values::Text(text) => text.iter().for_each(|label| labels.push(label)),
        }
        Ok(())
    }

    /// Rows that are the lists of a column, or its numbers.
    fn read_lists(&self, column: usize, to: &mut Matrix) -> Result<()> {
        let Values::Numbers(mut numbers, width) = self.column(column)? else {
            return self.wrong(column, "text, expected numbers");
        };
        if self.at > 0 && width != to.columns {
            return Err(format!(
                "row {}, {}: a list of {width} numbers, expected {} as in the rows before",
                self.first,
                self.columns.title(column),
                to.columns
            ));
        }
        to.columns = width;
        check_numbers((self.first + self.rows) as u64, width as u64)?;
        match to.values.is_empty() {
            true => to.values = numbers,
            false => to.values.append(&mut numbers),
        }
        Ok(())
    }

    /// Rows of a number of each column.
    fn read_columns(&self, columns: &[usize], to: &mut Matrix) -> Result<()> {
        to.columns = columns.len();
        let count = check_numbers((self.first + self.rows) as u64, to.columns as u64)?;
        check_unpacked(count as u64 * 8, self.file.size() as u64)?;
        let start = to.values.len();
        for (at, &column) in columns.iter().enumerate() {
            let Values::Numbers(numbers, 1) = self.column(column)? else {
                return self.wrong(column, "expected numbers");
            };
            // not before a column is known to have so many rows
            to.values.resize(count, 0.0);
            let rows = to.values.get_mut(start + at..).unwrap_or_default();
            let places = rows.iter_mut().step_by(to.columns);
            places.zip(numbers).for_each(|(to, number)| *to = number);
        }
        Ok(())
    }
}

/// The error of a row without a value.
fn null(row: usize) -> Wrong {
    Wrong(Some(row), "is null, expected a value".into())
}
