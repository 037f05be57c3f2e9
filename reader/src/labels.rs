//! Labels of classes, in a file of their own or beside the predictions: numbers, names or words.

use std::collections::{BTreeSet, HashMap};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::{
    Cells, File, Files, Notes, ReadOptions, Table, TextColumn, clipped, counted,
    error::{Context, Result, bail, ensure, wrong},
    names::{numbered, places_of, stems},
};

/// What makes the stream of drawn labels another than that of redraws.
const SOFT: u64 = 0x736f_6674;

/// The smallest ratio of likelihoods for which labels may count from 1. The ratio of a calibrated model has an expectation
/// of at most 1, and so is as large with a probability of at most 1/20.
const FITS_BETTER: f64 = 20.0;
/// The least probability in this ratio: a zero may be rounded.
const LEAST: f64 = 1e-12;

/// The labels of the predictions of the first file.
///
/// - `logarithms`: returns the logarithms of the probabilities of one class in each row
pub fn of_files(
    options: &ReadOptions,
    files: &Files,
    classes: &LabelClasses,
    logarithms: impl Fn(Vec<i64>) -> Vec<f64>,
    notes: &mut Notes,
) -> Result<Vec<i64>> {
    let File { path, table } = files.of_labels();
    let labels = if options.soft_labels {
        drawn(table, classes, options.seed)
    } else {
        labels_of(table, classes)
    };
    let labels = labels.on(path, &table.lines)?;
    if options.soft_labels {
        let note = "labels are frequencies: one is drawn for each row, seed";
        notes.say(path, format_args!("{note} {}", options.seed));
    } else if classes.count > 2
        && classes.may_count_from_1(table, &labels)
        && fit_from_1(&labels, logarithms)
    {
        let note = "no label is 0, the first class: add --one-based if labels count from 1";
        notes.say(path, note);
    }
    Ok(labels)
}

/// Whether the predictions fit labels that count from 1 better: `Π p_i(y_i − 1) / p_i(y_i)` is large.
fn fit_from_1(labels: &[i64], logarithms: impl Fn(Vec<i64>) -> Vec<f64>) -> bool {
    let total = |labels: Vec<i64>| {
        let logarithms = logarithms(labels).into_iter();
        logarithms.map(|log| log.max(LEAST.ln())).sum::<f64>()
    };
    let shifted = labels.iter().map(|label| label - 1).collect();
    total(shifted) - total(labels.to_vec()) >= FITS_BETTER.ln()
}

/// The labels in a column of a file, as numbers of so many classes whatever the names of these.
pub fn numbers(
    count: usize,
    one_based: bool,
    File { path, table }: &File,
    column: usize,
) -> Result<Vec<i64>> {
    let classes = LabelClasses::new(&[], count, one_based, true);
    let labels = classes.parse(&table.labels[column].cells);
    labels.on(path, &table.lines)
}

/// Checks that the labels beside other predictions of the same samples, if there are some, are those of the
/// first ones.
pub fn check_same(
    classes: &LabelClasses,
    labels: &[i64],
    first: &File,
    File { path, table }: &File,
) -> Result<()> {
    if table.labels.is_empty() {
        return Ok(());
    }
    let found = labels_of(table, classes).on(path, &table.lines)?;
    let what = if first.table.is_confidence {
        "correctness"
    } else {
        "label"
    };
    let Some(row) = (0..labels.len()).find(|&row| found[row] != labels[row]) else {
        return Ok(());
    };
    let wrong = wrong!(
        "the {what} is {}, expected {} as in {} of {}: both must have the same samples",
        classes.title(found[row]),
        classes.title(labels[row]),
        first.table.lines.name(row),
        first.path.display()
    );
    Err(wrong.at_row(row)).on(path, &table.lines)
}

/// The labels of a table: its column of labels, or one-hot ones, a column for each class, all 0 but one.
fn labels_of(table: &Table, classes: &LabelClasses) -> Result<Vec<i64>> {
    if let [labels] = &table.labels[..] {
        return classes.parse(&labels.cells);
    }
    let columns = table.labels.len();
    ensure!(
        columns == classes.count,
        "{columns} columns, expected one label per row, or one column of 0 and 1 for each of {} classes; \
         --label-column NAME names the column of the labels",
        classes.count
    );
    let names = table.labels.iter().map(|labels| labels.name.clone());
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    let order = classes.order(&names)?;
    let label = |row: usize| {
        let hit = |labels: &TextColumn| event(&labels.cells[row]).unwrap_or(f64::NAN);
        let hits: Vec<f64> = table.labels.iter().map(hit).collect();
        let one = hits.iter().position(|hit| *hit == 1.0);
        let are_others_zero = hits.iter().filter(|hit| **hit == 0.0).count() == columns - 1;
        let one = one.filter(|_| are_others_zero).ok_or_else(|| {
            let wrong = wrong!(
                "{columns} columns without a single 1 among zeros, expected one label per row; \
                 --soft-labels takes frequencies of several labels, and --label-column NAME one of the columns"
            );
            wrong.at_row(row)
        })?;
        Ok(order[one])
    };
    (0..table.rows()).map(label).collect()
}

/// Labels that are drawn from frequencies, a column a class.
fn drawn(table: &Table, classes: &LabelClasses, seed: u64) -> Result<Vec<i64>> {
    let columns = table.numbers.columns;
    ensure!(
        columns == classes.count,
        "{} of frequencies, expected {}, one for each class",
        counted(columns, "column"),
        classes.count
    );
    let order = classes.order(&table.names)?;
    // not the stream of the redraws
    let mut rng = StdRng::seed_from_u64(seed ^ SOFT);
    let draw = |(row, frequencies): (usize, &[f64])| {
        let is_frequency = |f: &f64| *f >= 0.0 && f.is_finite();
        if let Some(column) = frequencies.iter().position(|f| !is_frequency(f)) {
            let frequency = frequencies[column];
            let wrong = wrong!("the frequency is {frequency}, expected a number of at least 0");
            let class = classes.title(order[column]);
            return Err(wrong.at(row, format_args!("class {class}")));
        }
        let total: f64 = frequencies.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            let wrong =
                wrong!("the sum of the frequencies is {total}, expected a finite number above 0");
            return Err(wrong.at_row(row));
        }
        let drawn = total * rng.random::<f64>();
        let mut below = 0.0;
        let column = frequencies.iter().position(|frequency| {
            below += frequency;
            below > drawn
        });
        let last = || frequencies.iter().rposition(|f| *f > 0.0);
        Ok(order[column.or_else(last).unwrap_or_default()])
    };
    let rows = table.numbers.values.chunks(columns).enumerate();
    rows.map(draw).collect()
}

/// The words for classes 0 and 1 of two.
pub(crate) const WORDS: [[&str; 2]; 2] = [["false", "no"], ["true", "yes"]];

/// Names of classes that say which of two numbers they are: 0 or 1.
const POLES: [[&str; 4]; 2] = [
    ["false", "no", "neg", "negative"],
    ["true", "yes", "pos", "positive"],
];

/// Whether an event happened, as 1 or 0, of a number or a word.
pub fn event(cell: &str) -> Option<f64> {
    let word = cell.to_lowercase();
    let by_word = || WORDS.iter().position(|words| words.contains(&&*word));
    let number = cell.parse().ok().or_else(|| Some(by_word()? as f64));
    number.filter(|event| [0.0, 1.0].contains(event))
}

/// The classes that labels are of.
pub struct LabelClasses<'a> {
    count: usize,
    /// The names that they have in files; empty where these are numbers.
    names: &'a [String],
    /// Their numbers by name.
    numbers: HashMap<&'a str, i64>,
    /// The same by names in small letters; none where two names differ in nothing else.
    by_letters: HashMap<String, Option<i64>>,
    /// Whether whole numbers are classes, too.
    counted: bool,
    /// The number of the first class: 0 or 1.
    first: i64,
    /// Whether the names of the columns count from 1 though classes do from 0.
    names_begin_at_1: bool,
    /// Whether a column of another name may stand for the class of its position.
    have_positions: bool,
}

impl<'a> LabelClasses<'a> {
    /// - `names`: those that an option or the columns give the classes
    pub fn new(names: &'a [String], count: usize, one_based: bool, by_position: bool) -> Self {
        // `inf` and `nan` are words
        let number = |name: &String| name.parse().ok().filter(|number: &f64| number.is_finite());
        let numbers: Vec<f64> = names.iter().filter_map(number).collect();
        let counts = |first: f64| (0..).zip(&numbers).all(|(i, n)| *n == first + f64::from(i));
        let are_numbers = !numbers.is_empty() && numbers.len() == names.len();
        let count_up = numbered(names);
        // names that count say no more than numbers do
        let names = if are_numbers && (counts(0.0) || counts(1.0)) {
            &[]
        } else {
            names
        };
        let mut by_letters = HashMap::new();
        for (name, class) in names.iter().zip(0..) {
            let entry = by_letters.entry(name.to_lowercase());
            entry
                .and_modify(|class| *class = None)
                .or_insert(Some(class));
        }
        Self {
            count,
            names,
            numbers: names.iter().map(String::as_str).zip(0..).collect(),
            by_letters,
            counted: names.is_empty() || !are_numbers,
            first: i64::from(one_based),
            have_positions: by_position || names.is_empty() || count_up.is_some(),
            names_begin_at_1: !one_based
                && !by_position
                && count_up.is_some_and(|numbered| numbered.first == 1),
        }
    }

    /// Names for people, without what a terminal obeys; none where classes are numbers from 0.
    pub fn names(&self) -> Vec<String> {
        let plain = |name: &String| clipped(&name.replace(|c: char| c.is_control(), " "));
        match self.first {
            _ if self.numbers.len() == self.count => self.names.iter().map(plain).collect(),
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
    fn parse(&self, cells: &Cells) -> Result<Vec<i64>> {
        ensure!(
            !self.names_begin_at_1 || !self.run_from_1(cells),
            "the columns count from 1, and no label is 0: expected --one-based if labels count from 1, too, or \
             --by-position if they count from 0"
        );
        let label = |(row, cell): (usize, &str)| {
            self.class(cell).map_err(|expected| {
                let advice = if self.run_from_1(cells) {
                    "; labels run from 1 to the number of classes: did you mean --one-based?".into()
                } else {
                    let option = self.classes_option(cells);
                    option.map_or(String::new(), |option| {
                        format!("; {option} takes them as the classes of the columns in this order")
                    })
                };
                let cell = clipped(cell);
                wrong!("the label is {cell}, expected {expected}{advice}").at_row(row)
            })
        };
        cells.iter().enumerate().map(label).collect()
    }

    /// The class of a label, or what is expected: the name of a class, exactly or but for its letters, otherwise a number,
    /// and a word for one of two classes where they have no names.
    fn class(&self, cell: &str) -> Result<i64, String> {
        let by_letters = || *self.by_letters.get(&cell.to_lowercase())?;
        let named = self.numbers.get(cell).copied().or_else(by_letters);
        let value = cell.parse::<f64>().ok().filter(|_| self.counted);
        let counted = value.map(|value| self.counted_class(value));
        if let (None, Some(Ok(counted))) = (named, &counted)
            && let Some(name) = self.opposite(*counted)
        {
            return Err(format!(
                "the name of a class: column {counted} is {name}, which says the opposite of {counted}; --classes 1,0 takes \
                 {name} as {}, and --classes 0,1 as {counted}",
                1 - counted
            ));
        }
        match (named, counted) {
            (Some(named), Some(Ok(counted))) if named != counted => Err(format!(
                "a name or a number, and it is the name of column {named} and the number of column {counted}: --classes \
                 gives other names to the columns"
            )),
            (Some(named), _) => Ok(named),
            (None, Some(counted)) => counted,
            (None, None) if !self.names.is_empty() => Err(self.one_of()),
            (None, None) => {
                let word = cell.to_lowercase();
                let binary = WORDS.iter().position(|words| words.contains(&&*word));
                let binary = binary.filter(|_| self.count == 2);
                let (first, last) = (self.first, self.count as i64 - 1 + self.first);
                binary.map(|class| class as i64).ok_or_else(|| {
                    format!(
                        "a class from {first} to {last}; --classes names the classes in the order of the columns"
                    )
                })
            }
        }
    }

    /// The name of one of two classes that says the opposite of its number, such as `True` of class 0.
    fn opposite(&self, class: i64) -> Option<&String> {
        // --one-based says how labels count
        let is_asked = self.count == 2 && self.first == 0;
        let name = self.names.get(class as usize).filter(|_| is_asked)?;
        let lower = name.to_lowercase();
        let pole = POLES.iter().position(|names| names.contains(&&*lower))?;
        (class != pole as i64).then_some(name)
    }

    /// The class of a number.
    fn counted_class(&self, value: f64) -> Result<i64, String> {
        let (first, last) = (self.first, self.count as i64 - 1 + self.first);
        match value {
            v if v.fract() != 0.0 || v < first as f64 || v.abs() > 2f64.powi(53) => {
                Err(format!("a whole number of at least {first}"))
            }
            v if v > last as f64 => Err(format!("a class from {first} to {last}")),
            v => Ok(v as i64 - first),
        }
    }

    /// The option that would name the classes by the labels: those whose names the columns end with, or as many others.
    fn classes_option(&self, cells: &Cells) -> Option<String> {
        let labels: BTreeSet<&str> = cells.iter().collect();
        if labels.len() > self.count {
            return None;
        }
        let are_counts = labels
            .iter()
            .all(|label| label.parse::<f64>().is_ok_and(|y| y >= 0.0));
        let ending = |name: &String| {
            let name = name.to_lowercase();
            let is_end = |label: &&&str| !label.is_empty() && name.ends_with(&label.to_lowercase());
            labels
                .iter()
                .filter(is_end)
                .max_by_key(|label| label.len())
                .copied()
        };
        let found: Option<Vec<&str>> = self.names.iter().map(ending).collect();
        let names = match found.filter(|found| !found.is_empty()) {
            Some(found) => found,
            None if self.names.is_empty() && labels.len() == self.count && !are_counts => {
                labels.iter().copied().collect()
            }
            None => return None,
        };
        let is_once = names.iter().collect::<BTreeSet<_>>().len() == names.len();
        is_once.then(|| format!("--classes {}", clipped(&names.join(","))))
    }

    fn one_of(&self) -> String {
        format!("one of {}", clipped(&self.names.join(", ")))
    }

    /// The name of a class, or its number.
    fn title(&self, class: i64) -> String {
        let name = self.names.get(class as usize);
        name.map_or_else(|| (class + self.first).to_string(), |name| clipped(name))
    }

    /// The class of each column: that of its name. Where no column has the name of a class it is that of
    /// the number in names that count, as y0, y1, y2, otherwise that of its position if one of the two has
    /// no names.
    fn order(&self, columns: &[String]) -> Result<Vec<i64>> {
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
        // y_cat and y_dog beside p_cat and p_dog
        if named.iter().all(Option::is_none)
            && let Some(order) = places_of(&stems(columns), &stems(self.names))
        {
            return Ok(order.into_iter().map(|class| class as i64).collect());
        }
        let class = |(column, class): (usize, &Option<&i64>)| {
            let name = clipped(&columns[column]);
            match class {
                None => bail!(
                    "column {column} ({name}): expected {}; --label-column NAME names one column of labels",
                    self.one_of()
                ),
                Some(_) if named[..column].contains(class) => bail!(
                    "column {column} ({name}): the class has two columns, expected one for each class"
                ),
                Some(class) => Ok(**class),
            }
        };
        named.iter().enumerate().map(class).collect()
    }

    /// Whether labels are numbers from 0 without a 0, several of them.
    fn may_count_from_1(&self, table: &Table, labels: &[i64]) -> bool {
        let is_number = |labels: &TextColumn| {
            let mut cells = labels.cells.iter();
            cells.all(|cell| cell.parse::<f64>().is_ok() && !self.numbers.contains_key(cell))
        };
        let are_numbers = matches!(&table.labels[..], [labels] if is_number(labels));
        self.first == 0
            && are_numbers
            && labels.iter().all(|&label| label > 0)
            && labels.iter().any(|&label| label != labels[0])
    }

    /// Whether labels that should count from 0 are those from 1 to the number of classes.
    fn run_from_1(&self, cells: &Cells) -> bool {
        let whole = || cells.iter().map(|cell| cell.parse::<f64>().ok());
        self.first == 0
            && whole().all(|label| label.is_some_and(|y| (1.0..=self.count as f64).contains(&y)))
    }
}
