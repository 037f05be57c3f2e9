//! The files of one call side by side: rows of the same samples, in one order, without those that are left out.

mod weights;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use weights::SampleWeights;

use crate::{
    align,
    args::{RowsArgs, SourceArgs},
    error::{Context, Result, ensure, wrong},
    given,
    input::{Options, Table, WhichLabel, of_model, read_table, say, split_array_name},
    kind::Kind,
    source::options,
    words::DataWords,
};

/// The files that a command names.
#[derive(Default)]
pub struct Inputs<'a> {
    /// Predictions of the same samples.
    pub predictions: Vec<&'a Path>,
    /// Variables of each sample.
    pub given: Option<&'a Path>,
    /// What the columns of each of several models begin with, all of which are in one file.
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
    pub path: PathBuf,
    pub table: Table,
}

/// The files of one call.
pub struct Files {
    /// Predictions, of which the first may have the labels.
    pub sets: Vec<File>,
    /// Labels of a file of their own.
    pub labels: Option<File>,
    pub weights: Option<File>,
    pub given: Option<File>,
    /// The weights of the rows, once these are joined.
    pub samples: Option<SampleWeights>,
    /// The rows that are left out, once these are joined.
    pub left_out: LeftOut,
}

/// The rows that are left out of all files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub rows: usize,
    /// Those without a value in a column.
    pub missing: usize,
    /// The others, with a label that is ignored.
    pub ignored: usize,
}

impl LeftOut {
    pub fn is_none(&self) -> bool {
        self.rows == 0
    }
}

impl File {
    pub fn read(path: &Path, options: &Options, args: &RowsArgs) -> Result<Self> {
        let options = Options {
            skip_missing: args.skip_missing,
            ..*options
        };
        let mut table = read_table(path, &args.held, &options)?;
        table.ids.take_if(|_| args.by_position);
        let path = path.to_path_buf();
        Ok(Self { path, table })
    }

    /// The columns of each model as a file of its own, the first with the labels.
    fn split(self, models: &[String]) -> Result<Vec<Self>> {
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
                "{}: {} columns of the model {model}, expected {}; the names of its columns begin with {model}",
                path.display(),
                places.len(),
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
        args: &RowsArgs,
        words: &[String],
    ) -> Result<(Vec<usize>, Option<String>)> {
        let missing = self.table.missing(words);
        let first = missing.iter().min_by_key(|(_, rows)| rows[0]);
        if let Some((title, rows)) = first.filter(|_| !args.skip_missing) {
            let wrong = wrong!(
                "the value is empty, NA, null or NaN, expected a value; --skip-missing leaves out such rows"
            );
            return Err(wrong.at(rows[0], title)).on(&self.path, &self.table.lines);
        }
        let path = self.path.display();
        let mut counts: Vec<String> = (missing.iter().take(MOST_TOLD))
            .map(|(title, rows)| format!("{} in {title} of {path}", rows.len()))
            .collect();
        if let more @ 1.. = missing.len().saturating_sub(MOST_TOLD) {
            counts.push(format!("others in {more} more columns of {path}"));
        }
        let rows = missing.into_iter().flat_map(|(_, rows)| rows).collect();
        let said = !counts.is_empty();
        Ok((rows, said.then(|| counts.join(", "))))
    }
}

/// The most columns with missing values that are named.
const MOST_TOLD: usize = 20;

impl Files {
    /// Reads all but the labels of a file of their own.
    pub fn read(inputs: &Inputs, args: &SourceArgs, are_classes: bool) -> Result<Self> {
        let weights = args.labels.weights.as_deref();
        let is_file = |name: &&str| {
            let is_held = args.rows.held.get(name.as_ref()).is_some();
            is_held || split_array_name(name.as_ref()).0.exists()
        };
        let (file, column) = (
            weights.filter(is_file),
            weights.filter(|name| !is_file(name)),
        );
        let mut sets: Vec<File> = Vec::new();
        let are_beside = args.labels.labels.is_none();
        for path in &inputs.predictions {
            let mut options = options(&args.rows, are_classes);
            options.is_counted = !are_beside || !sets.is_empty();
            if !are_beside {
                options.label = WhichLabel::None;
                options.confidence = Some(args.rows.confidence_correctness);
            } else if let (false, WhichLabel::Named(name)) = (sets.is_empty(), options.label) {
                options.label = WhichLabel::IfThere(name);
            }
            options.models = inputs.models;
            options.weights = column.map(|column| (column, sets.is_empty()));
            if let Some(first) = sets.first().map(|first| &first.table) {
                options.confidence = Some(first.is_confidence);
                let correct = first.labels.first().map(|labels| labels.at);
                options.correct = correct.filter(|_| first.is_confidence);
            }
            let file = File::read(path, &options, &args.rows)?;
            ensure!(
                !are_beside || !sets.is_empty() || !file.table.labels.is_empty(),
                "no labels: expected --labels FILE, or --label-column COLUMN for a column of {}",
                path.display()
            );
            sets.push(file);
        }
        if !inputs.models.is_empty() {
            sets = sets.swap_remove(0).split(inputs.models)?;
        }
        let given = Options {
            header: Some(true),
            label: WhichLabel::All,
            confidence: Some(false),
            is_counted: true,
            ..Options::default()
        };
        let weights = file.map(|file| {
            let names = &sets[0].table.names;
            ensure!(
                !names.iter().any(|name| name == file),
                "--weights {file}: a file and a column of {} have this name, expected ./{file} for the file",
                sets[0].path.display()
            );
            let options = Options {
                header: None,
                index: Some(0),
                ..given
            };
            File::read(file.as_ref(), &options, &args.rows)
        });
        let weights = weights.transpose()?;
        let given = (inputs.given).map(|path| File::read(path, &given, &args.rows));
        let given = given.transpose()?;
        given.as_ref().map_or(Ok(()), given::check_header)?;
        Ok(Self {
            sets,
            labels: None,
            weights,
            given,
            samples: None,
            left_out: LeftOut::default(),
        })
    }

    /// Reads the labels of a file of their own, if there is one.
    pub fn read_labels(&mut self, args: &SourceArgs, options: &Options) -> Result<()> {
        let file = args.labels.labels.as_ref();
        let labels = file.map(|path| File::read(path, options, &args.rows));
        self.labels = labels.transpose()?;
        Ok(())
    }

    /// What a set of their predictions is, for a result of it.
    pub fn in_words<P: Kind>(&self, set: &P, class_names: Vec<String>) -> DataWords {
        DataWords {
            class_names,
            subject: set.predicted(),
            left_out: self.left_out,
            weights: self.samples.clone(),
            ..DataWords::new(set.len(), P::OUTCOMES(set.dimensions()))
        }
    }

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

    /// Puts rows of all files in the order of their ids, and leaves out those without a value and those with a
    /// label that is ignored. Words that are labels are no missing values.
    pub fn join(&mut self, args: &SourceArgs, words: &[String]) -> Result<()> {
        self.check_counts()?;
        let files = self.all();
        let files: Vec<align::File> = files
            .map(|file| (&*file.path, file.table.ids.as_ref()))
            .collect();
        let orders = align::rows(&files)?;
        for (file, order) in self.all_mut().zip(orders) {
            order.inspect(|order| file.table.select(order));
        }
        let n = self.sets[0].table.len();
        let mut is_left_out = vec![false; n];
        let mut said = Vec::new();
        let with_labels = self.sets.iter().chain(&self.labels);
        let with_words = with_labels.map(|file| (file, words));
        let others = self.weights.iter().chain(&self.given);
        let given = others.map(|file| (file, &[][..]));
        for (file, words) in with_words.chain(given) {
            let (rows, counts) = file.missing(&args.rows, words)?;
            said.extend(counts);
            rows.iter().for_each(|&row| is_left_out[row] = true);
        }
        let count = |rows: &[bool]| rows.iter().filter(|is_left_out| **is_left_out).count();
        let missing = count(&is_left_out);
        if missing > 0 {
            let said = said.join(", ");
            eprintln!(
                "calibration: {missing} of {n} rows are left out, because values are missing: {said}"
            );
        }
        if !args.labels.ignore_label.is_empty() {
            self.ignore(&args.labels.ignore_label, &mut is_left_out)?;
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
        self.weigh()
    }

    /// Leaves out the rows with one of some labels, and says how many there are.
    fn ignore(&self, ignored: &[String], is_left_out: &mut [bool]) -> Result<()> {
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
            say(path, words);
        }
        Ok(())
    }

    /// Checks that all files have as many rows as the first one.
    fn check_counts(&self) -> Result<()> {
        let (first, others) = self.sets.split_first().expect("there is a file");
        let expected = first.table.len();
        let has_header = |file: &File| file.table.has_header;
        let advice = |file: &File| match file.table.len() as i64 - expected as i64 {
            1 if !has_header(file) => "; add --labels-header yes if line 1 is a header",
            -1 if has_header(file) => {
                "; add --labels-header no if line 1 is not a header, or --classes if it names a class"
            }
            -1 => "; add --header yes if line 1 of the predictions is a header",
            _ => "",
        };
        let labels = self.labels.iter().map(|file| (file, advice(file)));
        let others = (others.iter().chain(&self.weights))
            .chain(&self.given)
            .map(|file| (file, ""));
        for (file, advice) in others.chain(labels) {
            let found = file.table.len();
            ensure!(
                found == expected,
                "{}: {found} rows, expected {expected}, as in {}{advice}",
                file.path.display(),
                first.path.display()
            );
        }
        Ok(())
    }
}
