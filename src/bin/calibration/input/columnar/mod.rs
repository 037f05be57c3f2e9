//! Columnar files: Parquet and Arrow IPC.

mod arrow;
mod batch;
mod pages;
mod parquet;

pub use arrow::ArrowFile;
pub use parquet::ParquetFile;

use super::{
    Matrix, Options, Result, Table,
    cells::{Cells, Lines},
    element::Element,
    limits::{check_numbers, check_unpacked},
    resolution::Resolution,
    table::{Columns, Header, Index},
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

/// The name that pandas gives to an index.
const PANDAS: &str = "__index_level_0__";

/// Reads the columns that are asked for.
pub fn read(file: &dyn Columnar, options: &Options) -> Result<Table> {
    let fields = file.fields();
    let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    let mut columns = Columns::new(&Header::Names(names, true), fields.len(), options)?;
    let mut notes = Vec::new();
    if options.columns.is_none() {
        if columns.index == Index::Counting {
            columns.numbers.insert(0, 0);
        } else if columns.index != Index::No {
            notes.push(format!("{} is an index and is left out", columns.title(0)));
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
            columns.numbers = vec![*list];
        }
    }
    let mut epsilon: Option<Element> = None;
    for &column in &columns.numbers {
        let wrong = |what: &str| {
            Err(format!(
                "{}: {what}; --columns chooses columns",
                columns.title(column)
            ))
        };
        let element = match &fields[column].kind {
            Kind::Numbers(element) => *element,
            Kind::Lists(element) if columns.numbers.len() == 1 => *element,
            Kind::Lists(_) => return wrong("lists, expected numbers, or a single column of lists"),
            Kind::Text => return wrong("text, expected numbers"),
            Kind::Other(name) => return wrong(&format!("{name}, expected numbers")),
        };
        let is_coarser = |known: &Element| known.epsilon() >= element.epsilon();
        epsilon = epsilon.filter(is_coarser).or(Some(element));
    }
    let (mut values, mut width, mut labels) = (Vec::new(), columns.numbers.len(), Cells::default());
    let mut first = 0; // row of the part
    for (part, &rows) in file.parts().iter().enumerate() {
        let column = |column: usize| -> Result<Values> {
            let found = file.read(part, column);
            let found = found.map_err(|Wrong(row, reason)| match row {
                Some(row) => format!("row {}, {}: {reason}", first + row, columns.title(column)),
                None => format!("{}: {reason}", columns.title(column)),
            })?;
            match found.rows() == rows {
                true => Ok(found),
                false => Err(format!(
                    "{}: {} rows in part {part}, expected {rows}",
                    columns.title(column),
                    found.rows()
                )),
            }
        };
        if let Some(label) = columns.label {
            match column(label)? {
                Values::Numbers(numbers, 1) => {
                    numbers
                        .iter()
                        .for_each(|number| labels.push(&number.to_string()));
                }
                Values::Numbers(..) => {
                    return Err(format!("{}: lists, expected labels", columns.title(label)));
                }
                Values::Text(text) => text.iter().for_each(|label| labels.push(label)),
            }
        }
        match columns.numbers[..] {
            [] => {}
            [only] => {
                let Values::Numbers(mut numbers, each) = column(only)? else {
                    return Err(format!("{}: text, expected numbers", columns.title(only)));
                };
                if part > 0 && each != width {
                    return Err(format!(
                        "row {first}, {}: a list of {each} numbers, expected {width} as in the rows before",
                        columns.title(only)
                    ));
                }
                width = each;
                check_numbers((first + rows) as u64, width as u64)?;
                match values.is_empty() {
                    true => values = numbers,
                    false => values.append(&mut numbers),
                }
            }
            ref many => {
                let count = check_numbers((first + rows) as u64, width as u64)?;
                check_unpacked(count as u64 * 8, file.size() as u64)?;
                let start = values.len();
                for (at, &number) in many.iter().enumerate() {
                    let Values::Numbers(numbers, 1) = column(number)? else {
                        return Err(format!("{}: expected numbers", columns.title(number)));
                    };
                    // once a column has as many rows
                    values.resize(count, 0.0);
                    let rows = values.get_mut(start + at..).unwrap_or_default();
                    let to = rows.iter_mut().step_by(width);
                    to.zip(numbers).for_each(|(to, number)| *to = number);
                }
            }
        }
        first += rows;
    }
    if first == 0 {
        return Err("holds no rows".into());
    }
    let names = columns
        .numbers
        .iter()
        .map(|&column| fields[column].name.clone());
    Ok(Table {
        names: match columns.numbers[..] {
            [list] if matches!(fields[list].kind, Kind::Lists(_)) => Vec::new(),
            _ => names.collect(),
        },
        numbers: Matrix {
            columns: width,
            values,
        },
        label_name: columns.label.map(|column| fields[column].name.clone()),
        labels: columns.label.map(|_| labels),
        lines: Lines::default(),
        resolution: Resolution::Binary(epsilon.unwrap_or(Element::F64)),
        is_confidence: columns.is_confidence,
        has_header: true,
        notes,
    })
}

/// The error of a row without a value.
fn null(row: usize) -> Wrong {
    Wrong(Some(row), "is null, expected a value".into())
}
