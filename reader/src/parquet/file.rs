//! Parquet, by the reader of record batches, which takes for granted what a file says of its levels and sizes:
//! these are checked first.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    basic::{Compression, ConvertedType, Type},
    errors::ParquetError,
    file::metadata::RowGroupMetaData,
};

use super::thrift::Compact;
use crate::{
    error::{Result, bail, ensure, wrong},
    limits::{check_numbers, check_unpacked},
};

/// Levels of a schema: the reader calls itself for each.
const MOST_LEVELS: usize = 100;
/// Rows that are read at a time.
const AT_ONCE: usize = 1 << 13;
/// Bytes of text that are in memory at a time.
const MOST_TEXT: usize = 64 << 20;

/// A file of Parquet whose schema is known.
pub struct ParquetFile {
    bytes: Bytes,
    metadata: ArrowReaderMetadata,
}

impl ParquetFile {
    pub fn new(bytes: Vec<u8>) -> Result<Self> {
        check_footer(&bytes)?;
        let bytes = Bytes::from(bytes);
        let not = |e: ParquetError| wrong!("not Parquet: {e}");
        let mut metadata =
            ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()).map_err(not)?;
        let schema = with_text(&metadata);
        if schema.fields() != metadata.schema().fields() {
            let options = ArrowReaderOptions::new().with_schema(schema.into());
            metadata =
                ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).map_err(not)?;
        }
        let groups = metadata.metadata().row_groups();
        let mut rows = groups.iter().map(|group| u64::try_from(group.num_rows()));
        let rows = rows.try_fold(0u64, |all, rows| all.checked_add(rows.ok()?));
        check_numbers(rows.unwrap_or(u64::MAX), 1)?;
        Ok(Self { bytes, metadata })
    }

    pub fn schema(&self) -> &Schema {
        self.metadata.schema()
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The batches with the columns of some places in the schema, which rise.
    pub fn batches(
        &self,
        columns: &[usize],
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let (bytes, metadata) = (&self.bytes, &self.metadata);
        let broken = |e: &dyn std::fmt::Display| wrong!("Parquet that is broken: {e}");
        let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
        let mut longest = 1;
        for group in metadata.metadata().row_groups() {
            for leaf in (0..group.num_columns()).filter(|&leaf| mask.leaf_included(leaf)) {
                let text = check_pages(bytes, group, leaf);
                let title = || group.column(leaf).column_path().string();
                longest = longest.max(text.map_err(|e| wrong!("column {}: {e}", title()))?);
            }
        }
        let metadata = metadata.clone();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata);
        let batches = builder
            .with_projection(mask)
            .with_batch_size((MOST_TEXT / longest).clamp(16, AT_ONCE))
            .build();
        let batches = batches.map_err(|e| broken(&e))?;
        Ok(batches.map(move |batch| batch.map_err(|e| broken(&e))))
    }
}

/// Checks that a file is one of Parquet, is not encrypted, and has a schema that is not nested too deep.
fn check_footer(bytes: &[u8]) -> Result<()> {
    if bytes.ends_with(b"PARE") {
        bail!("encrypted Parquet, expected a file that is not encrypted");
    }
    let (_, footer) = footer(bytes).ok_or_else(|| {
        wrong!("not Parquet: no footer at its end, as of a file that was cut off")
    })?;
    let mut children = Vec::new(); // of each element of the schema
    let read = Compact(footer).structure(|path, number| {
        if let [2, element, field] = *path {
            children.resize(children.len().max(element as usize + 1), 0);
            if field == 5 {
                children[element as usize] = number;
            }
        }
    });
    let levels = read.and_then(|()| levels(&children));
    let levels = levels.ok_or_else(|| wrong!("not Parquet: a footer that is broken"))?;
    ensure!(
        levels <= MOST_LEVELS,
        "a schema of more than {MOST_LEVELS} levels, expected columns of numbers and text"
    );
    Ok(())
}

/// The bytes before the footer of a file, and the footer, whose size stands before the last magic bytes.
fn footer(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (before, size) = bytes.strip_suffix(b"PAR1")?.split_last_chunk()?;
    let size = u32::from_le_bytes(*size) as usize;
    before.split_at_checked(before.len().checked_sub(size)?)
}

/// The levels of a tree whose nodes have so many children, each node before its children; none if there are more
/// children than nodes.
fn levels(children: &[i64]) -> Option<usize> {
    let mut open: Vec<usize> = Vec::new(); // children that are still to come, of each level
    let mut most = 0;
    for (at, &children_here) in children.iter().enumerate() {
        while open.pop_if(|left| *left == 0).is_some() {}
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        let count = usize::try_from(children_here).ok()?;
        if count > children.len() - at - 1 {
            return None;
        }
        open.push(count);
        most = most.max(open.len());
    }
    Some(most)
}

/// The schema, with words of an enumeration as text.
fn with_text(found: &ArrowReaderMetadata) -> Schema {
    let roots = found.parquet_schema().root_schema().get_fields();
    let fields = found.schema().fields().iter().zip(roots);
    let fields = fields.map(|(field, root)| {
        if root.is_primitive() && root.get_basic_info().converted_type() == ConvertedType::ENUM {
            Arc::new(Field::clone(field).with_data_type(DataType::Utf8))
        } else {
            field.clone()
        }
    });
    Schema::new(fields.collect::<Vec<_>>())
}

/// Checks what the pages of a column say that they hold, before memory is taken for it; gives the bytes of
/// the longest dictionary of text.
fn check_pages(bytes: &[u8], group: &RowGroupMetaData, leaf: usize) -> Result<usize> {
    let (chunk, size) = (group.column(leaf), bytes.len() as u64);
    if let Compression::BROTLI(_) | Compression::LZO = chunk.compression() {
        let packed = chunk.compression_codec();
        bail!("is packed by {packed:?}, expected Snappy, gzip, LZ4 or Zstandard");
    }
    let start = chunk
        .dictionary_page_offset()
        .unwrap_or(chunk.data_page_offset());
    let place = |at: i64| usize::try_from(at).unwrap_or(usize::MAX);
    let end = place(start).saturating_add(place(chunk.compressed_size()));
    let pages = bytes.get(place(start)..end);
    let mut pages = Compact(pages.ok_or_else(|| wrong!("ends beyond the end of the file"))?);
    let (mut values, mut unpacked, mut longest) = (0u64, 0u64, 0);
    while !pages.0.is_empty() {
        let (mut page_values, mut words) = (0, 0);
        let (mut page_unpacked, mut packed) = (0, 0);
        let read = pages.structure(|path, number| match path {
            [2] => page_unpacked = number,
            [3] => packed = number,
            [5, 1] | [8, 1] => page_values = number,
            [7, 1] => words = number,
            _ => {}
        });
        let broken = || wrong!("a page whose header is broken");
        read.ok_or_else(broken)?;
        let sizes = [page_values, words, page_unpacked].map(u64::try_from);
        let [Ok(page_values), Ok(words), Ok(page_unpacked)] = sizes else {
            return Err(broken());
        };
        values = values.saturating_add(page_values);
        unpacked = unpacked.saturating_add(page_unpacked);
        check_unpacked(unpacked.max(values.saturating_mul(8)), size)?;
        pages.0 = pages.0.get(place(packed)..).ok_or_else(broken)?;
        ensure!(words <= page_unpacked, "a dictionary that ends too early");
        if words > 0 && chunk.column_type() == Type::BYTE_ARRAY {
            longest = longest.max(page_unpacked as usize);
        }
    }
    Ok(longest)
}
