//! Arrow IPC, a file or a stream: messages, each with a body of buffers.

use std::{collections::HashMap, ops::Range, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::{
    Endianness,
    convert::fb_to_schema,
    reader::{read_dictionary, read_record_batch},
    root_as_message,
};
use arrow_schema::SchemaRef;

use super::Source;
use crate::error::{Result, ensure, wrong};
use crate::input::limits::{check_numbers, check_unpacked};

const MAGIC: &[u8] = b"ARROW1";

/// Where a message and its body are in a file.
struct Message {
    metadata: Range<usize>,
    body: Range<usize>,
}

pub fn open(bytes: Vec<u8>) -> Result<Source> {
    let found = messages(&bytes);
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

/// The schema and the messages, one after the other. A file is a stream between its first bytes and a footer.
fn messages(bytes: &[u8]) -> Result<(SchemaRef, Vec<Message>)> {
    let is_file = bytes.starts_with(MAGIC);
    ensure!(!is_file || bytes.ends_with(MAGIC), "no footer");
    let mut at = 0;
    if is_file {
        at += MAGIC.len() + 2;
        // some align the first message to 64 bytes
        at += bytes[at..].iter().take_while(|byte| **byte == 0).count() / 8 * 8;
    }
    let first = next_metadata(bytes, &mut at)?.ok_or_else(|| wrong!("no schema"))?;
    let first = root_as_message(&bytes[first]).map_err(|e| wrong!("{e}"))?;
    let schema = first.header_as_schema();
    let schema = schema.ok_or_else(|| wrong!("no schema at its beginning"))?;
    ensure!(
        schema.endianness() == Endianness::Little,
        "big-endian numbers, expected little-endian ones"
    );
    let mut messages = Vec::new();
    while let Some(metadata) = next_metadata(bytes, &mut at)? {
        let message = root_as_message(&bytes[metadata.clone()]).map_err(|e| wrong!("{e}"))?;
        let end = at.checked_add(usize::try_from(message.bodyLength())?);
        let end = end.filter(|&end| end <= bytes.len());
        let end = end.ok_or_else(|| wrong!("ends within the body of a message"))?;
        let body = at..end;
        at = end;
        messages.push(Message { metadata, body });
    }
    Ok((Arc::new(fb_to_schema(schema)), messages))
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
