//! Parquet, by row groups.

use bytes::Bytes;
use half::f16;
use parquet::{
    basic::{ConvertedType, LogicalType, Type},
    column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader},
    data_type::AsBytes,
    data_type::DataType,
    errors::{ParquetError, Result as Read},
    file::{
        metadata::ColumnChunkMetaData,
        reader::{ChunkReader, FileReader, Length},
        serialized_reader::SerializedFileReader,
    },
    schema::types::{ColumnDescPtr, ColumnDescriptor, SchemaDescriptor},
};

use super::{
    Columnar, Field, Kind, Values, Wrong,
    batch::{little_endian, scaled},
    null,
    pages::Pages,
};
use crate::input::{
    Result,
    element::Element,
    limits::{check_numbers, check_unpacked},
};

/// A file that is in memory.
pub struct ParquetFile {
    reader: SerializedFileReader<Whole>,
    size: usize,
    fields: Vec<Field>,
    /// The column of each field that holds it, of those that are one.
    leaves: Vec<usize>,
    parts: Vec<usize>,
}

/// The bytes of a file, of which parts are asked for that need not be there.
struct Whole(Bytes);

impl Length for Whole {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

impl Whole {
    fn part(&self, start: u64, length: Option<usize>) -> Read<Bytes> {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let end = length.map_or(Some(self.0.len()), |length| start.checked_add(length));
        match end.filter(|&end| start <= end && end <= self.0.len()) {
            Some(end) => Ok(self.0.slice(start..end)),
            None => Err(ParquetError::EOF("ends before the end of a part".into())),
        }
    }
}

impl ChunkReader for Whole {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Read<Self::T> {
        Ok(bytes::Buf::reader(self.part(start, None)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Read<Bytes> {
        self.part(start, Some(length))
    }
}

impl ParquetFile {
    pub fn new(bytes: Vec<u8>) -> Result<Self> {
        let size = bytes.len();
        let reader = SerializedFileReader::new(Whole(bytes.into()));
        let reader = reader.map_err(|e| format!("not Parquet: {e}"))?;
        let metadata = reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let (mut fields, leaves) = fields(schema);
        let stored = metadata.file_metadata().key_value_metadata();
        let stored = stored.into_iter().flatten();
        let mut stored = stored.filter(|pair| pair.key == ARROW_SCHEMA);
        if let Some(schema) = stored.next().and_then(|pair| pair.value.as_ref()) {
            for (name, kind) in times_of(schema) {
                let same = fields.iter_mut().filter(|field| field.name == name);
                same.for_each(|field| field.kind = Kind::Other(kind.clone()));
            }
        }
        let rows = |group: usize| usize::try_from(metadata.row_group(group).num_rows());
        let parts = (0..metadata.num_row_groups()).map(rows);
        let parts: Vec<usize> = parts.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        let total = parts
            .iter()
            .try_fold(0u64, |all, &rows| all.checked_add(rows as u64));
        check_numbers(total.unwrap_or(u64::MAX), 1)?;
        Ok(Self {
            size,
            fields,
            leaves,
            parts,
            reader,
        })
    }
}

/// The fields of a schema, and the column of each.
fn fields(schema: &SchemaDescriptor) -> (Vec<Field>, Vec<usize>) {
    let roots = schema.root_schema().get_fields().iter().enumerate();
    roots
        .map(|(root, field)| {
            let of_root = |leaf: &usize| schema.get_column_root_idx(*leaf) == root;
            let leaves: Vec<usize> = (0..schema.num_columns()).filter(of_root).collect();
            let kind = match leaves[..] {
                [leaf] => kind(&schema.column(leaf), field.is_primitive()),
                _ => Kind::Other("a structure".into()),
            };
            let name = field.name().to_owned();
            (Field { name, kind }, leaves.first().copied().unwrap_or(0))
        })
        .unzip()
}

/// The key of the schema of Arrow, whose types may say more than those of Parquet.
const ARROW_SCHEMA: &str = "ARROW:schema";

/// The columns that are times or durations by a schema of Arrow in base 64, and what they are. A schema that
/// is broken says nothing.
fn times_of(schema: &str) -> Vec<(String, String)> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let place = |letter: &u8| LETTERS.iter().position(|other| other == letter);
    let digits: Vec<u32> = schema
        .as_bytes()
        .iter()
        .map_while(|letter| Some(place(letter)? as u32))
        .collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let word = four.iter().fold(0, |all, digit| all << 6 | digit);
        let word = word << (6 * (4 - four.len()));
        [16, 8, 0]
            .map(|shift| (word >> shift) as u8)
            .into_iter()
            .take(four.len() * 3 / 4)
    });
    super::arrow::times(&bytes.collect::<Vec<_>>())
}

fn kind(leaf: &ColumnDescriptor, is_primitive: bool) -> Kind {
    let kind = match element(leaf) {
        _ if let Some(decimals) = decimals(leaf) => Kind::Decimals(decimals),
        Some(element) => Kind::Numbers(element),
        None if is_text(leaf) => Kind::Text,
        None => Kind::Other(match (leaf.converted_type(), leaf.logical_type_ref()) {
            (ConvertedType::NONE, Some(logical)) => format!("{logical:?}").to_lowercase(),
            (ConvertedType::NONE, None) => format!("{:?}", leaf.physical_type()).to_lowercase(),
            (other, _) => format!("{other:?}").to_lowercase(),
        }),
    };
    match (kind, is_primitive, leaf.max_rep_level()) {
        (kind, true, 0) => kind,
        (Kind::Numbers(element), _, 1) => Kind::Lists(element),
        _ => Kind::Other("a structure".into()),
    }
}

fn is_text(leaf: &ColumnDescriptor) -> bool {
    let text = [ConvertedType::UTF8, ConvertedType::ENUM];
    leaf.physical_type() == Type::BYTE_ARRAY && text.contains(&leaf.converted_type())
}

/// The number of decimals of a column of decimals.
fn decimals(leaf: &ColumnDescriptor) -> Option<i32> {
    let is_decimal = leaf.converted_type() == ConvertedType::DECIMAL
        || matches!(leaf.logical_type_ref(), Some(LogicalType::Decimal { .. }));
    is_decimal.then(|| leaf.type_scale())
}

/// The number that bytes in two's complement stand for, the highest first.
fn big_endian(bytes: &[u8]) -> f64 {
    little_endian(&bytes.iter().rev().copied().collect::<Vec<_>>())
}

fn element(leaf: &ColumnDescriptor) -> Option<Element> {
    use ConvertedType as C;
    let logical = leaf.logical_type_ref();
    if logical.is_some_and(|l| !matches!(l, LogicalType::Integer { .. } | LogicalType::Float16)) {
        return None;
    }
    Some(match (leaf.physical_type(), leaf.converted_type()) {
        (Type::BOOLEAN, _) => Element::Bool,
        (Type::INT32, C::UINT_8) => Element::U8,
        (Type::INT32, C::UINT_16) => Element::U16,
        (Type::INT32, C::UINT_32) => Element::U32,
        (Type::INT32, C::NONE | C::INT_8 | C::INT_16 | C::INT_32) => Element::I32,
        (Type::INT64, C::UINT_64) => Element::U64,
        (Type::INT64, C::NONE | C::INT_64) => Element::I64,
        (Type::FLOAT, _) => Element::F32,
        (Type::DOUBLE, _) => Element::F64,
        (Type::FIXED_LEN_BYTE_ARRAY, _)
            if leaf.logical_type_ref() == Some(&LogicalType::Float16)
                && leaf.type_length() == 2 =>
        {
            Element::F16
        }
        _ => return None,
    })
}

impl Columnar for ParquetFile {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn parts(&self) -> &[usize] {
        &self.parts
    }

    fn size(&self) -> usize {
        self.size
    }

    fn read(&self, part: usize, column: usize) -> Result<Values, Wrong> {
        let (leaf, rows) = (self.leaves[column], self.parts[part]);
        let group = self.reader.get_row_group(part)?;
        let (chunk, schema) = match group.metadata().columns().get(leaf) {
            Some(chunk) => (chunk, chunk.column_descr_ptr()),
            None => return Err("is not in every row group".into()),
        };
        self.check(chunk)?;
        let pages = group.get_column_page_reader(leaf)?;
        let pages = Pages::new(pages, schema.clone(), self.size);
        let reader = get_column_reader(schema.clone(), Box::new(pages));
        let is_unsigned = matches!(
            element(&schema),
            Some(Element::U8 | Element::U16 | Element::U32)
        );
        if let Some(decimals) = decimals(&schema) {
            let scaled = |number: f64| scaled(number, decimals);
            return match reader {
                ColumnReader::Int32ColumnReader(reader) => {
                    numbers(reader, &schema, rows, |x| scaled(f64::from(x)))
                }
                ColumnReader::Int64ColumnReader(reader) => {
                    numbers(reader, &schema, rows, |x| scaled(x as f64))
                }
                ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                    numbers(reader, &schema, rows, |x| scaled(big_endian(x.as_bytes())))
                }
                ColumnReader::ByteArrayColumnReader(reader) => {
                    numbers(reader, &schema, rows, |x| scaled(big_endian(x.as_bytes())))
                }
                _ => Err("decimals of a type that is not known".into()),
            };
        }
        match reader {
            ColumnReader::BoolColumnReader(reader) => {
                numbers(reader, &schema, rows, |x| f64::from(u8::from(x)))
            }
            ColumnReader::Int32ColumnReader(reader) if is_unsigned => {
                numbers(reader, &schema, rows, |x| f64::from(x as u32))
            }
            ColumnReader::Int32ColumnReader(reader) => numbers(reader, &schema, rows, f64::from),
            ColumnReader::Int64ColumnReader(reader) if element(&schema) == Some(Element::U64) => {
                numbers(reader, &schema, rows, |x| x as u64 as f64)
            }
            ColumnReader::Int64ColumnReader(reader) => numbers(reader, &schema, rows, |x| x as f64),
            ColumnReader::FloatColumnReader(reader) => numbers(reader, &schema, rows, f64::from),
            ColumnReader::DoubleColumnReader(reader) => numbers(reader, &schema, rows, |x| x),
            ColumnReader::FixedLenByteArrayColumnReader(_) if element(&schema).is_none() => {
                Err("bytes, expected numbers or text".into())
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                numbers(reader, &schema, rows, |x| {
                    let bytes = x.data().try_into().unwrap_or_default();
                    f16::from_le_bytes(bytes).to_f64()
                })
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                let (values, _) = values(reader, &schema, rows)?;
                let text = |(row, value): (usize, parquet::data_type::ByteArray)| {
                    let text = String::from_utf8(value.data().to_vec());
                    text.map_err(|_| Wrong(Some(row), "is not UTF-8".into()))
                };
                let text = values.into_iter().enumerate().map(text);
                Ok(Values::Text(text.collect::<Result<_, _>>()?))
            }
            ColumnReader::Int96ColumnReader(_) => Err("dates, expected numbers or text".into()),
        }
    }
}

impl ParquetFile {
    /// Checks what the pages of a column unpack to, before they are.
    fn check(&self, chunk: &ColumnChunkMetaData) -> Result<()> {
        let start = chunk
            .dictionary_page_offset()
            .unwrap_or(chunk.data_page_offset());
        let [start, length, unpacked] =
            [start, chunk.compressed_size(), chunk.uncompressed_size()].map(u64::try_from);
        let broken = |_| "sizes of a column below 0".to_owned();
        let (start, length) = (start.map_err(broken)?, length.map_err(broken)?);
        check_unpacked(unpacked.map_err(broken)?, self.size as u64)?;
        let end = start
            .checked_add(length)
            .filter(|&end| end <= self.size as u64);
        end.map(|_| ())
            .ok_or_else(|| "a column beyond the end".to_owned())
    }
}

fn numbers<T: DataType>(
    reader: ColumnReaderImpl<T>,
    leaf: &ColumnDescPtr,
    rows: usize,
    convert: impl Fn(T::T) -> f64,
) -> Result<Values, Wrong> {
    let (values, width) = values(reader, leaf, rows)?;
    Ok(Values::Numbers(
        values.into_iter().map(convert).collect(),
        width,
    ))
}

/// Records that are read at a time.
const AT_ONCE: usize = 1 << 14;

/// The values of a column without nulls, and how many are in each row.
fn values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    leaf: &ColumnDescPtr,
    rows: usize,
) -> Result<(Vec<T::T>, usize), Wrong> {
    let most = leaf.max_def_level();
    let is_list = leaf.max_rep_level() > 0;
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut read, mut width, mut length) = (0, None, 0);
    let mut ends = |row: usize, length: usize| match *width.get_or_insert(length) {
        width if width == length => Ok(()),
        width => Err(Wrong(
            Some(row),
            format!("a list of {length} numbers, expected {width} as in the rows before"),
        )),
    };
    let mut row = 0; // that is being read
    let mut has_begun = false;
    while read < rows {
        definitions.clear();
        repetitions.clear();
        let some = AT_ONCE.min(rows - read);
        let (records, _, levels) = reader.read_records(
            some,
            (most > 0).then_some(&mut definitions),
            is_list.then_some(&mut repetitions),
            &mut values,
        )?;
        if levels == 0 && records == 0 {
            break;
        }
        match is_list {
            false => {
                if let Some(at) = definitions.iter().position(|&level| level < most) {
                    return Err(null(read + at));
                }
            }
            true => {
                for (&repetition, &definition) in repetitions.iter().zip(&definitions) {
                    if repetition == 0 {
                        if has_begun {
                            ends(row, length)?;
                            row += 1;
                        }
                        (has_begun, length) = (true, 0);
                    }
                    if definition < most {
                        return Err(null(row));
                    }
                    length += 1;
                }
            }
        }
        read += records;
        check_numbers(values.len() as u64, 1)?;
    }
    if is_list && has_begun {
        ends(row, length)?;
    }
    Ok((values, width.unwrap_or(1)))
}
