//! Writing logits and probabilities: CSV (plain or gzip), NPY, safetensors.

use std::{
    io::{self, Write},
    path::Path,
};

use burn_calibration::file::write_with;
use flate2::{Compression, write::GzEncoder};
use safetensors::{Dtype, tensor::TensorView};

use crate::error::{Context, Result, wrong};
use crate::input::{Matrix, TextColumn};

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

/// Whether a path is that of standard output, which `-` stands for as well.
pub fn is_standard_output(path: &Path) -> bool {
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    names.iter().any(|name| path == Path::new(name))
}

/// What text has beside the numbers.
#[derive(Clone, Copy)]
pub struct TextHeader<'a> {
    /// Ids of rows, which are written below a name.
    pub ids: Option<&'a TextColumn>,
    /// No names of columns, or one for each.
    pub names: &'a [String],
}

/// Writes a matrix whole: nobody finds half of one. A number that is NaN is missing: an empty cell of text.
pub fn write_matrix(
    path: &Path,
    format: Format,
    name: &str,
    matrix: &Matrix,
    header: TextHeader,
) -> Result<()> {
    let written = write_with(path, |mut writer| {
        let written = match format {
            Format::Csv => write_csv(writer, matrix, header),
            Format::GzipCsv => {
                let mut gzip = GzEncoder::new(&mut writer, Compression::default());
                write_csv(&mut gzip, matrix, header).and_then(|()| Ok(gzip.finish().map(drop)?))
            }
            Format::Npy => write_npy(writer, matrix),
            Format::Safetensors => write_safetensors(writer, name, matrix),
        };
        written.map_err(|e| io::Error::other(e.to_string()))
    });
    written.map_err(|e| wrong!("cannot write: {e}")).of(path)
}

/// Writes each number with the digits that give it back exactly.
fn write_csv(
    writer: impl Write,
    matrix: &Matrix,
    TextHeader { ids, names }: TextHeader,
) -> Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    let ids = ids.filter(|_| !names.is_empty());
    let cell = |number: &f64| {
        if number.is_nan() {
            String::new()
        } else {
            format!("{number:?}")
        }
    };
    if !names.is_empty() {
        csv.write_record(ids.map(|ids| &ids.name).into_iter().chain(names))?;
    }
    for (row, values) in matrix.values.chunks(matrix.columns).enumerate() {
        let id = ids.map(|ids| ids.cells[row].to_owned());
        csv.write_record(id.into_iter().chain(values.iter().map(cell)))?;
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
