//! The lines of a text.

use std::io::{BufRead, BufReader, Read};

use crate::{
    error::{Result, ensure},
    limits::LONGEST_ROW,
};

/// Reads a text line by line.
pub struct Lines {
    reader: BufReader<Box<dyn Read>>,
    /// The line that was read last, which ends with LF; empty at the end of the text.
    pub text: Vec<u8>,
    /// The number of this line, from 1.
    pub number: u64,
}

impl Lines {
    pub fn new(reader: Box<dyn Read>) -> Self {
        Self {
            reader: BufReader::new(reader),
            text: Vec::new(),
            number: 0,
        }
    }

    /// Reads the next line; returns whether there is one.
    pub fn advance(&mut self) -> Result<bool> {
        let text = &mut self.text;
        text.clear();
        let mut reader = self.reader.by_ref().take(LONGEST_ROW as u64 + 1);
        let read = reader.read_until(b'\n', text)?;
        self.number += 1;
        let (line, most) = (self.number, LONGEST_ROW >> 20);
        ensure!(read <= LONGEST_ROW, "line {line} is longer than {most} MiB");
        if read == 0 {
            return Ok(false);
        }
        if line == 1 && text.starts_with(b"\xef\xbb\xbf") {
            text.drain(..3); // a mark of the order of bytes
        }
        let is_last = text.pop_if(|byte| *byte == b'\n').is_none();
        text.pop_if(|byte| *byte == b'\r');
        ensure!(
            !is_last || !text.contains(&b'\r'),
            "lines end with CR alone, expected LF or CR LF"
        );
        text.push(b'\n');
        Ok(true)
    }
}
