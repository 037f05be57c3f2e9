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

use crate::{
    error::{Result, ensure, wrong},
    input::{
        Options, Table,
        limits::{check_numbers, check_unpacked},
    },
};

const MAGIC: &[u8] = b"ARROW1";

/// Where a message and its body are in a file.
struct MessageBounds {
    metadata: Range<usize>,
    body: Range<usize>,
}

pub fn read(bytes: Vec<u8>, options: &Options) -> Result<Table> {
    let found = messages(&bytes);
    let (schema, messages) = found.map_err(|reason| wrong!("not Arrow IPC: {reason}"))?;
    super::read_batches(&schema, bytes.len(), options, |columns| {
        let mut reader = Reader {
            bytes: Buffer::from_vec(bytes),
            schema: schema.clone(),
            columns: columns.to_vec(),
            dictionaries: HashMap::new(),
            unpacked: 0,
        };
        let batches = messages
            .into_iter()
            .map(move |message| reader.read(&message));
        Ok(batches.filter_map(Result::transpose))
    })
}

/// The schema and the messages, whose places are in the footer of a file; in a stream one is after the other.
fn messages(bytes: &[u8]) -> Result<(SchemaRef, Vec<MessageBounds>)> {
    let mut messages = Vec::new();
    if !bytes.starts_with(MAGIC) {
        let mut at = 0;
        let first = message(bytes, &mut at)?.ok_or_else(|| wrong!("no schema"))?;
        let first = root_as_message(&bytes[first.metadata]).map_err(|e| wrong!("{e}"))?;
        while let Some(message) = message(bytes, &mut at)? {
            messages.push(message);
        }
        return Ok((schema(first.header_as_schema())?, messages));
    }
    let footer = super::footer(bytes, MAGIC);
    let (bytes, footer) = footer.ok_or_else(|| wrong!("no footer"))?;
    let footer = root_as_footer(footer).map_err(|e| wrong!("{e}"))?;
    let blocks = [footer.dictionaries(), footer.recordBatches()];
    for block in blocks.into_iter().flatten().flatten() {
        let found = message(bytes, &mut usize::try_from(block.offset())?)?;
        messages.push(found.ok_or_else(|| wrong!("ends within a message"))?);
    }
    Ok((schema(footer.schema())?, messages))
}

fn schema(schema: Option<arrow_ipc::Schema>) -> Result<SchemaRef> {
    let schema = schema.ok_or_else(|| wrong!("no schema at its place"))?;
    ensure!(
        schema.endianness() == Endianness::Little,
        "big-endian numbers, expected little-endian ones"
    );
    Ok(Arc::new(fb_to_schema(schema)))
}

/// The message that begins at a place, which is after it then; none at the end.
fn message(bytes: &[u8], at: &mut usize) -> Result<Option<MessageBounds>> {
    let Some(metadata) = next_metadata(bytes, at)? else {
        return Ok(None);
    };
    let message = root_as_message(&bytes[metadata.clone()]).map_err(|e| wrong!("{e}"))?;
    let body = *at..at.saturating_add(usize::try_from(message.bodyLength())?);
    ensure!(body.end <= bytes.len(), "ends within the body of a message");
    *at = body.end;
    Ok(Some(MessageBounds { metadata, body }))
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
    fn read(&mut self, message: &MessageBounds) -> Result<Option<RecordBatch>> {
        let broken = |e: arrow_schema::ArrowError| wrong!("Arrow IPC that is broken: {e}");
        let bytes = self.bytes.clone();
        let body = bytes.slice_with_length(message.body.start, message.body.len());
        let message =
            root_as_message(&bytes[message.metadata.clone()]).map_err(|e| wrong!("{e}"))?;
        let version = message.version();
        if let Some(dictionary) = message.header_as_dictionary_batch() {
            let data = dictionary.data();
            self.check(
                data.ok_or_else(|| wrong!("a dictionary that is broken"))?,
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
        check_numbers(u64::try_from(batch.length())?, 1)?;
        for buffer in batch.buffers().into_iter().flatten() {
            let [start, length] = [buffer.offset(), buffer.length()]
                .map(|place| usize::try_from(place).unwrap_or(usize::MAX));
            let packed = body.get(start..start.saturating_add(length));
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
