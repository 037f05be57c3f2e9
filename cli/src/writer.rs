//! Writing logits and probabilities: CSV (plain or gzip), NPY, safetensors.

use std::{
    io::{self, Write},
    path::Path,
};

use burn_calibration::file::write_with;
use burn_calibration_reader::{
    Cells, Matrix, TextColumn, clipped,
    names::{in_order, places_of},
};
use flate2::{Compression, write::GzEncoder};
use safetensors::{Dtype, tensor::TensorView};

use crate::{
    apply::Applied,
    error::{Context, Result, bail, wrong},
    files::File,
    outputs::is_standard_output,
    words::say_bytes,
};

/// The format of a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Csv,
    GzipCsv,
    Npy,
    Safetensors,
}

impl Format {
    /// Takes the format from a name.
    pub fn of(path: &Path) -> Result<Self> {
        let name = path.to_string_lossy().to_lowercase();
        if is_standard_output(path) {
            return Ok(Self::Csv);
        }
        let formats = [
            (".csv", Self::Csv),
            (".csv.gz", Self::GzipCsv),
            (".npy", Self::Npy),
            (".safetensors", Self::Safetensors),
        ];
        let found = formats.iter().find(|(end, _)| name.ends_with(end));
        let path = path.display();
        found.map(|(_, format)| *format).ok_or_else(|| {
            wrong!("{path}: expected a name that ends in .csv, .csv.gz, .npy or .safetensors")
        })
    }
}

/// The columns of a table of text: predictions, and others that are passed through.
pub struct Layout {
    /// The names of the columns; empty without a header.
    names: Vec<String>,
    columns: Vec<Written>,
}

/// A column that is written.
enum Written {
    /// A number, by its place in the matrix.
    Number(usize),
    Text(Cells),
}

impl Layout {
    /// Predictions in the places of those that were read, by their names if they have some, where they are as many, otherwise
    /// after the other columns.
    ///
    /// - `names`: those of the columns that were read, in the order of the file's table
    ///
    /// # Errors
    ///
    /// A column that passes through with the name of one of the predictions.
    pub fn new(
        file: &File,
        names: &[String],
        others: Vec<TextColumn>,
        made: &Applied,
    ) -> Result<Self> {
        let table = &file.table;
        let correct = table.labels.first().map(|labels| labels.at);
        let mut places: Vec<usize> = table.places().to_vec();
        let width = made.matrix.columns - made.beside;
        if let Some(correct) = correct {
            places.push(correct);
            places.sort_unstable();
        } else if places.len() != width {
            let after = others.iter().map(|column| column.at + 1).max();
            places = (after.unwrap_or(0)..).take(width).collect();
        } else if let Some(order) = places_of(&made.names, names).filter(|order| !order.is_empty())
        {
            places = in_order(&places, &order);
        }
        let taken = places
            .iter()
            .copied()
            .chain(others.iter().map(|column| column.at));
        let free = taken.max().map_or(0, |at| at + 1);
        places.extend((free..).take(made.beside));
        let has_names = table.has_header && (!made.names.is_empty() || !others.is_empty());
        let name = |at: usize| match made.names.get(at) {
            Some(name) => name.clone(),
            None => format!("p{at}"),
        };
        // correctness is written as it was read
        let numbers = places.iter().enumerate();
        let numbers = numbers.filter(|(_, place)| Some(**place) != correct);
        let numbers = numbers.map(|(at, &place)| (place, name(at), Written::Number(at)));
        let numbers: Vec<_> = numbers.collect();
        let is_taken = |column: &&TextColumn| {
            !column.name.is_empty() && numbers.iter().any(|(_, name, _)| *name == column.name)
        };
        if let Some(TextColumn { name, .. }) = others.iter().find(is_taken).filter(|_| has_names) {
            bail!(
                "{}: two columns would be named \"{}\", expected --only-predictions, or another name of the column \
                 that passes through",
                file.path.display(),
                clipped(name)
            );
        }
        let others = others.into_iter();
        let others = others.map(|column| (column.at, column.name, Written::Text(column.cells)));
        let mut all: Vec<_> = numbers.into_iter().chain(others).collect();
        all.sort_by_key(|(place, ..)| *place);
        let (names, columns) = all
            .into_iter()
            .map(|(_, name, column)| (name, column))
            .unzip();
        Ok(Self {
            names: if has_names { names } else { Vec::new() },
            columns,
        })
    }
}

/// Writes a matrix whole: nobody finds half of one. A number that is NaN is missing: an empty cell of text.
pub fn write_matrix(
    path: &Path,
    format: Format,
    name: &str,
    matrix: &Matrix,
    layout: &Layout,
) -> Result<()> {
    write_output(path, |mut writer| {
        let written = match format {
            Format::Csv => write_csv(writer, matrix, layout),
            Format::GzipCsv => {
                let mut gzip = GzEncoder::new(&mut writer, Compression::default());
                write_csv(&mut gzip, matrix, layout).and_then(|()| Ok(gzip.finish().map(drop)?))
            }
            Format::Npy => write_npy(writer, matrix),
            Format::Safetensors => write_safetensors(writer, name, matrix),
        };
        written.map_err(|e| io::Error::other(e.to_string()))
    })
}

/// Writes a file whole, or to standard output.
pub fn write_output(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    if is_standard_output(path) {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        say_bytes(&bytes);
        return Ok(());
    }
    let written = write_with(path, write);
    written.map_err(|e| wrong!("cannot write: {e}")).of(path)
}

/// Writes each number with the digits that give it back exactly.
fn write_csv(writer: impl Write, matrix: &Matrix, layout: &Layout) -> Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    if !layout.names.is_empty() {
        csv.write_record(&layout.names)?;
    }
    for (row, values) in matrix.values.chunks(matrix.columns).enumerate() {
        for column in &layout.columns {
            match column {
                Written::Number(at) if values[*at].is_nan() => csv.write_field("")?,
                Written::Number(at) => csv.write_field(format!("{:?}", values[*at]))?,
                Written::Text(cells) => csv.write_field(&cells[row])?,
            }
        }
        csv.write_record(None::<&[u8]>)?;
    }
    Ok(csv.flush()?)
}

/// Writes a header, which is a dictionary of Python, and the numbers from a multiple of 64 bytes on.
fn write_npy(mut writer: impl Write, matrix: &Matrix) -> Result<()> {
    let shape = (matrix.rows(), matrix.columns);
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape:?}, }}");
    let start = (NPY.len() + 2 + header.len() + 1).next_multiple_of(64);
    let length = start - NPY.len() - 2;
    writer.write_all(NPY)?;
    writer.write_all(&(length as u16).to_le_bytes())?;
    writeln!(writer, "{header:width$}", width = length - 1)?;
    for number in &matrix.values {
        writer.write_all(&number.to_le_bytes())?;
    }
    Ok(())
}

/// The first bytes of NPY of version 1.
const NPY: &[u8] = b"\x93NUMPY\x01\x00";

fn write_safetensors(mut writer: impl Write, name: &str, matrix: &Matrix) -> Result<()> {
    let bytes: Vec<u8> = (matrix.values.iter())
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let shape = vec![matrix.rows(), matrix.columns];
    let tensor = TensorView::new(Dtype::F64, shape, &bytes)?;
    let file = safetensors::serialize([(name, tensor)], None)?;
    Ok(writer.write_all(&file)?)
}
