//! JSON Lines: an object on each line, whose fields are columns. A field within another is named by a path:
//! `doc.label`, `choices.0`, `resps.*.0`.

use std::io::{BufRead, BufReader, Read};

use serde_json::Value;

use super::{
    Options, Table, WhichLabel,
    cells::Cells,
    clipped,
    columns::{CONFIDENCE, CORRECT, Columns, IDS},
    limits::LONGEST_ROW,
    records::Record,
    select::by_name,
    table::read_named,
};
use crate::error::{Result, bail, ensure, wrong};

/// Values of a field with names: one, or those of a list or of an object.
type Values<'a> = Vec<(String, &'a Value)>;

/// Reads the fields that are asked for.
pub fn read(reader: impl Read, options: &Options) -> Result<Table> {
    ensure!(
        options.models.is_empty(),
        "JSON Lines, expected a table with a header for --models"
    );
    let mut lines = JsonObjects {
        reader: BufReader::new(reader),
        line: 0,
    };
    let first = lines.next()?.ok_or_else(|| wrong!("holds no rows"))?;
    let fields = Fields::of(&first, options)?;
    // labels are known by their fields
    let known = Options {
        columns: None,
        label: WhichLabel::None,
        index: None,
        ..*options
    };
    let mut columns = Columns::new(fields.names.clone(), fields.names.len(), &known)?;
    if !columns.is_confidence {
        columns
            .numbers
            .retain(|column| !fields.labels.contains(column));
        // weights are the last of the labels
        columns.labels.splice(0..0, fields.labels.iter().copied());
    }
    let mut value = Some(first);
    let next = |record: &mut Record| {
        let object = match value.take() {
            None => lines.next()?,
            first => first,
        };
        let Some(object) = object else {
            return Ok(false);
        };
        record.line = lines.line;
        record.cells.clear();
        let filled = fields.fill(&object, &mut record.cells);
        filled.map_err(|reason| wrong!("line {}: {reason}", lines.line))?;
        Ok(true)
    };
    read_named(columns, options, next)
}

/// The objects of a file.
struct JsonObjects<R> {
    reader: BufReader<R>,
    line: u64,
}

impl<R: Read> JsonObjects<R> {
    fn next(&mut self) -> Result<Option<Value>> {
        loop {
            let mut text = Vec::new();
            let mut reader = self.reader.by_ref().take(LONGEST_ROW as u64 + 1);
            let read = reader.read_until(b'\n', &mut text)?;
            self.line += 1;
            let (line, most) = (self.line, LONGEST_ROW >> 20);
            ensure!(read <= LONGEST_ROW, "line {line} is longer than {most} MiB");
            if read == 0 {
                return Ok(None);
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            // a mark of the order of bytes
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
            let value = serde_json::from_slice(text);
            let value: Value = value.map_err(|error| {
                wrong!("line {line} is not JSON ({error}), expected an object on each line")
            })?;
            ensure!(
                value.is_object(),
                "line {line}: expected an object on each line"
            );
            return Ok(Some(value));
        }
    }
}

/// The fields that are read, and the columns that they become.
struct Fields {
    /// Each with the number of its columns.
    paths: Vec<(String, usize)>,
    names: Vec<String>,
    labels: Vec<usize>,
}

impl Fields {
    /// Finds the fields in the first object.
    fn of(first: &Value, options: &Options) -> Result<Self> {
        let keys: Vec<String> = (first.as_object().into_iter().flatten())
            .map(|(key, _)| key.clone())
            .collect();
        let words = |spec: &str| spec.split(',').map(|word| word.trim().to_owned()).collect();
        let (labels, is_needed): (Vec<String>, bool) = match options.label {
            WhichLabel::None => (Vec::new(), false),
            WhichLabel::All => (keys.clone(), true),
            WhichLabel::Named(spec) | WhichLabel::Only(spec) => (words(spec), true),
            WhichLabel::IfThere(spec) => (words(spec), false),
        };
        let is_only = matches!(options.label, WhichLabel::All | WhichLabel::Only(_));
        let confidence = [&CONFIDENCE, &CORRECT].map(|any| by_name(&keys, any));
        let mut is_confidence = false;
        let numbers: Vec<String> = match (options.columns, confidence) {
            (Some(spec), _) => words(spec),
            _ if is_only => Vec::new(),
            (None, [Some(confidence), Some(correct)]) if options.confidence != Some(false) => {
                is_confidence = true;
                vec![keys[confidence].clone(), keys[correct].clone()]
            }
            _ => bail!(
                "JSON Lines with the fields {}, expected --columns to name those of the predictions: a field \
                 within another is outer.inner, of a list list.0, or list.*.0 of all its elements",
                clipped(&keys.join(", "))
            ),
        };
        let is_id = |key: &&String| IDS.contains(&&*key.to_lowercase());
        let is_confidence = is_confidence || options.confidence == Some(true);
        let id = keys.iter().find(is_id).filter(|_| !is_confidence);
        let mut fields = Self {
            paths: Vec::new(),
            names: Vec::new(),
            labels: Vec::new(),
        };
        let is_other = |id: &&String| !numbers.contains(id) && !labels.contains(id);
        for path in id.filter(is_other).into_iter().chain(&numbers) {
            fields.add(first, path, &keys)?;
        }
        let before = fields.names.len();
        for path in &labels {
            if is_needed || !at(first, path).is_empty() {
                fields.add(first, path, &keys)?;
            }
        }
        let is_taken = |column: &usize| {
            !(matches!(options.label, WhichLabel::All)
                && IDS.contains(&&*fields.names[*column].to_lowercase()))
        };
        fields.labels = (before..fields.names.len()).filter(is_taken).collect();
        if let Some((path, is_needed)) = options.weights
            && (is_needed || !at(first, path).is_empty())
        {
            fields.add(first, path, &keys)?;
        }
        Ok(fields)
    }

    fn add(&mut self, first: &Value, path: &str, keys: &[String]) -> Result<()> {
        let values = at(first, path);
        ensure!(
            !values.is_empty(),
            "no field \"{}\", expected one of {}, or within one of these",
            clipped(path),
            clipped(&keys.join(", "))
        );
        self.paths.push((path.to_owned(), values.len()));
        self.names.extend(values.into_iter().map(|(name, _)| name));
        Ok(())
    }

    /// Adds the text of each column of an object. A field that is null or not there is missing.
    fn fill(&self, object: &Value, cells: &mut Cells) -> Result<()> {
        let mut start = 0;
        for (path, count) in &self.paths {
            let names = &self.names[start..][..*count];
            start += count;
            let values = at(object, path);
            let is_missing = match &values[..] {
                [] => true,
                [(_, value)] => value.is_null(),
                _ => false,
            };
            if is_missing {
                names.iter().for_each(|_| cells.push_field(""));
                continue;
            }
            let found: Vec<&String> = values.iter().map(|(name, _)| name).collect();
            ensure!(
                found.iter().copied().eq(names),
                "the field {path} has {} values, expected {count} as on the first line, and of the same names",
                values.len()
            );
            for (_, value) in values {
                match value {
                    Value::String(text) => cells.push_field(text.trim()),
                    value => cells.push_field(&value.to_string()),
                }
            }
        }
        Ok(())
    }
}

/// The values at a path; none where there is none.
fn at<'a>(value: &'a Value, path: &str) -> Values<'a> {
    let mut found = Vec::new();
    follow(value, path, path, &mut found);
    found
}

/// Follows the rest of a path, of which the part that named a value last is the name of what is found.
fn follow<'a>(value: &'a Value, rest: &str, name: &str, found: &mut Values<'a>) {
    if let Some(inner) = value.get(rest) {
        return leaves(inner, name, name, found);
    }
    let (head, rest) = match rest.split_once('.') {
        Some((head, rest)) => (head, Some(rest)),
        None => (rest, None),
    };
    let mut step = |inner: &'a Value, name: &str| match rest {
        Some(rest) => follow(inner, rest, name, found),
        None => leaves(inner, name, name, found),
    };
    match value {
        Value::Array(list) if head == "*" => {
            let stem = name.split(".*").next().unwrap_or(name);
            for (at, inner) in list.iter().enumerate() {
                step(inner, &format!("{stem}.{at}"));
            }
        }
        Value::Array(list) => {
            let inner = head.parse().ok().and_then(|at: usize| list.get(at));
            inner.into_iter().for_each(|inner| step(inner, name));
        }
        value => value
            .get(head)
            .into_iter()
            .for_each(|inner| step(inner, name)),
    }
}

/// The scalars of a value: of a list by their numbers, of an object by their keys.
fn leaves<'a>(value: &'a Value, name: &str, path: &str, found: &mut Values<'a>) {
    match value {
        Value::Array(list) => {
            for (at, inner) in list.iter().enumerate() {
                let path = format!("{path}.{at}");
                leaves(inner, &path, &path, found);
            }
        }
        Value::Object(members) => {
            for (key, inner) in members {
                leaves(inner, key, &format!("{path}.{key}"), found);
            }
        }
        scalar => found.push((name.to_owned(), scalar)),
    }
}
