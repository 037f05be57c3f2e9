//! Classes that labels and columns name: by numbers, names or words.

use std::{collections::HashMap, fs};

use crate::{
    align::numbered,
    args::LabelsArgs,
    error::{Result, bail, ensure, wrong},
    input::{Cells, clipped},
};

/// The words for classes 0 and 1 of two.
pub const WORDS: [[&str; 2]; 2] = [["false", "no"], ["true", "yes"]];

/// The classes that labels are of.
pub struct Classes<'a> {
    pub count: usize,
    /// Their numbers by name.
    numbers: HashMap<&'a str, i64>,
    /// Whether whole numbers are classes, too.
    counted: bool,
    /// The number of the first class: 0 or 1.
    first: i64,
    /// Whether the names of the columns count from 1 though classes do from 0.
    names_begin_at_1: bool,
    /// Whether a column of another name may stand for the class of its position.
    have_positions: bool,
}

/// Names of classes: between commas, or one a line of a file.
pub fn class_names(names: &str) -> Vec<String> {
    let trimmed = |name: &str| name.trim().to_owned();
    match fs::read_to_string(names) {
        Ok(text) => text
            .lines()
            .map(trimmed)
            .filter(|name| !name.is_empty())
            .collect(),
        Err(_) => names.split(',').map(trimmed).collect(),
    }
}

impl<'a> Classes<'a> {
    pub fn new(
        names: &'a [String],
        count: usize,
        LabelsArgs { one_based, .. }: &LabelsArgs,
        by_position: bool,
    ) -> Self {
        let number = |name: &String| name.parse::<f64>().ok();
        let numbers: Vec<f64> = names.iter().filter_map(number).collect();
        let counts = |first: f64| {
            numbers
                .iter()
                .enumerate()
                .all(|(i, &n)| n == first + i as f64)
        };
        let are_numbers = !numbers.is_empty() && numbers.len() == names.len();
        let count_up = numbered(names);
        // names that count say no more than numbers do
        let names = match are_numbers && (counts(0.0) || counts(1.0)) {
            true => &[],
            false => names,
        };
        Self {
            count,
            numbers: (0..)
                .zip(names)
                .map(|(class, name)| (name.as_str(), class))
                .collect(),
            counted: names.is_empty() || !are_numbers,
            first: i64::from(*one_based),
            names_begin_at_1: !one_based
                && !by_position
                && count_up
                    .as_ref()
                    .is_some_and(|numbered| numbered.first == 1),
            have_positions: by_position || names.is_empty() || count_up.is_some(),
        }
    }

    /// The names that classes have in files.
    pub fn known(&self) -> impl Iterator<Item = &'a str> {
        let mut named: Vec<_> = self.numbers.iter().collect();
        named.sort_unstable_by_key(|(_, class)| **class);
        named.into_iter().map(|(name, _)| *name)
    }

    /// Names for people, without what a terminal obeys; none where classes are numbers from 0.
    pub fn names(&self) -> Vec<String> {
        let plain = |name: &str| clipped(&name.replace(|c: char| c.is_control(), " "));
        match self.first {
            _ if self.numbers.len() == self.count => self.known().map(plain).collect(),
            0 => Vec::new(),
            first => (first..)
                .take(self.count)
                .map(|class| class.to_string())
                .collect(),
        }
    }

    /// The classes of labels.
    ///
    /// # Errors
    ///
    /// A label that is none, named by its row; numbers that may count from 0 or from 1.
    pub fn parse(&self, cells: &Cells) -> Result<Vec<i64>> {
        ensure!(
            !self.names_begin_at_1 || !self.run_from_1(cells),
            "the columns count from 1, and no label is 0: expected --one-based if labels count from 1, too, or \
             --by-position if they count from 0"
        );
        let label = |(row, cell): (usize, &str)| {
            self.class(cell).map_err(|expected| {
                let advice = if self.run_from_1(cells) {
                    "; labels run from 1 to the number of classes: did you mean --one-based?"
                } else {
                    ""
                };
                let cell = clipped(cell);
                wrong!("the label is {cell}, expected {expected}{advice}").at_row(row)
            })
        };
        cells.iter().enumerate().map(label).collect()
    }

    /// The class of a label, or what is expected.
    fn class(&self, cell: &str) -> Result<i64, String> {
        if let Some(&class) = self.numbers.get(cell) {
            return Ok(class);
        }
        let (first, last) = (self.first, self.count as i64 - 1 + self.first);
        if let Some(value) = cell.parse::<f64>().ok().filter(|_| self.counted) {
            return match value {
                v if v.fract() != 0.0 || v < first as f64 || v.abs() > 2f64.powi(53) => {
                    Err(format!("a whole number of at least {first}"))
                }
                v if v > last as f64 => Err(format!("a class in {first}..={last}")),
                v => Ok(v as i64 - first),
            };
        }
        let word = cell.to_lowercase();
        let binary = WORDS.iter().position(|words| words.contains(&&*word));
        match binary.filter(|_| self.count == 2) {
            Some(class) => Ok(class as i64),
            None if self.numbers.is_empty() => Err(format!(
                "a class in {first}..={last}; --classes names the classes in the order of the columns"
            )),
            None => Err(self.one_of()),
        }
    }

    fn one_of(&self) -> String {
        let names: Vec<&str> = self.known().collect();
        format!("one of {}", clipped(&names.join(", ")))
    }

    /// The name of a class, or its number.
    pub fn title(&self, class: i64) -> String {
        let name = self.known().nth(class as usize);
        name.map_or_else(|| (class + self.first).to_string(), clipped)
    }

    /// The class of each column: that of its name. Where no column has the name of a class it is that of the
    /// number in names that count, as y0, y1, y2, else that of its position if one of the two has no names.
    pub fn order(&self, columns: &[String]) -> Result<Vec<i64>> {
        let named: Vec<_> = columns
            .iter()
            .map(|name| self.numbers.get(name.as_str()))
            .collect();
        let by_number = numbered(columns);
        let is_known = self.have_positions || columns.is_empty() || by_number.is_some();
        if named.iter().all(Option::is_none) && is_known {
            let mut order: Vec<i64> = (0..self.count as i64).collect();
            for (class, &column) in by_number.iter().flat_map(|n| n.order.iter().enumerate()) {
                order[column] = class as i64;
            }
            return Ok(order);
        }
        let class = |(column, class): (usize, &Option<&i64>)| {
            let name = clipped(&columns[column]);
            match class {
                None => bail!("column {column} ({name}): expected {}", self.one_of()),
                Some(_) if named[..column].contains(class) => bail!(
                    "column {column} ({name}): the class has two columns, expected one for each class"
                ),
                Some(class) => Ok(**class),
            }
        };
        named.iter().enumerate().map(class).collect()
    }

    /// Whether labels that should count from 0 are those from 1 to the number of classes.
    fn run_from_1(&self, cells: &Cells) -> bool {
        let whole = || cells.iter().map(|cell| cell.parse::<f64>().ok());
        self.first == 0
            && whole().all(|label| label.is_some_and(|y| (1.0..=self.count as f64).contains(&y)))
    }
}
