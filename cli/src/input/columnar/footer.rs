//! The footer of Parquet, of which the schema is checked before the reader takes it for granted: the reader
//! calls itself for each level.

use crate::error::{Result, bail, wrong};

/// Levels of a schema.
const MOST_LEVELS: usize = 100;

/// Checks that a file is one of Parquet, is not encrypted, and has a schema that is not nested too deep.
pub fn check(bytes: &[u8]) -> Result<()> {
    if bytes.ends_with(b"PARE") {
        bail!("encrypted Parquet, expected a file that is not encrypted");
    }
    let footer = bytes.strip_suffix(b"PAR1").and_then(|bytes| {
        let (before, size) = bytes.split_last_chunk()?;
        let start = before
            .len()
            .checked_sub(u32::from_le_bytes(*size) as usize)?;
        before.get(start..)
    });
    let footer = footer.ok_or_else(|| {
        wrong!("not Parquet: no footer at its end, as of a file that was cut off")
    })?;
    let levels = Compact(footer).schema_levels();
    let levels = levels.ok_or_else(|| wrong!("not Parquet: a footer that is broken"))?;
    if levels > MOST_LEVELS {
        bail!("a schema of more than {MOST_LEVELS} levels, expected columns of numbers and text");
    }
    Ok(())
}

/// Thrift's compact protocol.
struct Compact<'a>(&'a [u8]);

/// Types of values.
const I32: u8 = 5;
const LIST: u8 = 9;

impl Compact<'_> {
    /// The levels of the schema of a footer, or some more than are allowed; none if the footer is broken.
    fn schema_levels(&mut self) -> Option<usize> {
        let mut last = 0;
        loop {
            match self.field(&mut last)?? {
                (2, LIST) => break,
                (_, kind) => self.skip(kind, 0)?,
            }
        }
        let (count, _) = self.list()?;
        let mut open: Vec<u64> = Vec::new(); // children that are still to come, of each level
        let mut most = 0;
        for at in 0..count {
            while open.pop_if(|left| *left == 0).is_some() {}
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            let children = self.children()?;
            if children > count - at - 1 {
                return None;
            }
            open.push(children);
            most = most.max(open.len());
            if most > MOST_LEVELS {
                break;
            }
        }
        Some(most)
    }

    /// The number of children of an element of a schema.
    fn children(&mut self) -> Option<u64> {
        let (mut last, mut children) = (0, 0);
        while let Some((id, kind)) = self.field(&mut last)? {
            if (id, kind) == (5, I32) {
                children = self.number()? >> 1; // those below 0 are refused as too many, or by the reader
            } else {
                self.skip(kind, 0)?;
            }
        }
        Some(children)
    }

    /// The number and type of the next field of a structure; `Some(None)` at its end.
    fn field(&mut self, last: &mut u64) -> Option<Option<(u64, u8)>> {
        let byte = self.byte()?;
        if byte & 0xf == 0 {
            return Some(None);
        }
        *last = match byte >> 4 {
            0 => self.number()? >> 1,
            more => last.checked_add(more.into())?,
        };
        Some(Some((*last, byte & 0xf)))
    }

    /// The number and type of the elements of a list, each of which has a byte or more.
    fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let count = match byte >> 4 {
            15 => self.number()?,
            few => few.into(),
        };
        (count <= self.0.len() as u64).then_some((count, byte & 0xf))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > 16 {
            return None;
        }
        match kind {
            1 | 2 => {}
            3 => _ = self.byte()?,
            4..=6 => _ = self.number()?,
            7 => self.take(8)?,
            8 => {
                let length = self.number()?;
                self.take(length)?;
            }
            LIST | 10 => {
                let (count, kind) = self.list()?;
                for _ in 0..count {
                    match kind {
                        1 | 2 => _ = self.byte()?,
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
            }
            12 => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return None, // maps are not in a footer
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, count: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    /// A number of seven bits a byte, the lowest first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for at in 0..10 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}
