//! Reading predictions and labels: CSV (header or none, plain or gzip), NPY, NPZ.

use std::{
    fs::File,
    io::{BufReader, Read, Seek},
    path::{Path, PathBuf},
};

use flate2::read::MultiGzDecoder;
use npyz::{NpyFile, Order};
use zip::ZipArchive;

/// A clear line about what is wrong with a file, and where.
pub type Result<T, E = String> = std::result::Result<T, E>;

/// Numbers in rows of equal length.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    pub columns: usize,
    /// Row-major.
    pub values: Vec<f64>,
}

impl Matrix {
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }
}

/// Reads a matrix from a file of any of the formats, told apart by the name.
pub fn read_matrix(path: &Path) -> Result<Matrix> {
    let (file, array) = split_array_name(path);
    let open = || {
        File::open(&file)
            .map(BufReader::new)
            .map_err(|e| e.to_string())
    };
    let name = file.to_string_lossy().to_lowercase();
    let matrix = match name.as_str() {
        name if name.ends_with(".npy") => open()
            .and_then(|reader| NpyFile::new(reader).map_err(|e| e.to_string()))
            .and_then(from_npy),
        name if name.ends_with(".npz") => {
            open().and_then(|reader| from_npz(reader, array.as_deref()))
        }
        name if name.ends_with(".gz") => {
            open().and_then(|reader| from_csv(MultiGzDecoder::new(reader)))
        }
        _ => open().and_then(from_csv),
    };
    matrix.map_err(|reason| format!("{}: {reason}", path.display()))
}

/// Reads labels, counted from 0.
pub fn read_labels(path: &Path, one_based: bool) -> Result<Vec<i64>> {
    let matrix = read_matrix(path)?;
    let wrong = |reason: String| format!("{}: {reason}", path.display());
    if matrix.columns != 1 {
        return Err(wrong(format!(
            "{} columns, expected one label a row",
            matrix.columns
        )));
    }
    let first = i64::from(one_based);
    let label = |(row, &value): (usize, &f64)| match value {
        v if v.fract() == 0.0 && v.abs() < 2f64.powi(53) && v as i64 >= first => {
            Ok(v as i64 - first)
        }
        v => Err(wrong(format!(
            "row {row}: the label is {v}, expected a whole number of at least {first}"
        ))),
    };
    matrix.values.iter().enumerate().map(label).collect()
}

/// `FILE.npz:ARRAY` names an array of an archive.
fn split_array_name(path: &Path) -> (PathBuf, Option<String>) {
    let text = path.to_string_lossy();
    match text.rsplit_once(".npz:") {
        Some((stem, array)) => (format!("{stem}.npz").into(), Some(array.into())),
        None => (path.to_path_buf(), None),
    }
}

fn from_csv(reader: impl Read) -> Result<Matrix> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(reader);
    let mut matrix = Matrix {
        columns: 0,
        values: Vec::new(),
    };
    let mut record = csv::StringRecord::new();
    let mut row = 0;
    let mut header = None;
    while reader.read_record(&mut record).map_err(|e| e.to_string())? {
        let line = record.position().map_or(0, |position| position.line());
        let place = |column: usize| format!("row {row} (line {line}), column {column}");
        let number = |(column, field): (usize, &str)| {
            field
                .parse::<f64>()
                .map_err(|_| format!("{}: \"{field}\", expected a number", place(column)))
        };
        let numbers = record
            .iter()
            .enumerate()
            .map(number)
            .collect::<Result<Vec<f64>>>();
        // a first line without a single number is a header
        let is_header =
            row == 0 && header.is_none() && record.iter().all(|f| f.parse::<f64>().is_err());
        if is_header {
            header = Some(record.len());
            matrix.columns = record.len();
            continue;
        }
        let numbers = numbers?;
        if row == 0 && header.is_none() {
            matrix.columns = numbers.len();
        }
        if numbers.len() != matrix.columns {
            return Err(format!(
                "row {row} (line {line}): {} columns, expected {} as in the first line",
                numbers.len(),
                matrix.columns
            ));
        }
        matrix.values.extend(numbers);
        row += 1;
    }
    non_empty(matrix)
}

fn from_npz(reader: impl Read + Seek, array: Option<&str>) -> Result<Matrix> {
    let mut archive = ZipArchive::new(reader).map_err(|e| e.to_string())?;
    let names = archive.file_names();
    let names = names.filter_map(|name| name.ok()?.strip_suffix(".npy").map(str::to_owned));
    let names: Vec<String> = names.collect();
    let name = match (array, names.as_slice()) {
        (Some(array), names) if names.iter().any(|name| name == array) => array,
        (None, [only]) => only.as_str(),
        _ => {
            let names = names.join(", ");
            return Err(format!(
                "holds the arrays {names}, expected FILE.npz:ARRAY to name one"
            ));
        }
    };
    let file = archive
        .by_name(&format!("{name}.npy"))
        .map_err(|e| e.to_string())?;
    from_npy(NpyFile::new(file).map_err(|e| e.to_string())?)
}

fn from_npy<R: Read>(file: NpyFile<R>) -> Result<Matrix> {
    let columns = match file.shape() {
        [_] => 1,
        [_, columns] => *columns as usize,
        shape => {
            return Err(format!(
                "an array of shape {shape:?}, expected one or two dimensions"
            ));
        }
    };
    let order = file.order();
    let dtype = file.dtype().descr();
    let values =
        numbers(file).ok_or_else(|| format!("an array of dtype {dtype}, expected numbers"))?;
    let values = values.map_err(|e| e.to_string())?;
    let rows = values.len() / columns.max(1);
    let values = match order {
        Order::C => values,
        Order::Fortran => (0..values.len())
            .map(|k| values[k / columns + rows * (k % columns)])
            .collect(),
    };
    non_empty(Matrix { columns, values })
}

/// The elements in file order as f64, if their dtype is a number.
fn numbers<R: Read>(file: NpyFile<R>) -> Option<std::io::Result<Vec<f64>>> {
    macro_rules! attempt {
        ($file:ident, $($number:ty),*) => {$(
            let $file = match $file.try_data::<$number>() {
                Ok(data) => return Some(data.map(|x| x.map(|x| x as f64)).collect()),
                Err(file) => file,
            };
        )*};
    }
    attempt!(file, f64, f32, i64, i32, u8, i8, i16, u16, u32, u64);
    drop(file);
    None
}

fn non_empty(matrix: Matrix) -> Result<Matrix> {
    match matrix.values.is_empty() {
        true => Err("holds no rows".into()),
        false => Ok(matrix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str) -> Result<Matrix> {
        from_csv(text.as_bytes())
    }

    #[test]
    fn csv_with_and_without_header() {
        let expected = Matrix {
            columns: 2,
            values: vec![0.5, 0.5, 1e-3, 0.999],
        };
        assert_eq!(csv("0.5,0.5\n1e-3, 0.999\n"), Ok(expected.clone()));
        assert_eq!(csv("cat,dog\n0.5,0.5\n1e-3,0.999"), Ok(expected));
    }

    #[test]
    fn csv_errors_name_the_place() {
        assert_eq!(
            csv("a,b\n0.5,0.5\n0.5,x\n").unwrap_err(),
            "row 1 (line 3), column 1: \"x\", expected a number"
        );
        assert_eq!(
            csv("0.5,x\n").unwrap_err(),
            "row 0 (line 1), column 1: \"x\", expected a number"
        );
        assert_eq!(
            csv("1,2\n1,2,3\n").unwrap_err(),
            "row 1 (line 2): 3 columns, expected 2 as in the first line"
        );
        assert_eq!(csv("a,b\n").unwrap_err(), "holds no rows");
        assert_eq!(csv("").unwrap_err(), "holds no rows");
    }
}
