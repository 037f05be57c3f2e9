//! A batch of Arrow IPC: rows whose columns are in buffers.

use std::{borrow::Cow, collections::HashMap, io::Read, ops::Range, rc::Rc};

use arrow_ipc::{CompressionType, RecordBatch};

use super::{Values, Wrong, null};
use crate::input::{
    Result,
    element::Element,
    limits::{MOST_NUMBERS, check_unpacked},
};

/// How the values of a field are laid out in the buffers of a batch.
#[derive(Debug, Clone)]
pub enum Layout {
    Numbers(Element),
    Bits,
    /// Decimals of so many bytes, and how many decimals they have.
    Decimals(usize, i32),
    /// Text with offsets of so many bytes.
    Text(usize),
    /// Text in views of 16 bytes.
    Views,
    /// Lists with offsets of so many bytes.
    Lists(usize, Element),
    /// Lists of so many numbers.
    Fixed(usize, Element),
    /// Places in a dictionary.
    Dictionary(i64, Element),
    /// What is not read.
    Other,
}

/// The buffers of some rows, and the dictionaries that they go with.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Rows and nulls of each node.
    nodes: Vec<[usize; 2]>,
    /// Where each buffer is in the file.
    buffers: Vec<Range<usize>>,
    compression: Option<CompressionType>,
    /// The first node and buffer of each field, and the number of buffers.
    pub places: Vec<Place>,
    pub dictionaries: HashMap<i64, Rc<Vec<String>>>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    pub node: usize,
    pub buffer: usize,
    /// Buffers of text that views point into.
    pub variadic: usize,
}

pub fn part(bytes: &[u8], start: usize, length: usize) -> Option<Range<usize>> {
    let end = start.checked_add(length)?;
    (end <= bytes.len()).then_some(start..end)
}

/// The numbers of buffers of the views of a batch.
pub fn variadic(batch: &RecordBatch) -> impl Iterator<Item = usize> {
    let counts = batch.variadicBufferCounts().into_iter().flatten();
    counts.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}

impl Batch {
    pub fn new(batch: &RecordBatch, body: Range<usize>) -> Result<Self> {
        let size = |number: i64| usize::try_from(number).map_err(|e| e.to_string());
        let nodes = batch.nodes().into_iter().flatten();
        let nodes = nodes.map(|node| Ok([size(node.length())?, size(node.null_count())?]));
        let buffers = batch.buffers().into_iter().flatten().map(|buffer| {
            let start = size(buffer.offset())?.checked_add(body.start);
            let end = start.and_then(|start| start.checked_add(size(buffer.length()).ok()?));
            match (start, end) {
                (Some(start), Some(end)) if end <= body.end => Ok(start..end),
                _ => Err("a buffer beyond the end of its message".to_owned()),
            }
        });
        Ok(Self {
            nodes: nodes.collect::<Result<_>>()?,
            buffers: buffers.collect::<Result<_>>()?,
            compression: batch.compression().map(|compression| compression.codec()),
            places: Vec::new(),
            dictionaries: HashMap::new(),
        })
    }

    /// Finds the place of each field, from its nodes.
    pub fn find_places(
        &mut self,
        fields: &[Vec<(usize, bool)>],
        batch: &RecordBatch,
    ) -> Result<()> {
        let (mut place, mut views) = (Place::default(), variadic(batch));
        for nodes in fields {
            self.places.push(place);
            for &(buffers, is_view) in nodes {
                let more = match is_view {
                    true => views
                        .next()
                        .ok_or("views without their number of buffers")?,
                    false => 0,
                };
                place.node += 1;
                place.buffer = place.buffer.saturating_add(buffers).saturating_add(more);
                if let Some(own) = self.places.last_mut() {
                    own.variadic = more;
                }
            }
        }
        match place.node <= self.nodes.len() && place.buffer <= self.buffers.len() {
            true => Ok(()),
            false => Err("a batch with less than its schema has".into()),
        }
    }

    /// A buffer, unpacked.
    fn buffer<'a>(&self, bytes: &'a [u8], index: usize) -> Result<Cow<'a, [u8]>> {
        let range = self
            .buffers
            .get(index)
            .ok_or("a batch without one of its buffers")?;
        let buffer = &bytes[range.clone()];
        let Some(compression) = self.compression.filter(|_| !buffer.is_empty()) else {
            return Ok(buffer.into());
        };
        let broken = || "a packed buffer that is broken".to_owned();
        let (length, packed) = buffer.split_first_chunk().ok_or_else(broken)?;
        let length = match i64::from_le_bytes(*length) {
            -1 => return Ok(packed.into()),
            length => u64::try_from(length).map_err(|_| broken())?,
        };
        check_unpacked(length, bytes.len() as u64)?;
        let mut unpacked = Vec::new();
        let read = match compression {
            CompressionType::LZ4_FRAME => lz4_flex::frame::FrameDecoder::new(packed)
                .take(length)
                .read_to_end(&mut unpacked),
            CompressionType::ZSTD => zstd::stream::read::Decoder::new(packed)
                .and_then(|reader| reader.take(length).read_to_end(&mut unpacked)),
            _ => return Err("packed in a way that is not known".into()),
        };
        match read {
            Ok(read) if read as u64 == length => Ok(unpacked.into()),
            _ => Err(broken()),
        }
    }

    /// The rows of a node that has no nulls.
    fn rows(&self, bytes: &[u8], Place { node, buffer, .. }: Place) -> Result<usize, Wrong> {
        let &[rows, nulls] = self
            .nodes
            .get(node)
            .ok_or("a batch without one of its fields")?;
        if rows > MOST_NUMBERS {
            return Err(format!("{rows} rows, expected at most {MOST_NUMBERS}").into());
        }
        if nulls > 0 {
            let valid = self.buffer(bytes, buffer)?;
            let first = (0..rows).find(|&row| !bit(&valid, row));
            return Err(null(first.unwrap_or(0)));
        }
        Ok(rows)
    }

    pub fn values(&self, bytes: &[u8], layout: &Layout, place: Place) -> Result<Values, Wrong> {
        let rows = self.rows(bytes, place)?;
        let data = || self.buffer(bytes, place.buffer + 1);
        let child = Place {
            node: place.node + 1,
            buffer: place.buffer + 2,
            variadic: 0,
        };
        Ok(match *layout {
            Layout::Numbers(element) => Values::Numbers(numbers(&data()?, element, 0..rows)?, 1),
            Layout::Decimals(bytes, decimals) => {
                let data = data()?;
                let whole = rows.checked_mul(bytes).and_then(|end| data.get(..end));
                let whole = whole.ok_or(SHORT)?.chunks_exact(bytes);
                let scaled = whole.map(|bytes| scaled(little_endian(bytes), decimals));
                Values::Numbers(scaled.collect(), 1)
            }
            Layout::Bits => {
                let bits = data()?;
                if bits.len() < rows.div_ceil(8) {
                    return Err(SHORT.into());
                }
                let number = |row| f64::from(u8::from(bit(&bits, row)));
                Values::Numbers((0..rows).map(number).collect(), 1)
            }
            Layout::Text(size) => {
                let ends = offsets(&data()?, size, rows)?;
                let text = self.buffer(bytes, place.buffer + 2)?;
                let cells = ends.windows(2).enumerate().map(|(row, ends)| {
                    let cell = text.get(ends[0]..ends[1]).ok_or(SHORT)?;
                    utf8(row, cell)
                });
                Values::Text(cells.collect::<Result<_, Wrong>>()?)
            }
            Layout::Views => {
                let views = data()?;
                let others = (0..place.variadic).map(|k| self.buffer(bytes, place.buffer + 2 + k));
                let others = others.collect::<Result<Vec<_>>>()?;
                let views = views.get(..rows * 16).ok_or(SHORT)?.chunks_exact(16);
                let cells = views.enumerate().map(|(row, view)| {
                    let word = |at: usize| -> usize {
                        view[at..]
                            .first_chunk()
                            .map_or(0, |word| u32::from_le_bytes(*word))
                            as usize
                    };
                    let length = word(0);
                    let cell = match length {
                        0..=12 => &view[4..4 + length],
                        _ => {
                            let buffer = others.get(word(8)).ok_or(SHORT)?;
                            let range = part(buffer, word(12), length).ok_or(SHORT)?;
                            &buffer[range]
                        }
                    };
                    utf8(row, cell)
                });
                Values::Text(cells.collect::<Result<_, Wrong>>()?)
            }
            Layout::Lists(size, element) => {
                let ends = offsets(&data()?, size, rows)?;
                let width = ends.get(1).map_or(1, |end| end - ends[0]);
                let uneven = ends.windows(2).position(|ends| ends[1] - ends[0] != width);
                if let Some(row) = uneven {
                    let length = ends[row + 1] - ends[row];
                    return Err(uneven_list(row, length, width));
                }
                self.lists(bytes, child, element, (ends[0], rows, width))?
            }
            Layout::Fixed(width, element) => {
                let child = Place {
                    buffer: place.buffer + 1,
                    ..child
                };
                self.lists(bytes, child, element, (0, rows, width))?
            }
            Layout::Dictionary(id, element) => {
                let dictionary = self.dictionaries.get(&id).ok_or("no dictionary")?;
                let places = numbers(&data()?, element, 0..rows)?;
                let cell = |(row, place): (usize, f64)| {
                    let cell = (place >= 0.0)
                        .then(|| dictionary.get(place as usize))
                        .flatten();
                    let wrong = || Wrong(Some(row), "is not in the dictionary".into());
                    cell.cloned().ok_or_else(wrong)
                };
                let cells = places.into_iter().enumerate().map(cell);
                Values::Text(cells.collect::<Result<_, Wrong>>()?)
            }
            Layout::Other => return Err("is not read".into()),
        })
    }

    /// The numbers of lists of one width, from the first of a child on.
    fn lists(
        &self,
        bytes: &[u8],
        child: Place,
        element: Element,
        (first, rows, width): (usize, usize, usize),
    ) -> Result<Values, Wrong> {
        if width == 0 {
            return Err(null(0));
        }
        self.rows(bytes, child).map_err(|Wrong(number, reason)| {
            let row = number.map(|number| number.saturating_sub(first) / width);
            Wrong(row, reason)
        })?;
        let count = rows
            .checked_mul(width)
            .and_then(|count| count.checked_add(first));
        let data = self.buffer(bytes, child.buffer + 1)?;
        let numbers = numbers(&data, element, first..count.ok_or(SHORT)?)?;
        Ok(Values::Numbers(numbers, width))
    }
}

/// The number that bytes in two's complement stand for, the lowest first.
pub fn little_endian(bytes: &[u8]) -> f64 {
    let is_negative = bytes.last().is_some_and(|byte| byte >> 7 == 1);
    // of negative numbers one less than the magnitude, exactly where it is short
    let byte = |byte: u8| if is_negative { !byte } else { byte };
    let magnitude = bytes
        .iter()
        .rev()
        .fold(0.0, |all, &b| all * 256.0 + f64::from(byte(b)));
    if is_negative {
        -magnitude - 1.0
    } else {
        magnitude
    }
}

/// A whole number with its decimals. A division is rounded once, a product with a power below 1 twice.
pub fn scaled(number: f64, decimals: i32) -> f64 {
    match decimals {
        0.. => number / 10f64.powi(decimals),
        _ => number * 10f64.powi(-decimals),
    }
}

/// What is said of a buffer that has less than its rows need.
const SHORT: &str = "a buffer that is too short for its rows";

fn bit(bits: &[u8], at: usize) -> bool {
    bits.get(at / 8)
        .is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

fn numbers(data: &[u8], element: Element, range: Range<usize>) -> Result<Vec<f64>, Wrong> {
    let size = element.size();
    let bytes = range
        .start
        .checked_mul(size)
        .zip(range.end.checked_mul(size));
    let bytes = bytes
        .and_then(|(start, end)| data.get(start..end))
        .ok_or(SHORT)?;
    let mut numbers = Vec::with_capacity(range.len());
    element.decode(bytes, false, &mut numbers);
    Ok(numbers)
}

/// Offsets of so many bytes, one more than rows, that do not fall; of no rows there may be none.
fn offsets(data: &[u8], size: usize, rows: usize) -> Result<Vec<usize>, Wrong> {
    if rows == 0 {
        return Ok(vec![0]);
    }
    let data = data.get(..(rows + 1) * size).ok_or(SHORT)?;
    let offset = |bytes: &[u8]| {
        let number = bytes
            .iter()
            .rev()
            .fold(0u64, |all, &byte| all << 8 | u64::from(byte));
        usize::try_from(number).unwrap_or(usize::MAX)
    };
    let ends: Vec<usize> = data.chunks_exact(size).map(offset).collect();
    match ends.is_sorted() {
        true => Ok(ends),
        false => Err("offsets that fall".into()),
    }
}

fn utf8(row: usize, cell: &[u8]) -> Result<String, Wrong> {
    let text = std::str::from_utf8(cell);
    text.map(str::to_owned)
        .map_err(|_| Wrong(Some(row), "is not UTF-8".into()))
}

fn uneven_list(row: usize, length: usize, width: usize) -> Wrong {
    let reason = format!("a list of {length} numbers, expected {width} as in the rows before");
    Wrong(Some(row), reason)
}
