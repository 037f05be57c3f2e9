//! Numbers in binary.

use std::io::{ErrorKind, Read};

use burn::tensor::{DType, TensorData};

use crate::error::{Result, ensure, wrong};

/// Formats of numbers, with their names in NPY, without the order of bytes, and in safetensors. A bool is a
/// byte; ml_dtypes saves bfloat16 as bytes.
const FORMATS: [(&str, &str, DType); 14] = [
    ("b1", "BOOL", DType::U8),
    ("u1", "U8", DType::U8),
    ("i1", "I8", DType::I8),
    ("u2", "U16", DType::U16),
    ("i2", "I16", DType::I16),
    ("u4", "U32", DType::U32),
    ("i4", "I32", DType::I32),
    ("u8", "U64", DType::U64),
    ("i8", "I64", DType::I64),
    ("f2", "F16", DType::F16),
    ("V2", "BF16", DType::BF16),
    ("bfloat16", "BF16", DType::BF16),
    ("f4", "F32", DType::F32),
    ("f8", "F64", DType::F64),
];

/// The format of a name in NPY.
pub fn of_npy(name: &str) -> Option<DType> {
    let found = FORMATS.iter().find(|(npy, _, _)| *npy == name);
    found.map(|(_, _, format)| *format)
}

/// The format of a name in safetensors.
pub fn of_safetensors(name: &str) -> Option<DType> {
    let found = FORMATS.iter().find(|(_, other, _)| *other == name);
    found.map(|(_, _, format)| *format)
}

/// Reads so many numbers, which have to be all that there is.
pub fn read(
    mut reader: impl Read,
    format: DType,
    count: usize,
    is_big_endian: bool,
) -> Result<Vec<f64>> {
    let mut numbers = Vec::with_capacity(count.min(1 << 16));
    let mut buffer = [0; 1 << 13]; // a multiple of the size
    let mut left = count * format.size();
    while left > 0 {
        let block = &mut buffer[..left.min(1 << 13)];
        reader.read_exact(block).map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => {
                wrong!("ends before the last of {count} numbers of its shape")
            }
            _ => e.into(),
        })?;
        if is_big_endian != cfg!(target_endian = "big") {
            block.chunks_mut(format.size()).for_each(<[u8]>::reverse);
        }
        left -= block.len();
        let shape = [block.len() / format.size()];
        let block = TensorData::from_bytes_vec(block.to_vec(), shape, format);
        numbers.extend(block.iter::<f64>());
    }
    // the end is where an archive checks what was read
    let is_end = reader.read(&mut [0])? == 0;
    ensure!(is_end, "goes on after the {count} numbers of its shape");
    Ok(numbers)
}
