//! The columns of files side by side: by their names, or all by their order.

use std::{collections::HashMap, path::Path};

use crate::error::{Result, bail, wrong};
use crate::{Notes, clipped};

/// Names of columns, and whose they are.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// The names in the order of the columns.
    pub names: &'a [String],
    /// A file or an option.
    pub of: &'a str,
}

/// The option that names classes.
pub const OPTION: &str = "--classes";

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

/// The same, where the names of each side may have a text before and after the part in which they differ: `y_cat` and
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
    /// The text before the numbers.
    pub prefix: &'a str,
    /// The least number.
    pub first: usize,
    /// The columns in the order of their numbers.
    pub order: Vec<usize>,
}

impl Numbered<'_> {
    /// Whether the columns are in the order of their numbers.
    pub fn is_sorted(&self) -> bool {
        self.order.is_sorted()
    }
}

/// Returns the numbers in names that count, in any order; none if they do not count.
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
pub fn say_by_name(notes: &mut Notes, path: &Path, what: &str, names: &[String]) {
    let names = clipped(&names.join(", "));
    notes.say(
        path,
        format_args!("{what} are taken by their names: {names}"),
    );
}

/// Takes elements in an order.
pub fn in_order<T: Clone>(elements: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&place| elements[place].clone()).collect()
}
