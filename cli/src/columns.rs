//! The file of `--given`: named columns of text or numbers, a row for each sample.

use std::{collections::BTreeSet, io::Read, path::Path};

use crate::error::{Context, Result, bail, ensure, wrong};
use crate::input::{Lines, Record, Records, clipped, read_text};

/// More values than this are no groups.
const MOST_GROUPS: usize = 100;

/// A variable of each sample.
#[derive(Debug, PartialEq)]
pub struct Column {
    pub name: String,
    pub values: Values,
}

#[derive(Debug, PartialEq)]
pub enum Values {
    Text(Vec<String>),
    Numbers(Vec<f64>),
}

/// The columns of a file with a header, of so many rows as the predictions have.
pub fn read(path: &Path, (predictions, samples): (&Path, usize)) -> Result<Vec<Column>> {
    let columns = read_text(path).and_then(parse);
    let columns = columns.of(path)?;
    let rows = match &columns[0].values {
        Values::Text(values) => values.len(),
        Values::Numbers(values) => values.len(),
    };
    ensure!(
        rows == samples,
        "{}: {rows} rows below the header, expected {samples}, as many as {} has",
        path.display(),
        predictions.display()
    );
    Ok(columns)
}

fn parse(reader: impl Read) -> Result<Vec<Column>> {
    let mut records = Records::new(reader)?;
    let mut record = Record::default();
    records.read(&mut record)?;
    let header: Vec<String> = record.cells().map(str::to_owned).collect();
    if header.iter().all(|name| name.parse::<f64>().is_ok()) {
        bail!("expected a header with the names of the columns in the first line");
    }
    let mut names = BTreeSet::new();
    if let Some(name) = header
        .iter()
        .find(|name| name.is_empty() || !names.insert(*name))
    {
        bail!("the header names a column \"{name}\", expected a name of its own for each");
    }
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); header.len()];
    let (mut row, mut lines) = (0, Lines::default());
    while records.read(&mut record)? {
        lines.push(row, record.line);
        let found = record.len();
        if found != header.len() {
            let wrong = wrong!(
                "{found} columns, expected {} as in the header",
                header.len()
            );
            return Err(wrong.at_row(row).in_line(record.line));
        }
        for ((cells, cell), name) in cells.iter_mut().zip(record.cells()).zip(&header) {
            if cell.is_empty() {
                let wrong = wrong!("is empty, expected a group or a number");
                let wrong = wrong.at(row, format_args!("column {name}"));
                return Err(wrong.in_line(record.line));
            }
            cells.push(cell.to_owned());
        }
        row += 1;
    }
    if cells[0].is_empty() {
        bail!("holds no rows below the header");
    }
    let columns = header.iter().zip(cells);
    columns
        .map(|(name, cells)| column(name, cells, &lines))
        .collect()
}

/// Numbers where all cells are, else the names of groups.
fn column(name: &str, cells: Vec<String>, lines: &Lines) -> Result<Column> {
    let numbers: Option<Vec<f64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
    let values = if let Some(numbers) = numbers {
        if let Some(row) = numbers.iter().position(|number| !number.is_finite()) {
            let cell = clipped(&cells[row]);
            let wrong = wrong!("\"{cell}\", expected a finite number as in the other rows");
            let wrong = wrong.at(row, format_args!("column {name}"));
            return Err(lines
                .of(row)
                .map_or(wrong.clone(), |line| wrong.in_line(line)));
        }
        Values::Numbers(numbers)
    } else {
        let distinct = cells.iter().collect::<BTreeSet<_>>().len();
        ensure!(
            distinct <= MOST_GROUPS,
            "column {name}: {distinct} groups, expected at most {MOST_GROUPS}, or numbers"
        );
        Values::Text(cells)
    };
    Ok(Column {
        name: name.to_owned(),
        values,
    })
}

impl Column {
    /// Coordinates that a kernel compares: a standardised number, or whether each group is that of the
    /// sample, at a distance of 1 from one another. Row by row, with their number.
    pub fn coordinates(&self) -> (Vec<f64>, usize) {
        match &self.values {
            Values::Numbers(numbers) => {
                let n = numbers.len() as f64;
                let mean = numbers.iter().sum::<f64>() / n;
                let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
                let deviation = match variance.sqrt() {
                    0.0 => 1.0,
                    deviation => deviation,
                };
                (numbers.iter().map(|x| (x - mean) / deviation).collect(), 1)
            }
            Values::Text(cells) => {
                let groups: Vec<_> = cells.iter().collect::<BTreeSet<_>>().into_iter().collect();
                let hit = |cell, group| f64::from(u8::from(cell == group)) * 0.5f64.sqrt();
                let row = |cell| groups.iter().map(move |group| hit(cell, *group));
                (cells.iter().flat_map(row).collect(), groups.len())
            }
        }
    }
}
