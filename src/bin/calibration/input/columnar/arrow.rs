//! Arrow IPC, a file or a stream: messages, each with a body of buffers.

use std::{collections::HashMap, ops::Range, rc::Rc};

use arrow_ipc::{
    Endianness, Field as Column, Message, Precision, Schema, Type, root_as_footer, root_as_message,
};

use super::{
    Columnar, Field, Kind, Values, Wrong,
    batch::{Batch, Layout, Place, part, variadic},
};
use crate::input::{Result, element::Element};

/// A file that is in memory.
pub struct ArrowFile {
    bytes: Vec<u8>,
    fields: Vec<Field>,
    layouts: Vec<Layout>,
    /// The nodes of each field, see [`add_nodes`].
    nodes: Vec<Vec<(usize, bool)>>,
    parts: Vec<usize>,
    batches: Vec<Batch>,
}

const MAGIC: &[u8] = b"ARROW1";

impl ArrowFile {
    pub fn new(bytes: Vec<u8>) -> Result<Self> {
        let mut file = Self {
            bytes,
            fields: Vec::new(),
            layouts: Vec::new(),
            nodes: Vec::new(),
            parts: Vec::new(),
            batches: Vec::new(),
        };
        file.read_messages()
            .map_err(|reason| format!("not Arrow IPC: {reason}"))?;
        Ok(file)
    }

    /// Reads a file by its footer, and a stream message by message.
    fn read_messages(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        let mut known = Dictionaries::default();
        if bytes.starts_with(MAGIC) {
            let footer = footer(&bytes).ok_or("no footer")?;
            let (messages, footer) = (&bytes[..footer.start], &bytes[footer]);
            let footer = root_as_footer(footer).map_err(|e| e.to_string())?;
            self.read_schema(footer.schema().ok_or("no schema")?, &mut known)?;
            let blocks = [footer.dictionaries(), footer.recordBatches()];
            for block in blocks.into_iter().flatten().flatten() {
                let place = |number: i64| usize::try_from(number).map_err(|e| e.to_string());
                let mut at = place(block.offset())?;
                let metadata = next_metadata(messages, &mut at)?.ok_or("ends within a message")?;
                let message = root_as_message(metadata).map_err(|e| e.to_string())?;
                let body =
                    place(block.offset())?.checked_add(place(block.metaDataLength().into())?);
                let body = body.ok_or("a message beyond the end")?;
                self.read_message(&message, (messages, body), &mut known)?;
            }
        } else {
            let mut at = 0;
            let mut has_schema = false;
            while let Some(metadata) = next_metadata(&bytes, &mut at)? {
                let message = root_as_message(metadata).map_err(|e| e.to_string())?;
                match (message.header_as_schema(), has_schema) {
                    (Some(schema), false) => self.read_schema(schema, &mut known)?,
                    (None, true) => at = self.read_message(&message, (&bytes, at), &mut known)?,
                    _ => {
                        return Err(
                            "messages in another order than a schema and its batches".into()
                        );
                    }
                }
                has_schema = true;
            }
            if !has_schema {
                return Err("no schema".into());
            }
        }
        self.bytes = bytes;
        Ok(())
    }

    fn read_schema(&mut self, schema: Schema, known: &mut Dictionaries) -> Result<()> {
        if schema.endianness() != Endianness::Little {
            return Err("big-endian numbers, expected little-endian ones".into());
        }
        for field in schema.fields().into_iter().flatten() {
            let layout = layout(&field);
            self.fields.push(Field {
                name: field.name().unwrap_or_default().to_owned(),
                kind: kind(&field, &layout),
            });
            if let Layout::Dictionary(id, _) = layout {
                known.layouts.insert(id, plain_layout(&field));
            }
            self.layouts.push(layout);
            let mut nodes = Vec::new();
            add_nodes(&field, &mut nodes)?;
            self.nodes.push(nodes);
        }
        Ok(())
    }

    /// Reads a dictionary or a batch whose body begins at a place, and gives the end of the body.
    fn read_message(
        &mut self,
        message: &Message,
        (bytes, at): (&[u8], usize),
        known: &mut Dictionaries,
    ) -> Result<usize> {
        let length = usize::try_from(message.bodyLength()).map_err(|e| e.to_string())?;
        let body = part(bytes, at, length).ok_or("ends within the body of a message")?;
        let end = body.end;
        if let Some(batch) = message.header_as_record_batch() {
            let mut read = Batch::new(&batch, body)?;
            read.find_places(&self.nodes, &batch)?;
            read.dictionaries.clone_from(&known.values);
            let rows = usize::try_from(batch.length()).map_err(|e| e.to_string())?;
            self.parts.push(rows);
            self.batches.push(read);
            return Ok(end);
        }
        let batch = message
            .header_as_dictionary_batch()
            .ok_or("a message of another kind")?;
        let data = batch.data().ok_or("a dictionary that is broken")?;
        // others are of fields within fields
        if let Some(layout) = known.layouts.get(&batch.id()) {
            let place = Place {
                variadic: variadic(&data).next().unwrap_or(0),
                ..Place::default()
            };
            let values = Batch::new(&data, body)?.values(bytes, layout, place);
            let values = match values.map_err(|Wrong(_, reason)| reason)? {
                Values::Text(text) => text,
                Values::Numbers(numbers, _) => numbers.iter().map(f64::to_string).collect(),
            };
            let known = known.values.entry(batch.id()).or_default();
            match batch.isDelta() {
                true => Rc::make_mut(known).extend(values),
                false => *known = Rc::new(values),
            }
        }
        Ok(end)
    }
}

/// What is known of dictionaries, by their number.
#[derive(Default)]
struct Dictionaries {
    layouts: HashMap<i64, Layout>,
    values: HashMap<i64, Rc<Vec<String>>>,
}

/// Where the footer of a file is, whose size stands before the last magic bytes.
fn footer(bytes: &[u8]) -> Option<Range<usize>> {
    let (before, size) = bytes.strip_suffix(MAGIC)?.split_last_chunk()?;
    let start = before
        .len()
        .checked_sub(u32::from_le_bytes(*size) as usize)?;
    Some(start..before.len())
}

/// The metadata of the next message; none at the end.
fn next_metadata<'a>(bytes: &'a [u8], at: &mut usize) -> Result<Option<&'a [u8]>> {
    let mut length = || {
        let word = bytes.get(*at..)?.first_chunk()?;
        *at += 4;
        Some(u32::from_le_bytes(*word))
    };
    let length = match length() {
        Some(u32::MAX) => length(),
        older => older,
    };
    match length {
        None | Some(0) => Ok(None),
        Some(length) => {
            let found = part(bytes, *at, length as usize).ok_or("ends within a message")?;
            *at = found.end;
            Ok(Some(&bytes[found]))
        }
    }
}

/// The columns of the schema of a message that are times or durations, and what they are.
pub fn times(message: &[u8]) -> Vec<(String, String)> {
    let metadata = next_metadata(message, &mut 0).ok().flatten();
    let message = metadata.and_then(|metadata| root_as_message(metadata).ok());
    let schema = message
        .as_ref()
        .and_then(|message| message.header_as_schema());
    let fields = schema.and_then(|schema| schema.fields());
    let is_time = |field: &Column| {
        [
            Type::Date,
            Type::Time,
            Type::Timestamp,
            Type::Interval,
            Type::Duration,
        ]
        .contains(&field.type_type())
    };
    let named = |field: Column| {
        let name = field.name().unwrap_or_default().to_owned();
        (name, type_name(&field))
    };
    fields
        .into_iter()
        .flatten()
        .filter(is_time)
        .map(named)
        .collect()
}

fn type_name(field: &Column) -> String {
    let name = field.type_type().variant_name().unwrap_or("unknown");
    format!("of the type {}", name.trim_end_matches('_'))
}

fn layout(field: &Column) -> Layout {
    let Some(dictionary) = field.dictionary() else {
        return plain_layout(field);
    };
    // without a type of its own, places are of 32 bits
    let element = dictionary.indexType().map_or(Some(Element::I32), |int| {
        whole(int.bitWidth(), int.is_signed())
    });
    match (element, plain_layout(field)) {
        (None, _) => Layout::Other,
        (_, Layout::Lists(..) | Layout::Fixed(..) | Layout::Decimals(..) | Layout::Other) => {
            Layout::Other
        }
        (Some(element), _) => Layout::Dictionary(dictionary.id(), element),
    }
}

/// The layout of the values, without a dictionary.
fn plain_layout(field: &Column) -> Layout {
    let child = || {
        let children = field.children()?;
        let only = (children.len() == 1).then(|| children.get(0))?;
        match (only.dictionary(), plain_layout(&only)) {
            (None, Layout::Numbers(element)) => Some(element),
            _ => None,
        }
    };
    let numbers = |element: Option<Element>| element.map(Layout::Numbers);
    let found = match field.type_type() {
        Type::Bool => Some(Layout::Bits),
        Type::Int => numbers(
            field
                .type_as_int()
                .and_then(|int| whole(int.bitWidth(), int.is_signed())),
        ),
        Type::FloatingPoint => {
            let float = field.type_as_floating_point();
            numbers(float.and_then(|float| match float.precision() {
                Precision::HALF => Some(Element::F16),
                Precision::SINGLE => Some(Element::F32),
                Precision::DOUBLE => Some(Element::F64),
                _ => None,
            }))
        }
        Type::Decimal => field.type_as_decimal().and_then(|decimal| {
            let bytes = usize::try_from(decimal.bitWidth() / 8).ok()?;
            [4, 8, 16, 32]
                .contains(&bytes)
                .then(|| Layout::Decimals(bytes, decimal.scale()))
        }),
        Type::Utf8 => Some(Layout::Text(4)),
        Type::LargeUtf8 => Some(Layout::Text(8)),
        Type::Utf8View => Some(Layout::Views),
        Type::List => child().map(|element| Layout::Lists(4, element)),
        Type::LargeList => child().map(|element| Layout::Lists(8, element)),
        Type::FixedSizeList => child().and_then(|element| {
            let size = field.type_as_fixed_size_list()?.listSize();
            Some(Layout::Fixed(usize::try_from(size).ok()?, element))
        }),
        _ => None,
    };
    found.unwrap_or(Layout::Other)
}

fn whole(bits: i32, is_signed: bool) -> Option<Element> {
    Some(match (bits, is_signed) {
        (8, true) => Element::I8,
        (8, false) => Element::U8,
        (16, true) => Element::I16,
        (16, false) => Element::U16,
        (32, true) => Element::I32,
        (32, false) => Element::U32,
        (64, true) => Element::I64,
        (64, false) => Element::U64,
        _ => return None,
    })
}

fn kind(field: &Column, layout: &Layout) -> Kind {
    match layout {
        Layout::Numbers(element) => Kind::Numbers(*element),
        Layout::Decimals(_, scale) => Kind::Decimals(*scale),
        Layout::Bits => Kind::Numbers(Element::Bool),
        Layout::Lists(_, element) | Layout::Fixed(_, element) => Kind::Lists(*element),
        Layout::Text(_) | Layout::Views | Layout::Dictionary(..) => Kind::Text,
        Layout::Other => Kind::Other(type_name(field)),
    }
}

/// Adds the nodes of a field and of those within it: their buffers, and whether there are more by views.
fn add_nodes(field: &Column, nodes: &mut Vec<(usize, bool)>) -> Result<()> {
    if field.dictionary().is_some() {
        nodes.push((2, false));
        return Ok(());
    }
    nodes.push(match field.type_type() {
        Type::Null | Type::RunEndEncoded => (0, false),
        Type::Struct_ | Type::FixedSizeList => (1, false),
        Type::Utf8 | Type::LargeUtf8 | Type::Binary | Type::LargeBinary => (3, false),
        Type::ListView | Type::LargeListView => (3, false),
        Type::Utf8View | Type::BinaryView => (2, true),
        Type::Union | Type::NONE => return Err("a union, which is not read".into()),
        _ => (2, false),
    });
    let mut children = field.children().into_iter().flatten();
    children.try_for_each(|child| add_nodes(&child, nodes))
}

impl Columnar for ArrowFile {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn parts(&self) -> &[usize] {
        &self.parts
    }

    fn size(&self) -> usize {
        self.bytes.len()
    }

    fn read(&self, part: usize, column: usize) -> Result<Values, Wrong> {
        let batch = &self.batches[part];
        batch.values(&self.bytes, &self.layouts[column], batch.places[column])
    }
}
