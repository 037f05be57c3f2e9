//! Thrift's compact protocol, in which Parquet says what it holds.

/// Structures and lists within one another.
const MOST_LEVELS: usize = 16;

/// Types of values.
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCTURE: u8 = 12;

/// The bytes that are not read yet.
pub struct Compact<'a>(pub &'a [u8]);

impl Compact<'_> {
    /// Reads a structure and tells its whole numbers, each with its path: numbers of fields, and places in
    /// lists. None if the structure is broken.
    pub fn structure(&mut self, mut tell: impl FnMut(&[u64], i64)) -> Option<()> {
        self.value(STRUCTURE, &mut Vec::new(), &mut tell)
    }

    fn value(
        &mut self,
        kind: u8,
        path: &mut Vec<u64>,
        tell: &mut dyn FnMut(&[u64], i64),
    ) -> Option<()> {
        if path.len() > MOST_LEVELS {
            return None;
        }
        match kind {
            1 | 2 => {} // true and false are types of fields
            3 => _ = self.byte()?,
            4..=6 => tell(path, self.number()?),
            7 => self.skip(8)?,
            8 => {
                let length = self.unsigned()?;
                self.skip(length)?;
            }
            LIST | SET => {
                let byte = self.byte()?;
                let count = match byte >> 4 {
                    15 => self.unsigned()?,
                    few => few.into(),
                };
                for at in 0..count {
                    path.push(at);
                    match byte & 0xf {
                        1 | 2 => _ = self.byte()?,
                        kind => self.value(kind, path, tell)?,
                    }
                    path.pop();
                }
            }
            STRUCTURE => {
                let mut field = 0u64;
                loop {
                    let byte = self.byte()?;
                    if byte & 0xf == 0 {
                        break;
                    }
                    field = match byte >> 4 {
                        0 => self.number()?.try_into().ok()?,
                        more => field.checked_add(more.into())?,
                    };
                    path.push(field);
                    self.value(byte & 0xf, path, tell)?;
                    path.pop();
                }
            }
            _ => return None, // Parquet has no maps
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.0.split_off(..usize::try_from(count).ok()?).map(drop)
    }

    /// A number whose lowest bit is its sign.
    fn number(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A number of seven bits a byte, the lowest first.
    fn unsigned(&mut self) -> Option<u64> {
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
