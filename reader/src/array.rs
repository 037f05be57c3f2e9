//! Arrays: NPY, NPZ and safetensors.

use std::io::Read;

use safetensors::SafeTensors;
use zip::ZipArchive;

use super::{
    Matrix, clipped, element,
    limits::{LONGEST_HEADER, Unpacked, check_numbers},
    open::ReadSeek,
};
use crate::error::{Error, Result, bail, ensure, wrong};

/// Reads an array of one or two dimensions from an NPY file. The crate `npyz` takes memory for a header of any length, multiplies sizes that overflow, and
/// needs a generator of parsers to be built.
pub fn npy(mut reader: impl Read) -> Result<Matrix> {
    let mut take = |count: usize| {
        let mut bytes = vec![0; count];
        let read = reader.read_exact(&mut bytes);
        read.map_err(|_| wrong!("ends within its header"))?;
        Ok::<_, Error>(bytes)
    };
    let start = take(8)?;
    let length = match start[6] {
        1 => take(2)?,
        2 | 3 => take(4)?,
        version => bail!("NPY of version {version}, expected 1, 2 or 3"),
    };
    let bytes = length.iter().rev();
    let length = bytes.fold(0, |all, &byte| all << 8 | usize::from(byte));
    ensure!(
        length <= LONGEST_HEADER,
        "a header of {length} bytes, expected at most {LONGEST_HEADER}"
    );
    let header = String::from_utf8(take(length)?)?;
    let entry = |key| entry(&header, key).ok_or_else(|| wrong!("a header of NPY that is broken"));
    let descr = entry("descr")?;
    ensure!(
        descr.starts_with(['\'', '"']),
        "an array of records, expected numbers"
    );
    let descr = descr.split(['\'', '"']).nth(1).unwrap_or_default();
    let format = element::format_of(descr.trim_start_matches(['<', '>', '|', '=']));
    let format =
        format.ok_or_else(|| wrong!("an array of dtype {}, expected numbers", clipped(descr)))?;
    let shape = shape(entry("shape")?).ok_or_else(|| wrong!("a header of NPY that is broken"))?;
    let (rows, columns) = sizes(&shape)?;
    let values = element::read(reader, format, rows * columns, descr.starts_with('>'))?;
    let values = if entry("fortran_order")?.starts_with("True") {
        let row = |row| (0..columns).map(move |column| row + rows * column);
        (0..rows).flat_map(row).map(|k| values[k]).collect()
    } else {
        values
    };
    Ok(Matrix { columns, values })
}

/// What follows a key of the header, which is a dictionary of Python.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = ['\'', '"']
        .iter()
        .find_map(|quote| header.split_once(&format!("{quote}{key}{quote}")));
    Some(at?.1.trim_start().strip_prefix(':')?.trim_start())
}

/// The numbers of a tuple of Python.
fn shape(tuple: &str) -> Option<Vec<u64>> {
    let sizes = tuple.strip_prefix('(')?.split(')').next()?.split(',');
    let sizes = sizes.map(str::trim).filter(|size| !size.is_empty());
    let sizes = sizes.map(|size| size.trim_end_matches('L').parse());
    sizes.collect::<Result<_, _>>().ok()
}

/// Rows and columns, whose product is a number that a file may have.
fn sizes(shape: &[u64]) -> Result<(usize, usize)> {
    let (rows, columns) = match *shape {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => {
            let sizes: Vec<_> = shape.iter().take(8).map(u64::to_string).collect();
            bail!(
                "an array of {} dimensions ({}), expected one or two",
                shape.len(),
                sizes.join(" × ")
            );
        }
    };
    ensure!(check_numbers(rows, columns)? > 0, "holds no rows");
    Ok((rows as usize, columns as usize))
}

/// Reads an array of an archive.
pub fn npz(reader: Box<dyn ReadSeek>, array: Option<&str>) -> Result<Matrix> {
    let mut archive = ZipArchive::new(reader)?;
    let files: Vec<String> = (archive.file_names())
        .filter_map(|name| Some(name.ok()?.into_owned()))
        .collect();
    let arrays = files.iter().filter_map(|name| name.strip_suffix(".npy"));
    let names: Vec<&str> = arrays.collect();
    if names.is_empty() {
        let what = if files.iter().any(|name| name.starts_with("xl/")) {
            "a workbook of Excel"
        } else if files.iter().any(|name| name.ends_with("data.pkl")) {
            "a file of PyTorch"
        } else {
            "an archive without arrays"
        };
        bail!("{what}, expected text such as CSV, NPY, NPZ or safetensors");
    }
    let name = one_of(&names, array, "arrays", "FILE.npz:ARRAY")?;
    let file = archive.by_name(&format!("{name}.npy"))?;
    let packed = file.compressed_size();
    npy(Unpacked::new(file, packed))
}

/// Reads a tensor of a safetensors file.
pub fn safetensors(bytes: &[u8], name: Option<&str>) -> Result<Matrix> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| wrong!("not safetensors: {e}"))?;
    let mut names = file.names();
    names.sort_unstable();
    let name = one_of(&names, name, "tensors", "FILE.safetensors:TENSOR")?;
    let tensor = file.tensor(name)?;
    let dtype = tensor.dtype().to_string();
    let format = element::format_of(&dtype)
        .ok_or_else(|| wrong!("a tensor of dtype {dtype}, expected numbers of 8 to 64 bits"))?;
    let shape: Vec<u64> = tensor.shape().iter().map(|&size| size as u64).collect();
    let (rows, columns) = sizes(&shape)?;
    let values = element::read(tensor.data(), format, rows * columns, false)?;
    Ok(Matrix { columns, values })
}

/// The name that is asked for, or the only one.
fn one_of<'a>(
    names: &[&'a str],
    asked: Option<&str>,
    what: &str,
    expected: &str,
) -> Result<&'a str> {
    let found = match (asked, names) {
        (Some(asked), names) => names.iter().find(|name| **name == asked),
        (None, [only]) => Some(only),
        _ => None,
    };
    found.copied().ok_or_else(|| {
        let names = clipped(&names.join(", "));
        wrong!("holds the {what} {names}, expected {expected} to name one")
    })
}
