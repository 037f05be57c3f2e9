//! Whether the first line of a table names its columns.

use super::{Options, records::Record, table::has_decimal_comma};

/// Whether the first line is a header.
#[derive(Debug, PartialEq)]
pub enum Header {
    None,
    /// Its names, and whether it is plain or said to be one.
    Names(Vec<String>, bool),
    /// Names of all columns but the first, which holds those of rows.
    Shorter(Vec<String>),
}

impl Header {
    pub fn of(first: &Record, second: Option<&Record>, options: &Options) -> Self {
        let names = || first.cells().map(str::to_owned).collect();
        if options.header == Some(false) {
            return Self::None;
        }
        let is_number = |cell: &str| is_number(cell) || has_decimal_comma(cell);
        let is_word = |cell: &str| {
            let lower = cell.to_lowercase();
            options
                .words
                .iter()
                .any(|word| word == cell || *word == lower)
        };
        // a word above a number is the name of one of several columns
        let below =
            |column: usize| second.filter(|second| column < second.len() && second.len() > 1);
        let is_name = |column: usize| below(column).is_some_and(|row| is_number(row.cell(column)));
        let is_value =
            |(column, cell): (usize, &str)| is_number(cell) || is_word(cell) && !is_name(column);
        if first.len() > 1
            && second.is_some_and(|second| second.len() == first.len() + 1)
            && (options.header == Some(true) || !first.cells().any(is_number))
        {
            return Self::Shorter(names());
        }
        if !first.cells().enumerate().any(is_value) {
            return Self::Names(names(), true);
        }
        let is_certain = |second: &Record| {
            has_names(first, second)
                || counts(first, second)
                    && (stands_above(first, second)
                        || options.are_probabilities && first.cells().any(exceeds_one))
        };
        if options.header == Some(true) || second.is_some_and(is_certain) {
            return Self::Names(names(), options.header == Some(true));
        }
        Self::None
    }

    pub fn names(&self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::Names(names, _) => names.clone(),
            Self::Shorter(names) => [String::new()]
                .into_iter()
                .chain(names.iter().cloned())
                .collect(),
        }
    }

    /// What is said of it, unless it is plain.
    pub fn note(&self) -> Option<&'static str> {
        match self {
            Self::None | Self::Names(_, true) => None,
            Self::Names(_, false) => Some("line 1 is a header"),
            Self::Shorter(_) => Some("line 1 is a header without a name for the first column"),
        }
    }
}

/// Whether the numbers of the first line count from 0 or 1 and stand above other numbers, as those that
/// pandas gives to columns without names.
fn counts(first: &Record, second: &Record) -> bool {
    let whole = |cell: &str| cell.parse::<u64>().ok();
    let pairs = || first.cells().zip(second.cells());
    let numbers = || pairs().filter(|(cell, _)| is_number(cell));
    let mut start = None;
    let is_counting = numbers().enumerate().all(|(i, (cell, _))| {
        let found = whole(cell).and_then(|found| found.checked_sub(i as u64));
        found.is_some_and(|found| found <= 1 && *start.get_or_insert(found) == found)
    });
    let is_other = numbers().any(|(_, below)| whole(below).is_none());
    is_counting && (stands_above(first, second) || numbers().count() > 1 && is_other)
}

pub fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

fn exceeds_one(cell: &str) -> bool {
    cell.parse().is_ok_and(|number: f64| number > 1.0)
}

/// Whether the first line has a word above a number.
fn stands_above(first: &Record, second: &Record) -> bool {
    let mut pairs = first.cells().zip(second.cells());
    pairs.any(|(name, below)| !is_number(name) && is_number(below))
}

/// Whether the first line names columns by words and, beside them, two or more by numbers that rise, such as
/// the levels of quantiles. A row in which a value is missing has no such words.
fn has_names(first: &Record, second: &Record) -> bool {
    const MISSING: [&str; 6] = ["na", "n/a", "null", "none", "nil", "missing"];
    let is_word = |cell: &str| {
        cell.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !cell.contains('.')
            && !MISSING.contains(&&*cell.to_lowercase())
    };
    let (numbers, words): (Vec<&str>, Vec<&str>) = first.cells().partition(|cell| is_number(cell));
    let numbers: Vec<f64> = numbers.iter().filter_map(|n| n.parse().ok()).collect();
    stands_above(first, second)
        && numbers.len() > 1
        && words.iter().all(|word| is_word(word))
        && numbers.is_sorted_by(|a, b| a < b)
}

/// Whether the first line may be names that count, or that of a single column, or a row.
pub fn may_be_header(first: &Record, second: &Record) -> bool {
    let is_only = first.len() == 1 && first.cell(0) == "0" && second.cell(0).contains('.');
    is_only || counts(first, second)
}
