//! What a file may hold, checked before memory is taken for it.

use std::io::{self, Read};

use crate::error::{Result, ensure, wrong};

/// Numbers in a file: 4 GiB as f64.
pub const MOST_NUMBERS: usize = 1 << 29;
/// Bytes in a line of text, or in a row whose quotes go over several lines.
pub const LONGEST_ROW: usize = 64 << 20;
/// Columns of text.
pub const MOST_COLUMNS: usize = 1 << 20;
/// Bytes in the header of an NPY file.
pub const LONGEST_HEADER: usize = 1 << 16;
/// Bytes of what has to be in memory as a whole: columnar files, safetensors, and what is packed in a pipe.
pub const MOST_WHOLE: u64 = 4 << 30;
/// Bytes that anything may unpack to.
const FREE: u64 = 64 << 20;
/// Bytes that more than that may unpack to, for each byte that is packed.
const RATIO: u64 = 200;

/// Checks that there are not too many numbers: rows times columns.
pub fn check_numbers(rows: u64, columns: u64) -> Result<usize> {
    let count = rows.checked_mul(columns);
    let count = count.and_then(|count| usize::try_from(count).ok());
    count.filter(|&count| count <= MOST_NUMBERS).ok_or_else(|| {
        wrong!("{rows} rows of {columns} numbers, expected at most {MOST_NUMBERS} numbers")
    })
}

/// Checks that so many bytes do not unpack to too many.
pub fn check_unpacked(unpacked: u64, packed: u64) -> Result<()> {
    ensure!(
        !(unpacked > FREE && unpacked / RATIO > packed),
        "unpacks to more than {} MiB and to more than {RATIO} times its size",
        FREE >> 20
    );
    Ok(())
}

/// A reader of unpacked bytes; an error if they are many more than the packed ones.
pub struct Unpacked<R> {
    reader: R,
    /// Bytes that are packed.
    packed: u64,
    unpacked: u64,
}

impl<R> Unpacked<R> {
    pub fn new(reader: R, packed: u64) -> Self {
        Self {
            reader,
            packed,
            unpacked: 0,
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.unpacked += read as u64;
        let checked = check_unpacked(self.unpacked, self.packed);
        checked.map_err(|e| io::Error::other(e.to_string()))?;
        Ok(read)
    }
}
