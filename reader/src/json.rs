//! JSON Lines: an object on each line, whose fields are columns. A field within another is named by a path:
//! `doc.label`, `choices.0`, `resps.*.0`.

use std::{fmt, io::Read};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{
    Cells, ColumnInfo, ColumnKind, Plan, Rows, clipped, counted,
    lines::Lines,
    text::{is_text, read_rows},
};
use crate::error::{Result, ensure, wrong};

/// Values of a field with names: one, or those of a list or of an object.
type Values<'a> = Vec<(String, &'a Value)>;

/// Reads a value, and keeps a key that stands twice in an object, of which a [`Value`] has the last alone.
struct ValueReader<'a> {
    twice: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for ValueReader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueReader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        let twice = self.twice;
        while let Some(value) = list.next_element_seed(ValueReader { twice })? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        let twice = self.twice;
        while let Some(key) = object.next_key::<String>()? {
            let value = object.next_value_seed(ValueReader { twice })?;
            if members.insert(key.clone(), value).is_some() {
                *twice = Some(key);
            }
        }
        Ok(members.into())
    }
}

/// Reads the next object, that of a row; none at the end.
fn next_object(lines: &mut Lines, row: usize) -> Result<Option<Value>> {
    while lines.advance()? {
        if lines.text.trim_ascii().is_empty() {
            continue;
        }
        let line = lines.number;
        let mut json = serde_json::Deserializer::from_slice(&lines.text);
        let mut twice = None;
        let reader = ValueReader { twice: &mut twice };
        let read = reader.deserialize(&mut json);
        let value = read.and_then(|value| json.end().map(|()| value));
        let value = value.map_err(|error| {
            wrong!("line {line} is not JSON ({error}), expected an object on each line")
        })?;
        if let Some(key) = twice {
            let wrong = wrong!(
                "the key \"{}\" stands twice, expected it once",
                clipped(&key)
            );
            return Err(wrong.at_row(row).in_line(line));
        }
        ensure!(
            value.is_object(),
            "line {line}: expected an object on each line"
        );
        return Ok(Some(value));
    }
    Ok(None)
}

/// A path in an object, and the number of its columns.
struct Path {
    path: String,
    count: usize,
    /// What the names of its columns begin with besides.
    stem: String,
}

/// JSON Lines whose first object is known. Its fields with a single value are columns; other paths become columns when they
/// are asked for.
pub struct JsonLines {
    lines: Lines,
    first: Value,
    paths: Vec<Path>,
    columns: Vec<ColumnInfo>,
}

impl JsonLines {
    pub fn open(reader: Box<dyn Read>) -> Result<Self> {
        let mut lines = Lines::new(reader);
        let first = next_object(&mut lines, 0)?.ok_or_else(|| wrong!("holds no rows"))?;
        let mut file = Self {
            lines,
            first: Value::Null,
            paths: Vec::new(),
            columns: Vec::new(),
        };
        let members = first.as_object().into_iter().flatten();
        for (key, value) in members.filter(|(_, value)| !value.is_array() && !value.is_object()) {
            file.add(key, "", vec![(key.clone(), value)]);
        }
        file.first = first;
        Ok(file)
    }

    pub fn columns(&self) -> Vec<ColumnInfo> {
        self.columns.clone()
    }

    /// The names of all fields, between commas.
    pub fn fields(&self) -> String {
        let members = self.first.as_object().into_iter().flatten();
        let keys: Vec<&str> = members.map(|(key, _)| &**key).collect();
        clipped(&keys.join(", "))
    }

    /// Adds the columns of a path, whose names begin with a stem; returns the place of the first.
    fn add(&mut self, path: &str, stem: &str, values: Values) -> usize {
        let start = self.columns.len();
        self.paths.push(Path {
            path: path.to_owned(),
            count: values.len(),
            stem: stem.to_owned(),
        });
        let column = |(name, value): (String, &Value)| ColumnInfo {
            name: format!("{stem}{name}"),
            kind: match value {
                Value::String(text) if is_text(text) => ColumnKind::Text,
                _ => ColumnKind::Numbers,
            },
        };
        self.columns.extend(values.into_iter().map(column));
        start
    }

    /// The columns of paths between commas. The names of those that are models begin with their paths.
    pub fn select(&mut self, spec: &str, are_models: bool) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        for path in spec.split(',').map(str::trim) {
            let mut start = 0;
            let is_path = |known: &&Path| {
                start += known.count;
                known.path == path
            };
            if let Some(count) = self.paths.iter().find(is_path).map(|known| known.count) {
                found.extend(start - count..start);
                continue;
            }
            let first = std::mem::take(&mut self.first);
            let values = at(&first, path);
            let count = values.len();
            let is_named = |(name, _): &(String, &Value)| name.starts_with(path);
            let stem = if are_models && !values.iter().all(is_named) {
                format!("{path}.")
            } else {
                String::new()
            };
            let start = self.add(path, &stem, values);
            self.first = first;
            ensure!(
                count > 0,
                "no field \"{}\", expected one of {}, or within one of these",
                clipped(path),
                self.fields()
            );
            found.extend(start..start + count);
        }
        Ok(found)
    }

    /// Reads the rows.
    pub fn read(self, plan: &Plan) -> Result<Rows> {
        let Self {
            mut lines,
            first,
            paths,
            columns: infos,
        } = self;
        let mut is_wanted = vec![false; infos.len()];
        let wanted = plan.numbers.iter().chain(&plan.texts);
        wanted.for_each(|&column| is_wanted[column] = true);
        let mut value = Some(first);
        let mut row = 0;
        read_rows(plan, &infos, |record| {
            let object = match value.take() {
                None => {
                    row += 1;
                    next_object(&mut lines, row)?
                }
                first => first,
            };
            let Some(object) = object else {
                return Ok(false);
            };
            record.line = lines.number;
            record.cells.clear();
            let mut start = 0;
            for path in &paths {
                let columns = start..start + path.count;
                start = columns.end;
                let filled = if columns.clone().any(|column| is_wanted[column]) {
                    path.fill(&object, &infos[columns.clone()], &mut record.cells)
                } else {
                    columns.for_each(|_| record.cells.push_field(""));
                    Ok(())
                };
                filled.map_err(|reason| wrong!("line {}: {reason}", record.line))?;
            }
            Ok(true)
        })
    }
}

impl Path {
    /// Adds the text of each column of an object. A field that is null or not there is missing.
    fn fill(&self, object: &Value, columns: &[ColumnInfo], cells: &mut Cells) -> Result<()> {
        let values = at(object, &self.path);
        let is_missing = match &values[..] {
            [] => true,
            [(_, value)] => value.is_null(),
            _ => false,
        };
        if is_missing {
            columns.iter().for_each(|_| cells.push_field(""));
            return Ok(());
        }
        let found = values.iter().map(|(name, _)| Some(&**name));
        let expected = columns
            .iter()
            .map(|column| column.name.strip_prefix(&*self.stem));
        ensure!(
            found.eq(expected),
            "the field {} has {}, expected {} as on the first line, and of the same names",
            self.path,
            counted(values.len(), "value"),
            self.count
        );
        for (_, value) in values {
            match value {
                Value::String(text) => cells.push_field(text.trim()),
                value => cells.push_field(&value.to_string()),
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
