//! The files of one call side by side: rows of the same samples, in one order, without those that are left out.

mod open;
mod repeats;
mod rows;
mod weights;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use open::OpenFiles;
pub use repeats::Repeats;
pub use weights::RowWeights;

use crate::{
    Notes, ReadOptions, Table, counted,
    error::{Context, Result, ensure, wrong},
    of_model,
};

/// The files that a command names.
#[derive(Default)]
pub struct Inputs<'a> {
    /// Predictions of the same samples.
    pub predictions: Vec<&'a Path>,
    /// Variables of each sample.
    pub given: Option<&'a Path>,
    /// The prefixes of the columns of several models, all of which are in one file.
    pub models: &'a [String],
}

impl<'a> Inputs<'a> {
    /// A single file of predictions.
    pub fn of(predictions: &'a Path) -> Self {
        Self {
            predictions: vec![predictions],
            ..Self::default()
        }
    }
}

/// A file as it was read.
pub struct File {
    /// The path.
    pub path: PathBuf,
    /// The data that were read.
    pub table: Table,
}

/// The files of one call.
#[derive(Default)]
pub struct Files {
    /// Predictions, of which the first may have the labels.
    pub sets: Vec<File>,
    /// Labels of a file of their own.
    pub labels: Option<File>,
    /// Weights of a file of their own.
    pub weights: Option<File>,
    /// Variables.
    pub given: Option<File>,
    /// The weights of the rows, once these are joined.
    pub row_weights: Option<RowWeights>,
    /// The rows that are left out, once these are joined.
    pub left_out: LeftOut,
    /// The rows of predictions of classes that repeat others, if they are many.
    pub repeats: Option<Repeats>,
}

/// The rows that are left out of all files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// All of them.
    pub rows: usize,
    /// The rows without a value in a column.
    pub missing: usize,
    /// The others, with a label that is ignored.
    pub ignored: usize,
}

impl LeftOut {
    /// Whether no row is left out.
    pub fn is_none(&self) -> bool {
        self.rows == 0
    }
}

impl File {
    /// The columns of each model as a file of its own, the first with the labels.
    pub(super) fn split(self, models: &[String]) -> Result<Vec<Self>> {
        let Self { path, mut table } = self;
        let mut sets: Vec<Self> = Vec::new();
        for (at, model) in models.iter().enumerate() {
            let of = |(column, name): (usize, &String)| {
                let (found, rest) = of_model(name, models)?;
                (found == at).then(|| (column, rest.to_owned()))
            };
            let named = table.names.iter().enumerate();
            let (places, names): (Vec<usize>, Vec<String>) = named.filter_map(of).unzip();
            let expected = sets
                .first()
                .map_or(places.len().max(1), |first| first.table.names.len());
            ensure!(
                places.len() == expected,
                "{}: {} of the model {model}, expected {}; the names of its columns begin with {model}, and a number or a \
                 separator such as _ is next",
                path.display(),
                counted(places.len(), "column"),
                if at == 0 {
                    "some".to_owned()
                } else {
                    format!("{expected}, as of {}", models[0])
                }
            );
            let mut table = table.columns(&places);
            table.names = names;
            let path = format!("{} ({model})", path.display()).into();
            sets.push(Self { path, table });
        }
        sets[0].path = path;
        sets[0].table.labels = std::mem::take(&mut table.labels);
        sets[0].table.weights = table.weights.take();
        Ok(sets)
    }

    /// The rows without a value, and how many there are in which column. An error where they are not to be
    /// skipped.
    pub fn missing(
        &self,
        are_skipped: bool,
        words: &[String],
    ) -> Result<(Vec<usize>, Option<String>)> {
        let missing = self.table.missing(words);
        let first = missing.iter().min_by_key(|(_, rows)| rows[0]);
        if let Some((title, rows)) = first.filter(|_| !are_skipped) {
            let remedy = if rows.len() == self.table.rows().max(2) {
                "in this row and all others, expected values; --columns and --label-column choose other columns"
            } else {
                "expected a value; --skip-missing leaves out such rows"
            };
            let wrong = wrong!("the value is empty, NA, null or NaN, {remedy}");
            return Err(wrong.at(rows[0], title)).on(&self.path, &self.table.lines);
        }
        let path = self.path.display();
        let mut counts: Vec<String> = (missing.iter().take(MOST_TOLD))
            .map(|(title, rows)| format!("{} in {title} of {path}", rows.len()))
            .collect();
        if let more @ 1.. = missing.len().saturating_sub(MOST_TOLD) {
            let more = counted(more, "more column");
            counts.push(format!("others in {more} of {path}"));
        }
        let rows = missing.into_iter().flat_map(|(_, rows)| rows).collect();
        let said = !counts.is_empty();
        Ok((rows, said.then(|| counts.join(", "))))
    }
}

/// The most columns with missing values that are named.
const MOST_TOLD: usize = 20;

impl Files {
    /// The file that has the labels.
    pub fn of_labels(&self) -> &File {
        self.labels.as_ref().unwrap_or(&self.sets[0])
    }

    fn all(&self) -> impl Iterator<Item = &File> {
        let sets = self.sets.iter().chain(&self.labels);
        sets.chain(&self.weights).chain(&self.given)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut File> {
        let sets = self.sets.iter_mut();
        sets.chain(&mut self.labels)
            .chain(&mut self.weights)
            .chain(&mut self.given)
    }

    /// Matches the rows of all files, and leaves out those without a value and those with a label that is ignored. Words
    /// that are labels are no missing values.
    ///
    /// # Errors
    ///
    /// Files with other rows than the first; a value that is missing, unless such rows are skipped; weights that are none.
    pub fn joined(
        mut self,
        options: &ReadOptions,
        are_classes: bool,
        words: &[String],
        notes: &mut Notes,
    ) -> Result<Self> {
        self.check_counts()?;
        self.check_headers(options)?;
        let orders = rows::by_id(&self.all().collect::<Vec<_>>())?;
        for (file, order) in self.all_mut().zip(orders) {
            order.inspect(|order| file.table.select(order));
        }
        rows::check_shared(&self.all().collect::<Vec<_>>())?;
        let n = self.sets[0].table.rows();
        let mut is_left_out = vec![false; n];
        let mut said = Vec::new();
        let with_labels = self.sets.iter().chain(&self.labels);
        let with_words = with_labels.map(|file| (file, words));
        let others = self.weights.iter().chain(&self.given);
        let given = others.map(|file| (file, &[][..]));
        for (file, words) in with_words.chain(given) {
            let (rows, counts) = file.missing(options.skip_missing, words)?;
            said.extend(counts);
            rows.iter().for_each(|&row| is_left_out[row] = true);
        }
        let count = |rows: &[bool]| rows.iter().filter(|is_left_out| **is_left_out).count();
        let missing = count(&is_left_out);
        if missing > 0 {
            let said = said.join(", ");
            notes.add(format_args!(
                "{missing} of {n} rows are left out, because values are missing: {said}"
            ));
        }
        if !options.ignore_label.is_empty() {
            self.ignore(&options.ignore_label, &mut is_left_out, notes)?;
        }
        let rows = count(&is_left_out);
        if rows > 0 {
            ensure!(
                rows < n,
                "{}: no row is left: each of {n} lacks a value or has an ignored label",
                self.sets[0].path.display()
            );
            let kept: Vec<usize> = (0..n).filter(|&row| !is_left_out[row]).collect();
            self.all_mut().for_each(|file| file.table.select(&kept));
        }
        self.left_out = LeftOut {
            rows,
            missing,
            ignored: rows - missing,
        };
        self.weigh()?;
        // frequencies may be equal in all rows with equal predictions
        self.find_repeats(are_classes && !options.soft_labels, notes);
        Ok(self)
    }

    /// Leaves out the rows with one of some labels, and says how many there are.
    fn ignore(
        &self,
        ignored: &[String],
        is_left_out: &mut [bool],
        notes: &mut Notes,
    ) -> Result<()> {
        let File { path, table } = self.of_labels();
        let [labels] = &table.labels[..] else {
            return Err(wrong!("--ignore-label: expected labels in one column")).of(path);
        };
        let number = |text: &str| text.parse::<f64>().ok();
        let mut counts = vec![0; ignored.len()];
        for (cell, is_left_out) in labels.cells.iter().zip(is_left_out) {
            let is_label = |label: &String| {
                label == cell || number(label).is_some_and(|y| number(cell) == Some(y))
            };
            let found = ignored.iter().position(is_label).filter(|_| !*is_left_out);
            if let Some(at) = found {
                counts[at] += 1;
                *is_left_out = true;
            }
        }
        for (label, count) in ignored.iter().zip(counts) {
            let n = labels.cells.len();
            let words = format_args!("{count} of {n} rows have the label {label} and are left out");
            notes.say(path, words);
        }
        Ok(())
    }

    /// Refuses first lines that count from 0 in predictions and labels alike: pandas names columns and series without
    /// a name so, and the numbers of rows do not tell.
    fn check_headers(&self, options: &ReadOptions) -> Result<()> {
        let first = &self.sets[0];
        let (table, Some(labels)) = (&first.table, &self.labels) else {
            return Ok(());
        };
        let is_told = options.header.is_some() || options.labels_header.is_some();
        let is_line_one = |table: &Table| !table.has_header && table.lines.of(0).is_some();
        let mut rows = table.numbers.values.chunks(table.numbers.columns.max(1));
        let counts = |row: &[f64]| row.iter().enumerate().all(|(at, x)| *x == at as f64);
        let may_be_names = !is_told
            && is_line_one(table)
            && is_line_one(&labels.table)
            && rows.next().is_some_and(counts)
            && rows
                .next()
                .is_some_and(|row| row.iter().any(|x| x.fract() != 0.0))
            && match labels.table.labels.first() {
                Some(column) => column.cells.get(0) == Some("0"),
                None => {
                    let numbers = &labels.table.numbers;
                    let mut rows = numbers.values.chunks(numbers.columns.max(1));
                    rows.next().is_some_and(counts)
                }
            };
        ensure!(
            !may_be_names,
            "{} and {}: the first lines count from 0 and may be headers or rows, expected --header yes, \
             --labels-header yes and --by-position, or --header no",
            first.path.display(),
            labels.path.display()
        );
        Ok(())
    }

    /// Checks that all files have as many rows as the first one.
    fn check_counts(&self) -> Result<()> {
        let (first, others) = self.sets.split_first().expect("there is a file");
        let expected = first.table.rows();
        let has_header = |file: &File| file.table.has_header;
        let advice = |file: &File| match file.table.rows() as i64 - expected as i64 {
            1 if !has_header(file) => "; add --labels-header yes if line 1 is a header",
            -1 if has_header(file) && has_header(first) => {
                "; add --labels-header no if line 1 is not a header, or --classes if it names a class"
            }
            -1 if has_header(file) => {
                "; add --header yes if line 1 of the predictions is a header, or --labels-header no if line 1 here is \
                 not one, or --classes if it names a class"
            }
            -1 => "; add --header yes if line 1 of the predictions is a header",
            _ => "",
        };
        let labels = self.labels.iter().map(|file| (file, advice(file)));
        let others = (others.iter().chain(&self.weights))
            .chain(&self.given)
            .map(|file| (file, ""));
        for (file, advice) in others.chain(labels) {
            let found = file.table.rows();
            ensure!(
                found == expected,
                "{}: {}, expected {expected}, as in {}{advice}",
                file.path.display(),
                counted(found, "row"),
                first.path.display()
            );
        }
        Ok(())
    }
}
