//! Arrays: NPY, NPZ and safetensors.

use std::io::Read;

use safetensors::{Dtype, SafeTensors};
use zip::ZipArchive;

use super::{
    Matrix, clipped,
    element::Element,
    limits::{LONGEST_HEADER, Unpacked, check_numbers},
    open::ReadSeek,
};
use crate::error::{Error, Result, bail, ensure, wrong};

/// An array of one or two dimensions, and the format of its numbers.
pub type Array = (Matrix, Element);

/// Reads an NPY file.
pub fn npy(mut reader: impl Read) -> Result<Array> {
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
    if length > LONGEST_HEADER {
        bail!("a header of {length} bytes, expected at most {LONGEST_HEADER}");
    }
    let header = String::from_utf8(take(length)?)?;
    let broken = || wrong!("a header of NPY that is broken");
    let descr = entry(&header, "descr").ok_or_else(broken)?;
    let descr = match descr.strip_prefix(['\'', '"']) {
        Some(descr) => descr.split(['\'', '"']).next().unwrap_or_default(),
        None => bail!("an array of records, expected numbers"),
    };
    let dtype = || wrong!("an array of dtype {}, expected numbers", clipped(descr));
    let is_big_endian = descr.starts_with('>');
    let element = element(descr).ok_or_else(dtype)?;
    let is_fortran = entry(&header, "fortran_order")
        .ok_or_else(broken)?
        .starts_with("True");
    let shape =
        entry(&header, "shape").and_then(|shape| shape.strip_prefix('(')?.split(')').next());
    let shape = shape.ok_or_else(broken)?.split(',').map(str::trim);
    let shape = shape
        .filter(|size| !size.is_empty())
        .map(|size| size.trim_end_matches('L').parse());
    let shape: Vec<u64> = shape.collect::<Result<_, _>>().map_err(|_| broken())?;
    let (rows, columns, count) = sizes(&shape)?;
    let values = element.read(reader, count, is_big_endian)?;
    let values = match is_fortran {
        false => values,
        true => (0..count)
            .map(|k| values[k / columns + rows * (k % columns)])
            .collect(),
    };
    Ok((Matrix { columns, values }, element))
}

/// What follows a key of the header, which is a dictionary of Python.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = ['\'', '"']
        .iter()
        .find_map(|quote| header.split_once(&format!("{quote}{key}{quote}")));
    Some(at?.1.trim_start().strip_prefix(':')?.trim_start())
}

fn element(descr: &str) -> Option<Element> {
    Some(match descr.trim_start_matches(['<', '>', '|', '=']) {
        "b1" => Element::Bool,
        "u1" => Element::U8,
        "i1" => Element::I8,
        "u2" => Element::U16,
        "i2" => Element::I16,
        "u4" => Element::U32,
        "i4" => Element::I32,
        "u8" => Element::U64,
        "i8" => Element::I64,
        "f2" => Element::F16,
        "V2" | "bfloat16" => Element::Bf16, // as ml_dtypes saves it
        "f4" => Element::F32,
        "f8" => Element::F64,
        _ => return None,
    })
}

/// Rows, columns and their product.
fn sizes(shape: &[u64]) -> Result<(usize, usize, usize)> {
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
    let count = check_numbers(rows, columns)?;
    ensure!(count > 0, "holds no rows");
    Ok((rows as usize, columns as usize, count))
}

/// Reads an array of an archive.
pub fn npz(reader: Box<dyn ReadSeek>, array: Option<&str>) -> Result<Array> {
    let mut archive = ZipArchive::new(reader)?;
    let files: Vec<String> = (archive.file_names())
        .filter_map(|name| Some(name.ok()?.into_owned()))
        .collect();
    let names: Vec<&str> = files
        .iter()
        .filter_map(|name| name.strip_suffix(".npy"))
        .collect();
    if names.is_empty() {
        let what = match files.iter().any(|name| name.starts_with("xl/")) {
            true => "a workbook of Excel",
            false if files.iter().any(|name| name.ends_with("data.pkl")) => "a file of PyTorch",
            false => "an archive without arrays",
        };
        bail!("{what}, expected text such as CSV, NPY, NPZ or safetensors");
    }
    let name = one_of(&names, array, "arrays", "FILE.npz:ARRAY")?;
    let file = archive.by_name(&format!("{name}.npy"));
    let file = file?;
    let packed = std::rc::Rc::new(std::cell::Cell::new(file.compressed_size()));
    npy(Unpacked::new(file, packed))
}

/// Reads a tensor of a safetensors file.
pub fn safetensors(bytes: &[u8], name: Option<&str>) -> Result<Array> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| wrong!("not safetensors: {e}"))?;
    let mut names = file.names();
    names.sort_unstable();
    let name = one_of(&names, name, "tensors", "FILE.safetensors:TENSOR")?;
    let tensor = file.tensor(name)?;
    let element = match tensor.dtype() {
        Dtype::BOOL => Element::Bool,
        Dtype::U8 => Element::U8,
        Dtype::I8 => Element::I8,
        Dtype::U16 => Element::U16,
        Dtype::I16 => Element::I16,
        Dtype::U32 => Element::U32,
        Dtype::I32 => Element::I32,
        Dtype::U64 => Element::U64,
        Dtype::I64 => Element::I64,
        Dtype::F16 => Element::F16,
        Dtype::BF16 => Element::Bf16,
        Dtype::F32 => Element::F32,
        Dtype::F64 => Element::F64,
        other => {
            bail!("a tensor of dtype {other:?}, expected numbers of 8 to 64 bits");
        }
    };
    let shape: Vec<u64> = tensor.shape().iter().map(|&size| size as u64).collect();
    let (_, columns, count) = sizes(&shape)?;
    let values = element.read(tensor.data(), count, false)?;
    Ok((Matrix { columns, values }, element))
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
