//! Whether the first line of a table names its columns.

use super::{Cells, OpenOptions, clipped, records::Record, text::has_decimal_comma};
use crate::error::{Result, ensure};

/// The most characters of a level that may be a number of a row instead, as `0.9999`.
const SHORT: usize = 6;

/// A first line that names the columns.
#[derive(Debug, Default, PartialEq)]
pub struct Header {
    pub names: Vec<String>,
    /// The note about it, unless it is plain.
    pub note: Option<&'static str>,
}

impl Header {
    /// Returns the header of a table, if it has one, by its first two rows.
    pub fn of(
        first: &Record,
        second: Option<&Record>,
        options: &OpenOptions,
    ) -> Result<Option<Self>> {
        if options.header == Some(false) {
            return Ok(None);
        }
        let (line, first, second) = (first.line, &first.cells, second.map(|row| &row.cells));
        let is_said = options.header == Some(true);
        let names = || first.iter().map(str::to_owned);
        let is_number = |cell: &str| is_number(cell) || has_decimal_comma(cell);
        let is_shorter = |second: &Cells| first.len() > 1 && second.len() == first.len() + 1;
        if second.is_some_and(is_shorter) && (is_said || !first.iter().any(is_number)) {
            return Ok(Some(Self {
                names: std::iter::once(String::new()).chain(names()).collect(),
                note: Some("line 1 is a header without a name for the first column"),
            }));
        }
        let is_word = |cell: &str| {
            let lower = cell.to_lowercase();
            options
                .words
                .iter()
                .any(|word| word.to_lowercase() == lower)
        };
        // a word above a number is the name of one of several columns
        let is_name = |column: usize| {
            let below = second.filter(|second| column < second.len() && second.len() > 1);
            below.is_some_and(|second| is_number(&second[column]))
        };
        let mut cells = first.iter().enumerate();
        let is_plain =
            !cells.any(|(column, cell)| is_number(cell) || is_word(cell) && !is_name(column));
        let is_certain = |second: &Cells| {
            has_names(first, second)
                || !options.are_probabilities && stand_above_dates(first, second)
                || are_words(first) && stands_above(first, second)
                || counts(first, second)
                    && (stands_above(first, second)
                        || options.are_probabilities && first.iter().any(exceeds_one))
        };
        if is_plain || is_said || second.is_some_and(is_certain) {
            return Ok(Some(Self {
                names: names().collect(),
                note: (!is_plain && !is_said).then_some("line 1 is a header"),
            }));
        }
        // levels have few digits
        let is_short = |cell: &str| !is_number(cell) || cell.len() <= SHORT;
        let may_be_levels = |second: &Cells| {
            !options.are_probabilities
                && first.iter().all(|cell| is_short(cell) && !is_word(cell))
                && are_levels(first, second)
        };
        let may_be_header = |second| may_be_header(first, second) || may_be_levels(second);
        ensure!(
            options.is_counted || !second.is_some_and(may_be_header),
            "line {line} ({}) may be a header or a row, expected --header yes or --header no",
            clipped(&names().collect::<Vec<_>>().join(","))
        );
        Ok(None)
    }
}

/// Whether the numbers of the first line count from 0 or 1 and stand above other numbers, as those that
/// pandas gives to columns without names.
fn counts(first: &Cells, second: &Cells) -> bool {
    let whole = |cell: &str| cell.parse::<u64>().ok();
    let numbers = || {
        first
            .iter()
            .zip(second.iter())
            .filter(|(cell, _)| is_number(cell))
    };
    let mut start = None;
    let is_counting = numbers().enumerate().all(|(i, (cell, _))| {
        let found = whole(cell).and_then(|found| found.checked_sub(i as u64));
        found.is_some_and(|found| found <= 1 && *start.get_or_insert(found) == found)
    });
    let is_other = numbers().any(|(_, below)| whole(below).is_none());
    is_counting && (stands_above(first, second) || numbers().count() > 1 && is_other)
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

/// Whether a line has numbers that are all words such as `inf` and `nan`, and so may be names.
fn are_words(first: &Cells) -> bool {
    let numbers = || {
        first
            .iter()
            .filter(|cell| is_number(cell) || has_decimal_comma(cell))
    };
    let is_word = |cell: &str| !cell.bytes().any(|byte| byte.is_ascii_digit());
    numbers().count() > 0 && numbers().all(is_word)
}

fn exceeds_one(cell: &str) -> bool {
    cell.parse().is_ok_and(|number: f64| number > 1.0)
}

/// Whether the first line has a word above a number.
fn stands_above(first: &Cells, second: &Cells) -> bool {
    let mut pairs = first.iter().zip(second.iter());
    pairs.any(|(name, below)| !is_number(name) && is_number(below))
}

/// Whether the first line names columns by words and, beside them, two or more by numbers that rise, such as
/// the levels of quantiles.
fn has_names(first: &Cells, second: &Cells) -> bool {
    stands_above(first, second) && are_names(first)
}

/// Whether each cell is a word or a number, and the numbers rise, two or more. A row in which a value is missing has no
/// such words.
fn are_names(first: &Cells) -> bool {
    const MISSING: [&str; 6] = ["na", "n/a", "null", "none", "nil", "missing"];
    let is_word = |cell: &str| {
        cell.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !cell.contains('.')
            && !MISSING.contains(&&*cell.to_lowercase())
    };
    let numbers: Vec<f64> = first.iter().flat_map(str::parse).collect();
    numbers.len() > 1
        && first.iter().all(|cell| is_number(cell) || is_word(cell))
        && numbers.is_sorted_by(|a, b| a < b)
}

/// Whether the first line may be levels of quantiles, in (0, 1), beside words other than those of the row below.
fn are_levels(first: &Cells, second: &Cells) -> bool {
    let is_level = |level: f64| 0.0 < level && level < 1.0;
    let mut pairs = first.iter().zip(second.iter());
    are_names(first)
        && first.iter().flat_map(str::parse).all(is_level)
        && !pairs.clone().all(|(name, _)| is_number(name))
        && pairs.all(|(name, below)| is_number(name) || name != below)
}

/// Whether the first line is levels beside a word above what begins with a digit and is no number, such as a date. As a
/// row it would have text of two kinds in one column.
fn stand_above_dates(first: &Cells, second: &Cells) -> bool {
    let has_digit = |cell: &str| cell.contains(|c: char| c.is_ascii_digit());
    let is_date = |cell: &str| cell.starts_with(|c: char| c.is_ascii_digit()) && !is_number(cell);
    let mut pairs = first.iter().zip(second.iter());
    are_levels(first, second) && pairs.any(|(name, below)| !has_digit(name) && is_date(below))
}

/// Whether the first line may be names that count, or that of a single column, or a row.
fn may_be_header(first: &Cells, second: &Cells) -> bool {
    let is_only = first.len() == 1 && &first[0] == "0" && second[0].contains('.');
    is_only || are_words(first) || counts(first, second)
}
