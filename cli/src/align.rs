//! Files of one run side by side: columns by their names, rows by their ids.

use std::{collections::HashMap, path::Path};

use crate::error::{Result, bail, wrong};
use crate::input::{PANDAS, TextColumn, clipped, say};

/// Names of columns, and whose they are.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    pub names: &'a [String],
    /// A file or an option.
    pub of: &'a str,
}

/// The columns of a file in the order of the expected names; none where they are in that order, or where one
/// of the two has no names. An error where the names differ.
pub fn columns(expected: Names, found: &[String]) -> Result<Option<Vec<usize>>> {
    let names = expected.names;
    if found.is_empty() || names.is_empty() || names == found || found.len() != names.len() {
        return Ok(None);
    }
    if let Some(order) = places_of(names, found) {
        return Ok(Some(order));
    }
    // names that count say no more than their numbers do
    if let (Some(own), Some(other)) = (numbered(names), numbered(found))
        && own.first == other.first
        && own.prefix != other.prefix
    {
        return Ok((!other.is_sorted()).then_some(other.order));
    }
    let joined = |names: &[String]| clipped(&names.join(", "));
    Err(wrong!(
        "the columns are named {}, expected {} as of {}",
        joined(found),
        joined(names),
        expected.of
    ))
}

/// The same, where the names of each side may have a text before and after what tells them apart: `y_cat` and
/// `y_dog` are the columns of `p_cat` and `p_dog`.
pub fn columns_by_stem(expected: Names, found: &[String]) -> Result<Option<Vec<usize>>> {
    columns(expected, found).or_else(|error| {
        let order = places_of(&stems(expected.names), &stems(found));
        order.map(Some).ok_or(error)
    })
}

/// Names without the text that all begin with, and without that with which all end.
pub fn stems(names: &[String]) -> Vec<String> {
    let backwards = |name: &String| name.chars().rev().collect::<String>();
    let ends: Vec<String> = without_start(names).iter().map(backwards).collect();
    without_start(&ends).iter().map(backwards).collect()
}

/// Names without the text that all begin with.
fn without_start(names: &[String]) -> Vec<String> {
    let Some((first, others)) = names.split_first() else {
        return Vec::new();
    };
    let is_shared =
        |(k, c): &(usize, char)| others.iter().all(|name| name.chars().nth(*k) == Some(*c));
    let shared = first.chars().enumerate().take_while(is_shared).count();
    let rest = |name: &String| name.chars().skip(shared).collect();
    names.iter().map(rest).collect()
}

/// The columns of some names; none where one has no column.
pub fn places_of(names: &[String], columns: &[String]) -> Option<Vec<usize>> {
    let place = |name| columns.iter().position(|other| other == name);
    names.iter().map(place).collect()
}

/// Checks that no two columns have one name.
pub fn check_distinct(names: &[String]) -> Result<()> {
    let mut seen = HashMap::new();
    for (column, name) in names
        .iter()
        .enumerate()
        .filter(|(_, name)| !name.is_empty())
    {
        if let Some(first) = seen.insert(name, column) {
            bail!(
                "columns {first} and {column} are both named {}, expected a different name for each; \
                 --by-position takes columns in their order",
                clipped(name)
            );
        }
    }
    Ok(())
}

/// Names that count, such as p0, p1, p2: the same text before whole numbers from 0 or 1 on.
pub struct Numbered<'a> {
    pub prefix: &'a str,
    /// The least number.
    pub first: usize,
    /// The columns in the order of their numbers.
    pub order: Vec<usize>,
}

impl Numbered<'_> {
    pub fn is_sorted(&self) -> bool {
        self.order.is_sorted()
    }
}

/// What names count, if they do, in whatever order.
pub fn numbered(names: &[String]) -> Option<Numbered<'_>> {
    let split = |name: &String| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let length = split(names.first()?);
    let prefix = &names[0][..length];
    let number = |name: &String| -> Option<usize> {
        let digits = name
            .strip_prefix(prefix)
            .filter(|_| split(name) == length)?;
        digits.parse().ok()
    };
    let numbers: Vec<usize> = names.iter().map(number).collect::<Option<_>>()?;
    let first = *numbers.iter().min()?;
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&column| numbers[column]);
    let counts = |(place, &column): (usize, &usize)| numbers[column] == first + place;
    let is_whole = first <= 1 && names.len() > 1 && order.iter().enumerate().all(counts);
    is_whole.then_some(Numbered {
        prefix,
        first,
        order,
    })
}

/// Says that columns or classes are taken in the order of names.
pub fn say_by_name(path: &Path, what: &str, names: &[String]) {
    let names = clipped(&names.join(", "));
    say(
        path,
        format_args!("{what} are taken by their names: {names}"),
    );
}

/// Takes elements in an order.
pub fn in_order<T: Clone>(elements: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&place| elements[place].clone()).collect()
}

/// A file, and what names its rows.
pub type File<'a> = (&'a Path, Option<&'a TextColumn>);

/// The rows of each file in the order of the first one with ids; none where they are in that order.
///
/// Files without ids have the order of the others, as all do by position. That is an error where the others
/// differ in it.
pub fn rows(files: &[File]) -> Result<Vec<Option<Vec<usize>>>> {
    let mut orders = vec![None; files.len()];
    let mut all = files.iter().enumerate();
    let first = all.find_map(|(at, (path, ids))| Some((at, *path, (*ids)?)));
    let Some((first, path, ids)) = first else {
        return Ok(orders);
    };
    for (at, &(other, found)) in files.iter().enumerate().skip(first + 1) {
        let Some(found) = found else { continue };
        orders[at] = order((path, ids), (other, found))?;
        if orders[at].is_none() {
            continue;
        }
        if let Some((bare, _)) = files.iter().find(|(_, ids)| ids.is_none()) {
            bail!(
                "{}: has no ids, and the rows of {} and {} are in different orders, expected ids in every \
                 file; --by-position takes rows in their order",
                bare.display(),
                path.display(),
                other.display()
            );
        }
        let path = path.display();
        let note = format_args!("rows are matched to those of {path} by their ids");
        say(other, note);
    }
    Ok(orders)
}

/// Where each id of a file is in another.
fn order(
    (path, ids): (&Path, &TextColumn),
    (other, found): (&Path, &TextColumn),
) -> Result<Option<Vec<usize>>> {
    let are_equal =
        || (ids.cells.iter().zip(found.cells.iter())).all(|(a, b)| plain(a) == plain(b));
    if ids.cells.len() == found.cells.len() && are_equal() {
        return Ok(None);
    }
    let places = [(path, ids), (other, found)].map(|(path, ids)| places(path, ids));
    // a table that was made anew counts its rows, whatever they were before
    if [ids, found].iter().any(|ids| counts_rows(ids)) && are_nameless(ids, found) {
        let is_same = match &places {
            [Ok(own), Ok(others)] => own.keys().all(|id| others.contains_key(id)),
            _ => false,
        };
        if !is_same {
            let index = format!("its index differs from that of {}", path.display());
            say(
                other,
                format_args!("{index}: rows are taken in their order"),
            );
            return Ok(None);
        }
    }
    let [own, others] = places;
    let (own, others) = (own?, others?);
    let place = |ids: &HashMap<&str, usize>, path: &Path, (row, id): (usize, &str), from: &Path| {
        ids.get(plain(id)).copied().ok_or_else(|| {
            wrong!(
                "{}: no row has the id {}, which row {row} of {} has, expected the same ids in \
                 both; --by-position takes rows in their order",
                path.display(),
                clipped(id),
                from.display()
            )
        })
    };
    for cell in found.cells.iter().enumerate() {
        place(&own, path, cell, other)?;
    }
    let cells = ids.cells.iter().enumerate();
    let order: Result<_> = cells
        .map(|cell| place(&others, other, cell, path))
        .collect();
    order.map(Some)
}

/// An id without the decimals that pandas adds to whole numbers.
fn plain(id: &str) -> &str {
    id.strip_suffix(".0").unwrap_or(id)
}

/// The row of each id.
fn places<'a>(path: &Path, ids: &'a TextColumn) -> Result<HashMap<&'a str, usize>> {
    let mut places = HashMap::new();
    for (row, id) in ids.cells.iter().map(plain).enumerate() {
        if let Some(first) = places.insert(id, row) {
            bail!(
                "{}: rows {first} and {row} have the id {}, expected each id once; --by-position takes rows \
                 in their order",
                path.display(),
                clipped(id)
            );
        }
    }
    Ok(places)
}

/// Whether ids are the numbers of the rows, from 0 or 1.
fn counts_rows(ids: &TextColumn) -> bool {
    let first = ids
        .cells
        .iter()
        .next()
        .and_then(|id| plain(id).parse::<usize>().ok());
    let is_counted = |(row, id): (usize, &str)| plain(id).parse().ok() == first.map(|f| f + row);
    first.is_some_and(|first| first <= 1) && ids.cells.iter().enumerate().all(is_counted)
}

/// Whether both are indices rather than ids: their columns have no name, or that of an index.
fn are_nameless(own: &TextColumn, other: &TextColumn) -> bool {
    let is_index = |ids: &TextColumn| {
        let name = ids.name.to_lowercase();
        let known = ["", "unnamed: 0", "index", "idx", "row", PANDAS];
        known.contains(&&*name)
    };
    is_index(own) && is_index(other)
}
