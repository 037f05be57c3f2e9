//! Tables: a CSV file becomes standardised inputs and targets, divided at random.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, Cursor, Read},
    path::Path,
};

use burn::tensor::{Device, Int, Tensor, TensorData};
use flate2::read::GzDecoder;
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

use crate::Result;

/// The test digits of UCI, CC BY 4.0; see `examples/digits/data/README.md`.
const DIGITS: &[u8] = include_bytes!("../../examples/digits/data/digits.csv.gz");

/// Values of a column of words that get an input of their own; others share none.
const MOST_LEVELS: usize = 50;
const MOST_VALIDATION: usize = 1500;
const MOST_TEST: usize = 5000;

/// What a network predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One of so many classes.
    Classes(usize),
    /// A number.
    Real,
}

/// A data set on the host.
pub struct Table {
    pub name: String,
    pub kind: Kind,
    /// The most rows to train on.
    most_training: usize,
    inputs: Vec<Vec<f32>>,
    /// Numbers of classes, or standardised numbers.
    targets: Vec<f32>,
}

/// Some rows of a table.
#[derive(Clone)]
pub struct Rows<'a> {
    table: &'a Table,
    pub rows: Vec<usize>,
}

pub struct Split<'a> {
    pub training: Rows<'a>,
    pub validation: Rows<'a>,
    pub test: Rows<'a>,
}

impl Table {
    /// The upper halves of the digits, as in the example `digits`.
    pub fn digits() -> Result<Self> {
        let mut records = records(DIGITS, false)?.1;
        for record in &mut records {
            let label = record.pop().ok_or("a digit without a label")?;
            record.truncate(32);
            record.push(label);
        }
        Self::new("digits", records, 32, 500, false)
    }

    /// A CSV file with a header, plain or gzipped. Columns of numbers are standardised, others have an
    /// input for each of their values.
    pub fn read(path: &Path, label: Option<&str>, rows: usize, regression: bool) -> Result<Self> {
        let at = |error: Box<dyn std::error::Error + Send + Sync>| {
            format!("{}: {error}", path.display())
        };
        let read = || {
            let mut bytes = vec![];
            BufReader::new(File::open(path)?).read_to_end(&mut bytes)?;
            let (header, records) = records(&bytes, true)?;
            let column = match label {
                None => header.len() - 1,
                Some(label) => (header.iter().position(|name| name == label))
                    .ok_or_else(|| format!("no column is called {label}"))?,
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.split('.').next().unwrap_or_default();
            Self::new(name, records, column, rows, regression)
        };
        read().map_err(|error| at(error).into())
    }

    fn new(
        name: &str,
        records: Vec<Vec<String>>,
        label: usize,
        most_training: usize,
        regression: bool,
    ) -> Result<Self> {
        let columns = records.first().ok_or("no rows")?.len();
        let column = |c: usize| records.iter().map(move |record| record[c].as_str());
        let mut inputs = vec![vec![]; records.len()];
        for c in (0..columns).filter(|&c| c != label) {
            for feature in features(&column(c).collect::<Vec<_>>()) {
                for (row, value) in inputs.iter_mut().zip(feature) {
                    row.push(value);
                }
            }
        }
        let (kind, targets) = if regression {
            let numbers: Option<Vec<f64>> = column(label).map(number).collect();
            let numbers = numbers.ok_or("a target is not a number")?;
            (Kind::Real, standardised(&numbers))
        } else {
            let classes = levels(column(label));
            let of = |value: &str| classes[value] as f32;
            (
                Kind::Classes(classes.len()),
                column(label).map(of).collect(),
            )
        };
        if kind == Kind::Classes(1) {
            return Err("all labels are the same".into());
        }
        Ok(Self {
            name: name.into(),
            kind,
            most_training,
            inputs,
            targets,
        })
    }

    /// Numbers that a network sees of a row.
    pub fn width(&self) -> usize {
        self.inputs[0].len()
    }

    /// The test rows are the same for every seed, so that what was chosen with one seed was not chosen on
    /// the test rows of another; the seed divides the others.
    pub fn split(&self, seed: u64) -> Split<'_> {
        let n = self.inputs.len();
        let mut rows: Vec<usize> = (0..n).collect();
        rows.shuffle(&mut StdRng::seed_from_u64(0));
        let mut rest = rows.split_off((2 * n / 5).min(MOST_TEST));
        rest.shuffle(&mut StdRng::seed_from_u64(seed));
        let mut training = rest.split_off((rest.len() / 3).min(MOST_VALIDATION));
        training.truncate(self.most_training);
        let of = |rows| Rows { table: self, rows };
        Split {
            training: of(training),
            validation: of(rest),
            test: of(rows),
        }
    }
}

impl Rows<'_> {
    /// Inputs `[n, width]`.
    pub fn inputs(&self, device: &Device) -> Tensor<2> {
        let row = |&row: &usize| self.table.inputs[row].iter().copied();
        let values: Vec<f32> = self.rows.iter().flat_map(row).collect();
        let shape = [self.rows.len(), self.table.width()];
        Tensor::from_data(TensorData::new(values, shape), device)
    }

    /// Labels `[n]`.
    pub fn labels(&self, device: &Device) -> Tensor<1, Int> {
        let label = |&row: &usize| self.table.targets[row] as i64;
        let values: Vec<i64> = self.rows.iter().map(label).collect();
        Tensor::from_data(TensorData::new(values, [self.rows.len()]), device)
    }

    /// Numbers `[n, 1]`.
    pub fn numbers(&self, device: &Device) -> Tensor<2> {
        let values: Vec<f32> = (self.rows.iter().map(|&row| self.table.targets[row])).collect();
        Tensor::from_data(TensorData::new(values, [self.rows.len(), 1]), device)
    }

    pub fn chunks(&self, size: usize) -> impl Iterator<Item = Self> {
        self.rows.chunks(size).map(|rows| Self {
            table: self.table,
            rows: rows.to_vec(),
        })
    }
}

/// The header and the rows, all of the same length.
fn records(bytes: &[u8], header: bool) -> Result<(Vec<String>, Vec<Vec<String>>)> {
    let reader: Box<dyn Read> = match bytes.starts_with(&[0x1f, 0x8b]) {
        true => Box::new(GzDecoder::new(Cursor::new(bytes))),
        false => Box::new(bytes),
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(header)
        .trim(csv::Trim::All)
        .from_reader(reader);
    let names = reader.headers()?.iter().map(String::from).collect();
    let rows = reader.deserialize().collect::<csv::Result<_>>()?;
    Ok((names, rows))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

/// The different values, in their order, which is that of numbers where they are.
fn levels<'a>(values: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut all: Vec<&str> = values.collect();
    all.sort_by(|a, b| match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => a.cmp(b),
    });
    all.dedup();
    all.into_iter()
        .enumerate()
        .map(|(i, value)| (value, i))
        .collect()
}

/// One standardised input of a column of numbers, where a missing one is the mean; else one for each value.
fn features(column: &[&str]) -> Vec<Vec<f32>> {
    let present: Vec<&str> = column.iter().copied().filter(|x| !x.is_empty()).collect();
    if present.iter().all(|text| number(text).is_some()) {
        let mean = present.iter().filter_map(|text| number(text)).sum::<f64>();
        let mean = mean / present.len().max(1) as f64;
        let numbers: Vec<f64> = column.iter().map(|x| number(x).unwrap_or(mean)).collect();
        return vec![standardised(&numbers)];
    }
    let levels = levels(present.into_iter());
    let of = |level: &&str| column.iter().map(|x| f32::from(x == level)).collect();
    levels.keys().take(MOST_LEVELS).map(of).collect()
}

fn standardised(numbers: &[f64]) -> Vec<f32> {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let rate = if variance > 0.0 {
        variance.sqrt().recip()
    } else {
        0.0
    };
    numbers.iter().map(|x| ((x - mean) * rate) as f32).collect()
}
