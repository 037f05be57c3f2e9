//! Numbers in binary.

use std::io::{ErrorKind, Read};

use half::{bf16, f16};

use crate::counted;
use crate::error::{Result, ensure, wrong};

/// A number of bytes, and the number that these are.
#[derive(Clone, Copy)]
pub struct Format {
    size: usize,
    number: fn(&[u8]) -> f64,
}

/// The format of a type of numbers, in the order of bytes of safetensors.
macro_rules! number {
    ($number:ident, $to:expr) => {
        Format {
            size: size_of::<$number>(),
            number: |bytes| {
                let bytes = bytes.try_into().expect("as many bytes as the number has");
                $to($number::from_le_bytes(bytes))
            },
        }
    };
}

/// Formats of numbers, with their names in NPY, without the order of bytes, and in safetensors. A bool is a
/// byte; ml_dtypes saves bfloat16 as bytes.
const FORMATS: [(&str, &str, Format); 14] = [
    ("b1", "BOOL", number!(u8, f64::from)),
    ("u1", "U8", number!(u8, f64::from)),
    ("i1", "I8", number!(i8, f64::from)),
    ("u2", "U16", number!(u16, f64::from)),
    ("i2", "I16", number!(i16, f64::from)),
    ("u4", "U32", number!(u32, f64::from)),
    ("i4", "I32", number!(i32, f64::from)),
    ("u8", "U64", number!(u64, |x| x as f64)),
    ("i8", "I64", number!(i64, |x| x as f64)),
    ("f2", "F16", number!(f16, f64::from)),
    ("V2", "BF16", number!(bf16, f64::from)),
    ("bfloat16", "BF16", number!(bf16, f64::from)),
    ("f4", "F32", number!(f32, f64::from)),
    ("f8", "F64", number!(f64, |x| x)),
];

/// The format of a name in NPY or in safetensors.
pub fn format_of(name: &str) -> Option<Format> {
    let mut formats = FORMATS.iter();
    let found = formats.find(|(npy, safetensors, _)| [npy, safetensors].contains(&&name));
    found.map(|(_, _, format)| *format)
}

/// Reads so many numbers, which have to be all that there is.
pub fn read(
    mut reader: impl Read,
    Format { size, number }: Format,
    count: usize,
    is_big_endian: bool,
) -> Result<Vec<f64>> {
    let mut numbers = Vec::with_capacity(count.min(1 << 16));
    let mut buffer = [0; 1 << 13]; // a multiple of the size
    let mut left = count * size;
    let all = counted(count, "number");
    while left > 0 {
        let block = &mut buffer[..left.min(1 << 13)];
        reader.read_exact(block).map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => {
                wrong!("ends before the last of {all} of its shape")
            }
            _ => e.into(),
        })?;
        left -= block.len();
        for bytes in block.chunks_mut(size) {
            if is_big_endian {
                bytes.reverse();
            }
            numbers.push(number(bytes));
        }
    }
    // the end is where an archive checks what was read
    let is_end = reader.read(&mut [0])? == 0;
    ensure!(is_end, "goes on after the {all} of its shape");
    Ok(numbers)
}
