//! Numbers in binary.

use std::io::{ErrorKind, Read};

use crate::error::{Result, ensure, wrong};
use half::{bf16, f16};

macro_rules! elements {
    ($($name:ident: $number:ty, $epsilon:expr, $convert:expr;)*) => {
        /// The format of a number.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Element {
            $($name,)*
        }

        impl Element {
            /// The number of bytes.
            pub fn size(self) -> usize {
                match self {
                    $(Self::$name => size_of::<$number>(),)*
                }
            }

            /// The distance from 1 to the next number, 0 of whole ones.
            pub fn epsilon(self) -> f64 {
                match self {
                    $(Self::$name => $epsilon,)*
                }
            }

            /// Appends numbers.
            pub fn decode(self, bytes: &[u8], is_big_endian: bool, numbers: &mut Vec<f64>) {
                match self {
                    $(Self::$name => numbers.extend(bytes.chunks_exact(size_of::<$number>()).map(|bytes| {
                        let bytes = bytes.try_into().expect("as many bytes as the number has");
                        let number = match is_big_endian {
                            true => <$number>::from_be_bytes(bytes),
                            false => <$number>::from_le_bytes(bytes),
                        };
                        ($convert)(number)
                    })),)*
                }
            }
        }
    };
}

elements! {
    Bool: u8, 0.0, |x| f64::from(u8::from(x != 0));
    U8: u8, 0.0, f64::from;
    I8: i8, 0.0, f64::from;
    U16: u16, 0.0, f64::from;
    I16: i16, 0.0, f64::from;
    U32: u32, 0.0, f64::from;
    I32: i32, 0.0, f64::from;
    U64: u64, 0.0, |x| x as f64;
    I64: i64, 0.0, |x| x as f64;
    F16: f16, f16::EPSILON.to_f64(), f16::to_f64;
    Bf16: bf16, bf16::EPSILON.to_f64(), bf16::to_f64;
    F32: f32, f64::from(f32::EPSILON), f64::from;
    F64: f64, f64::EPSILON, |x| x;
}

impl Element {
    /// Reads so many numbers, which have to be all that there is.
    pub fn read(
        self,
        mut reader: impl Read,
        count: usize,
        is_big_endian: bool,
    ) -> Result<Vec<f64>> {
        let mut numbers = Vec::with_capacity(count.min(1 << 16));
        let mut buffer = vec![0; (count * self.size()).clamp(1, 1 << 16)]; // a multiple of the size
        let mut left = count * self.size();
        while left > 0 {
            let block = &mut buffer[..left.min(1 << 16)];
            reader.read_exact(block).map_err(|e| match e.kind() {
                ErrorKind::UnexpectedEof => {
                    wrong!("ends before the last of {count} numbers of its shape")
                }
                _ => e.into(),
            })?;
            self.decode(block, is_big_endian, &mut numbers);
            left -= block.len();
        }
        // the end is where an archive checks what was read
        let is_end = reader.read(&mut [0])? == 0;
        ensure!(is_end, "goes on after the {count} numbers of its shape");
        Ok(numbers)
    }
}
