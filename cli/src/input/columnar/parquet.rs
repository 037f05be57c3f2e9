//! Parquet, by the reader of record batches.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    basic::{Compression, ConvertedType, Type},
    column::page::PageReader,
    file::{metadata::RowGroupMetaData, serialized_reader::SerializedPageReader},
};

use super::{Batches, Source, footer};
use crate::error::{Result, bail, wrong};
use crate::input::limits::{check_numbers, check_unpacked};

/// Rows that are read at a time.
const AT_ONCE: usize = 1 << 13;
/// Bytes of text that are in memory at a time.
const MOST_TEXT: usize = 64 << 20;

pub fn open(bytes: Vec<u8>) -> Result<Source> {
    footer::check(&bytes)?;
    let bytes = Bytes::from(bytes);
    let not = |e: parquet::errors::ParquetError| wrong!("not Parquet: {e}");
    let mut metadata = ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()).map_err(not)?;
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
    Ok(Source {
        schema: metadata.schema().clone(),
        size: bytes.len() as u64,
        open: Box::new(move |columns| batches(bytes, metadata, columns)),
    })
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

fn batches(bytes: Bytes, metadata: ArrowReaderMetadata, columns: &[usize]) -> Result<Batches> {
    let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
    let bytes = Arc::new(bytes);
    let mut longest = 1;
    for group in metadata.metadata().row_groups() {
        for leaf in 0..group.num_columns() {
            if mask.leaf_included(leaf) {
                let text = check_pages(&bytes, group, leaf);
                let title = || group.column(leaf).column_path().string();
                longest = longest.max(text.map_err(|e| wrong!("column {}: {e}", title()))?);
            }
        }
    }
    let builder =
        ParquetRecordBatchReaderBuilder::new_with_metadata(Bytes::clone(&bytes), metadata);
    let batches = builder
        .with_projection(mask)
        .with_batch_size((MOST_TEXT / longest).clamp(16, AT_ONCE))
        .build();
    let batches = batches.map_err(|e| wrong!("Parquet that is broken: {e}"))?;
    Ok(Box::new(batches.map(|batch| {
        batch.map_err(|e| wrong!("Parquet that is broken: {e}"))
    })))
}

/// Checks what the pages of a column say that they hold, before memory is taken for it; gives the bytes of
/// the longest dictionary of text.
fn check_pages(bytes: &Arc<Bytes>, group: &RowGroupMetaData, leaf: usize) -> Result<usize> {
    let (chunk, size) = (group.column(leaf), bytes.len() as u64);
    if let Compression::BROTLI(_) | Compression::LZO = chunk.compression() {
        let packed = chunk.compression_codec();
        bail!("is packed by {packed:?}, expected Snappy, gzip, LZ4 or Zstandard");
    }
    let start = chunk
        .dictionary_page_offset()
        .unwrap_or(chunk.data_page_offset());
    let sizes = [start, chunk.compressed_size(), chunk.uncompressed_size()];
    let [start, length, unpacked] = sizes.map(|size| u64::try_from(size).unwrap_or(u64::MAX));
    if start.saturating_add(length) > size {
        bail!("ends beyond the end of the file");
    }
    check_unpacked(unpacked, size)?;
    let rows = usize::try_from(group.num_rows()).unwrap_or(usize::MAX);
    let pages = SerializedPageReader::new(bytes.clone(), chunk, rows, None);
    let mut pages = pages?;
    let (mut values, mut longest) = (0u64, 0);
    while let Some(page) = pages.peek_next_page()? {
        if !page.is_dict {
            values = values.saturating_add(page.num_levels.unwrap_or_default() as u64);
            check_unpacked(values.saturating_mul(8), size)?;
            pages.skip_next_page()?;
        } else if let Some(page) = pages.get_next_page()? {
            let length = page.buffer().len();
            if page.num_values() as usize > length {
                bail!("a dictionary that ends too early");
            }
            if chunk.column_type() == Type::BYTE_ARRAY {
                longest = longest.max(length);
            }
        }
    }
    Ok(longest)
}
