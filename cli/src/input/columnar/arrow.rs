//! Arrow IPC, a file or a stream: messages, each with a body of buffers.

use std::{collections::HashMap, ops::Range, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::{
    Endianness,
    convert::fb_to_schema,
    reader::{read_dictionary, read_record_batch},
    root_as_footer, root_as_message,
};
use arrow_schema::SchemaRef;

use super::Source;
use crate::{
    error::{Result, ensure, wrong},
    input::limits::{check_numbers, check_unpacked},
};

const MAGIC: &[u8] = b"ARROW1";

/// Where a message and its body are in a file.
struct Message {
    metadata: Range<usize>,
    body: Range<usize>,
}

pub fn open(bytes: Vec<u8>) -> Result<Source> {
    let found = if bytes.starts_with(MAGIC) {
        of_file(&bytes)
    } else {
        of_stream(&bytes)
    };
    let (schema, messages) = found.map_err(|reason| wrong!("not Arrow IPC: {reason}"))?;
    let file_schema = schema.clone();
    Ok(Source {
        schema,
        size: bytes.len() as u64,
        open: Box::new(move |columns| {
            let mut reader = Reader {
                bytes: Buffer::from_vec(bytes),
                schema: file_schema,
                columns: columns.to_vec(),
                dictionaries: HashMap::new(),
                unpacked: 0,
            };
            let batches = messages
                .into_iter()
                .map(move |message| reader.read(&message));
            Ok(Box::new(batches.filter_map(Result::transpose)))
        }),
    })
}

/// The schema and the messages of a file, which its footer knows.
fn of_file(bytes: &[u8]) -> Result<(SchemaRef, Vec<Message>)> {
    let footer = footer(bytes).ok_or_else(|| wrong!("no footer"))?;
    let (messages, footer) = (&bytes[..footer.start], &bytes[footer]);
    let footer = root_as_footer(footer).map_err(|e| wrong!("{e}"))?;
    let schema = schema(footer.schema().ok_or_else(|| wrong!("no schema"))?)?;
    let blocks = [footer.dictionaries(), footer.recordBatches()];
    let blocks = blocks.into_iter().flatten().flatten().map(|block| {
        let size = |number: i64| usize::try_from(number);
        let mut at = size(block.offset())?;
        let body = at.checked_add(size(block.metaDataLength().into())?);
        let metadata =
            next_metadata(messages, &mut at)?.ok_or_else(|| wrong!("ends within a message"))?;
        message(
            messages,
            metadata,
            body.ok_or_else(|| wrong!("a message beyond the end"))?,
        )
    });
    Ok((schema, blocks.collect::<Result<_>>()?))
}

/// The schema and the messages of a stream, one after the other.
fn of_stream(bytes: &[u8]) -> Result<(SchemaRef, Vec<Message>)> {
    let mut at = 0;
    let first = next_metadata(bytes, &mut at)?.ok_or_else(|| wrong!("no schema"))?;
    let first = root_as_message(&bytes[first]).map_err(|e| wrong!("{e}"))?;
    let schema = schema(
        first
            .header_as_schema()
            .ok_or_else(|| wrong!("no schema at its beginning"))?,
    )?;
    let mut messages = Vec::new();
    while let Some(metadata) = next_metadata(bytes, &mut at)? {
        let message = message(bytes, metadata, at)?;
        at = message.body.end;
        messages.push(message);
    }
    Ok((schema, messages))
}

fn schema(schema: arrow_ipc::Schema) -> Result<SchemaRef> {
    ensure!(
        schema.endianness() == Endianness::Little,
        "big-endian numbers, expected little-endian ones"
    );
    Ok(Arc::new(fb_to_schema(schema)))
}

/// Where the footer of a file is, whose size stands before the last magic bytes.
fn footer(bytes: &[u8]) -> Option<Range<usize>> {
    let (before, size) = bytes.strip_suffix(MAGIC)?.split_last_chunk()?;
    let size = u32::from_le_bytes(*size) as usize;
    Some(before.len().checked_sub(size)?..before.len())
}

/// Where the metadata of the next message is; none at the end.
fn next_metadata(bytes: &[u8], at: &mut usize) -> Result<Option<Range<usize>>> {
    let mut length = || {
        let word = bytes.get(*at..)?.first_chunk()?;
        *at += 4;
        Some(u32::from_le_bytes(*word))
    };
    let length = match length() {
        Some(u32::MAX) => length(),
        older => older,
    };
    let Some(length) = length.filter(|&length| length > 0) else {
        return Ok(None);
    };
    let metadata = *at..at.saturating_add(length as usize);
    ensure!(metadata.end <= bytes.len(), "ends within a message");
    *at = metadata.end;
    Ok(Some(metadata))
}

/// A message whose body begins at a place.
fn message(bytes: &[u8], metadata: Range<usize>, start: usize) -> Result<Message> {
    let message = root_as_message(&bytes[metadata.clone()]).map_err(|e| wrong!("{e}"))?;
    let length = usize::try_from(message.bodyLength())?;
    let end = start.checked_add(length).filter(|&end| end <= bytes.len());
    let end = end.ok_or_else(|| wrong!("ends within the body of a message"))?;
    Ok(Message {
        metadata,
        body: start..end,
    })
}

/// What messages are read with.
struct Reader {
    bytes: Buffer,
    schema: SchemaRef,
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// Bytes of all buffers so far, unpacked.
    unpacked: u64,
}

impl Reader {
    /// Reads a batch, or takes note of a dictionary.
    fn read(&mut self, message: &Message) -> Result<Option<RecordBatch>> {
        let broken = |e: arrow_schema::ArrowError| wrong!("Arrow IPC that is broken: {e}");
        let bytes = self.bytes.clone();
        let body = bytes.slice_with_length(message.body.start, message.body.len());
        let metadata = &bytes[message.metadata.clone()];
        let message = root_as_message(metadata).map_err(|e| wrong!("{e}"))?;
        let version = message.version();
        if let Some(dictionary) = message.header_as_dictionary_batch() {
            self.check(
                dictionary
                    .data()
                    .ok_or_else(|| wrong!("a dictionary that is broken"))?,
                &body,
            )?;
            let known = &mut self.dictionaries;
            read_dictionary(&body, dictionary, &self.schema, known, &version).map_err(broken)?;
            return Ok(None);
        }
        let batch = message.header_as_record_batch();
        let batch = batch.ok_or_else(|| wrong!("a message that is no batch and no dictionary"))?;
        self.check(batch, &body)?;
        let (schema, columns) = (self.schema.clone(), Some(&self.columns[..]));
        let batch = read_record_batch(&body, batch, schema, &self.dictionaries, columns, &version);
        batch.map(Some).map_err(broken)
    }

    /// Checks what the buffers of a batch unpack to by what they say, before memory is taken for it.
    fn check(&mut self, batch: arrow_ipc::RecordBatch, body: &[u8]) -> Result<()> {
        let rows = u64::try_from(batch.length())?;
        check_numbers(rows, 1)?;
        for buffer in batch.buffers().into_iter().flatten() {
            let start = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
            let length = usize::try_from(buffer.length()).unwrap_or(usize::MAX);
            let end = start.checked_add(length);
            let packed = end.and_then(|end| body.get(start..end));
            let packed = packed.ok_or_else(|| wrong!("a buffer beyond the end of its message"))?;
            let unpacked = match (batch.compression(), packed.first_chunk()) {
                (Some(_), Some(said)) => i64::from_le_bytes(*said).max(length as i64),
                _ => length as i64,
            };
            self.unpacked = self.unpacked.saturating_add(unpacked as u64);
        }
        check_unpacked(self.unpacked, self.bytes.len() as u64)
    }
}
