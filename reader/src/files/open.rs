//! The files of one call before their rows are read: which of their columns are what, and which they share.

use super::{File, Files, Inputs, LeftOut, rows::shared_name};
use crate::{
    Choice, Memory, Notes, OpenOptions, Opened, PredictionColumns, ReadOptions,
    choice::{columns_option, is_id},
    clipped,
    error::{Context, Result, ensure, wrong},
    open::is_standard_input,
    split_array_name,
};
use std::path::{Path, PathBuf};

/// A file whose columns are known.
pub struct OpenFile {
    file: Opened,
    choice: Choice,
    /// Columns that are read as text besides.
    others: Vec<usize>,
}

/// The files of one call, whose rows are still to be read.
pub struct OpenFiles<'a> {
    options: &'a ReadOptions,
    models: &'a [String],
    sets: Vec<OpenFile>,
    labels: Option<OpenFile>,
    weights: Option<OpenFile>,
    given: Option<OpenFile>,
}

/// What the file of the labels holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelFile {
    /// Labels as text.
    Labels,
    /// Targets or frequencies.
    Numbers,
}

impl OpenFile {
    fn new(file: Opened, choice: Choice) -> Self {
        Self {
            file,
            choice,
            others: Vec::new(),
        }
    }

    /// Opens a file of predictions by itself, whose other columns are passed through.
    pub fn alone(path: &Path, options: &ReadOptions, are_classes: bool) -> Result<Self> {
        let mut file = Opened::new(path, &options.memory, &opening(options, are_classes))?;
        let columns = PredictionColumns {
            label: options.label_column.as_deref().map(|label| (label, true)),
            ..columns(options, are_classes)
        };
        let choice = Choice::of_predictions(&mut file, &columns)?;
        let is_other = |column: &usize| !choice.numbers.contains(column);
        let others = (0..file.columns.len()).filter(is_other).collect();
        let mut choice = choice;
        if !choice.is_confidence {
            choice.labels.clear(); // they are passed through
        }
        choice.id = None;
        Ok(Self {
            file,
            choice,
            others,
        })
    }

    /// Reads the rows, and says what was taken for what.
    pub fn read(self, are_percentages: bool, notes: &mut Notes) -> Result<File> {
        let Self {
            file,
            choice,
            others,
        } = self;
        let (path, own) = (file.path.clone(), file.notes.join("; "));
        let table = file.read(&choice, &others, are_percentages)?;
        if !own.is_empty() {
            notes.say(&path, own);
        }
        Ok(File { path, table })
    }

    /// The columns that other files may share, each with its name there.
    fn shared(&self, are_predictions: bool) -> impl Iterator<Item = (usize, String)> {
        let columns = self.file.columns.iter().enumerate();
        let columns = columns.filter(move |(column, _)| {
            let is_number = are_predictions && self.choice.numbers.contains(column);
            self.file.has_header && !is_number
        });
        let named = columns.map(|(column, info)| (column, shared_name(&info.name)));
        named.filter(|(column, name)| !name.is_empty() || self.file.is_index(*column))
    }
}

/// How a file of predictions is opened.
fn opening(options: &ReadOptions, are_classes: bool) -> OpenOptions<'_> {
    let numbers = &options.numbers;
    OpenOptions {
        header: options.header,
        delimiter: options.delimiter,
        are_probabilities: are_classes && !numbers.logits && !numbers.log_probabilities,
        blank_is_row: options.skip_missing,
        ..OpenOptions::default()
    }
}

/// What the options say of the columns of a file of predictions.
fn columns(options: &ReadOptions, are_classes: bool) -> PredictionColumns<'_> {
    let is_confidence = options.confidence_correctness;
    let is_told =
        is_confidence || options.label_column.is_some() || options.numbers.positive || !are_classes;
    PredictionColumns {
        columns: options.columns.as_deref(),
        id: options.id.as_deref(),
        confidence: is_told.then_some(is_confidence),
        ..PredictionColumns::default()
    }
}

/// The file and the columns of `FILE:COLUMNS`, such as `risk.csv:site,age`; no columns of a file that has this name.
pub fn split_columns(path: &Path, memory: &Memory) -> (PathBuf, Option<String>) {
    let text = path.to_string_lossy();
    match text.rsplit_once(':') {
        Some((file, columns)) if memory.get(path).is_none() && !path.exists() => {
            (file.into(), Some(columns.to_owned()))
        }
        _ => (path.to_path_buf(), None),
    }
}

/// Checks that a file has names of columns, which numbers are not.
fn check_header(file: &Opened, choice: &Choice) -> Result<()> {
    let is_name = |column: &usize| file.columns[*column].name.parse::<f64>().is_err();
    ensure!(
        file.is_held() || file.has_header && choice.labels.iter().any(is_name),
        "{}: expected a header with the names of the columns in the first line",
        file.path.display()
    );
    Ok(())
}

impl<'a> OpenFiles<'a> {
    /// Opens all files but the labels of a file of their own.
    pub fn new(inputs: &Inputs<'a>, options: &'a ReadOptions, are_classes: bool) -> Result<Self> {
        let weights = options.weights.as_deref();
        let is_file = |name: &&str| {
            let is_held = options.memory.get(name.as_ref()).is_some();
            let file = split_array_name(name.as_ref()).0;
            is_held || is_standard_input(&file) || file.exists()
        };
        let (file, column) = (
            weights.filter(is_file),
            weights.filter(|name| !is_file(name)),
        );
        let are_beside = options.labels.is_none();
        let given = (inputs.given).map(|given| split_columns(given, &options.memory));
        let mut sets: Vec<OpenFile> = Vec::new();
        for path in &inputs.predictions {
            let is_first = sets.is_empty();
            let opening = OpenOptions {
                is_counted: !are_beside || !is_first,
                ..opening(options, are_classes)
            };
            let mut columns = PredictionColumns {
                models: inputs.models,
                given: given
                    .as_ref()
                    .filter(|(file, _)| file == path)
                    .and_then(|(_, columns)| columns.as_deref()),
                weights: column.map(|column| (column, is_first)),
                has_label_file: !are_beside,
                ..columns(options, are_classes)
            };
            if are_beside {
                columns.label = options
                    .label_column
                    .as_deref()
                    .map(|label| (label, is_first));
            } else {
                columns.confidence = Some(options.confidence_correctness);
            }
            if let Some(first) = sets.first().map(|first| &first.choice) {
                columns.confidence = Some(first.is_confidence);
                let correct = first.labels.first().copied();
                columns.correct = correct.filter(|_| first.is_confidence);
            }
            let mut file = Opened::new(path, &options.memory, &opening)?;
            let choice = Choice::of_predictions(&mut file, &columns)?;
            if are_beside && is_first && choice.labels.is_empty() {
                let text = choice.left_out.first().map(|&column| file.title(column));
                let hint = text.map_or(String::new(), |title| format!("; {title} is text"));
                return Err(wrong!(
                    "no labels: expected --labels FILE, or --label-column COLUMN for a column of {}{hint}",
                    path.display()
                ));
            }
            file.notes.extend(choice.note(&file));
            sets.push(OpenFile::new(file, choice));
        }
        let open = |path: &Path, header| {
            let opening = OpenOptions {
                header,
                delimiter: options.delimiter,
                is_counted: true,
                blank_is_row: options.skip_missing,
                ..OpenOptions::default()
            };
            Opened::new(path, &options.memory, &opening)
        };
        let mut files = Self {
            options,
            models: inputs.models,
            sets,
            labels: None,
            weights: None,
            given: None,
        };
        let id = options.id.as_deref();
        if let Some(name) = file {
            ensure!(
                !files.sets[0]
                    .file
                    .names()
                    .iter()
                    .any(|column| column == name),
                "--weights {name}: a file and a column of {} have this name, expected ./{name} for the file",
                files.sets[0].file.path.display()
            );
            let mut file = open(name.as_ref(), None)?;
            let known = files.known();
            let mut choice = Choice::of_variables(&mut file, id, |_| false)?;
            if choice.labels.len() > 1 {
                let is_known =
                    |name: &String| !name.is_empty() && known.contains(&shared_name(name));
                choice
                    .labels
                    .retain(|&at| !is_known(&file.columns[at].name));
            }
            files.weights = Some(OpenFile::new(file, choice));
        }
        if let Some((path, columns)) = given {
            let mut file = open(&path, Some(true))?;
            let choice = match columns {
                Some(spec) => Choice::of_named(&mut file, id, &spec)?,
                None => files.variables(&mut file, id)?,
            };
            check_header(&file, &choice)?;
            files.given = Some(OpenFile::new(file, choice));
        }
        Ok(files)
    }

    /// The variables of a file of which none is named: all columns but those that name rows and the predictions.
    fn variables(&self, file: &mut Opened, id: Option<&str>) -> Result<Choice> {
        let known = self.known();
        let own = self.sets.iter().flat_map(|set| {
            let columns = set.choice.numbers.iter().chain(&set.choice.weights);
            let names = columns.map(|&column| set.file.columns[column].name.clone());
            names.filter(|name| !name.is_empty())
        });
        let own: Vec<String> = own.collect();
        // columns in memory are what the program says
        let is_held = file.is_held();
        let is_key = |name: &str| !is_held && known.contains(&shared_name(name)) && is_id(name);
        let is_own = |name: &str| !is_held && own.iter().any(|other| other == name);
        let choice = Choice::of_variables(file, id, |name| is_key(name) || is_own(name))?;
        let titles = |is_such: &dyn Fn(&str) -> bool| {
            let all = (0..file.columns.len()).filter(|at| Some(*at) != choice.id);
            let such = all.filter(|&at| is_such(&file.columns[at].name));
            such.map(|at| file.title(at)).collect::<Vec<_>>()
        };
        let (keys, predictions) = (
            titles(&is_key),
            titles(&|name| is_own(name) && !is_key(name)),
        );
        if let Some(title) = keys.first() {
            let note = format!("{title} names the rows, as in other files, and is left out");
            file.notes.push(note);
        }
        if !predictions.is_empty() {
            let titles = clipped(&predictions.join(", "));
            let note = format!("the predictions are no variables, and left out: {titles}");
            file.notes.push(note);
        }
        Ok(choice)
    }

    /// The names of columns that files of predictions have besides the predictions.
    fn known(&self) -> Vec<String> {
        let shared = self.sets.iter().flat_map(|set| set.shared(true));
        shared.map(|(_, name)| name).collect()
    }

    /// How the files are read.
    pub fn options(&self) -> &'a ReadOptions {
        self.options
    }

    /// The names of the columns of the first predictions.
    pub fn names(&self) -> Vec<String> {
        let OpenFile { file, choice, .. } = &self.sets[0];
        let names = file.names();
        let of_columns = choice
            .numbers
            .iter()
            .filter_map(|&column| names.get(column));
        of_columns.cloned().collect()
    }

    /// The number of columns of the first predictions, of which one may be a column of lists.
    pub fn width(&self) -> usize {
        self.sets[0].choice.numbers.len()
    }

    /// Whether the first predictions are confidences.
    pub fn is_confidence(&self) -> bool {
        self.sets[0].choice.is_confidence
    }

    /// Opens the labels of a file of their own, if there is one. Words that are labels are no header.
    pub fn open_labels(&mut self, what: LabelFile, words: &[String]) -> Result<()> {
        let options = self.options;
        let Some(path) = &options.labels else {
            return Ok(());
        };
        let opening = OpenOptions {
            header: options.labels_header,
            delimiter: options.delimiter,
            is_counted: true,
            words,
            blank_is_row: options.skip_missing,
            ..OpenOptions::default()
        };
        let mut file = Opened::new(path, &options.memory, &opening)?;
        let names = (options.label_column.as_deref(), options.id.as_deref());
        let are_numbers = what == LabelFile::Numbers;
        let choice = Choice::of_labels(&mut file, names, are_numbers, &self.known())?;
        file.notes.extend(choice.note(&file));
        self.labels = Some(OpenFile::new(file, choice));
        Ok(())
    }

    /// Reads the rows of all files, matches them, and leaves out those without a value and those with a label that is
    /// ignored.
    pub fn read(mut self, words: &[String], notes: &mut Notes) -> Result<Files> {
        self.find_shared()?;
        let percent = self.options.numbers.percent;
        let sets = self.sets.into_iter().map(|set| set.read(percent, notes));
        let mut sets = sets.collect::<Result<Vec<_>>>()?;
        let mut read = |file: Option<OpenFile>| {
            let read = file.map(|file| file.read(false, notes));
            read.transpose()
        };
        if !self.models.is_empty() {
            sets = sets.swap_remove(0).split(self.models)?;
        }
        let mut files = Files {
            sets,
            labels: read(self.labels)?,
            weights: read(self.weights)?,
            given: read(self.given)?,
            row_weights: None,
            left_out: LeftOut::default(),
        };
        files.join(self.options, words, notes)?;
        Ok(files)
    }

    /// Finds the columns that files share, which must agree, and refuses columns of predictions that no option names and
    /// another file has.
    fn find_shared(&mut self) -> Result<()> {
        let by_position = self.options.by_position;
        let mut files: Vec<(&mut OpenFile, bool)> =
            self.sets.iter_mut().map(|set| (set, true)).collect();
        let others = [&mut self.labels, &mut self.weights, &mut self.given];
        files.extend(others.into_iter().flatten().map(|file| (file, false)));
        let names: Vec<Vec<String>> = (files.iter())
            .map(|(file, are_predictions)| {
                let shared = file.shared(*are_predictions);
                shared.map(|(_, name)| name).collect()
            })
            .collect();
        for at in 0..files.len() {
            let is_other = |(k, (_, are_predictions)): &(usize, &(&mut OpenFile, bool))| {
                *k != at && !are_predictions
            };
            for (k, (other, _)) in files.iter().enumerate().filter(is_other) {
                let (own, are_predictions) = &files[at];
                if *are_predictions && !by_position {
                    check_default(own, other, &names[k])?;
                }
            }
            let has = |name: &str| {
                let others = names.iter().enumerate().filter(|(k, _)| *k != at);
                others
                    .flat_map(|(_, names)| names)
                    .any(|other| other == name)
            };
            let (own, are_predictions) = &mut files[at];
            let shared = own.shared(*are_predictions);
            let shared = shared.filter(|(_, name)| !by_position && has(name));
            own.others = shared.map(|(column, _)| column).collect();
        }
        Ok(())
    }
}

/// Refuses a column among predictions that no option names if a file of labels or variables has it too.
fn check_default(own: &OpenFile, other: &OpenFile, names: &[String]) -> Result<()> {
    let OpenFile { file, choice, .. } = own;
    if !choice.is_default || !file.has_header {
        return Ok(());
    }
    let name = |column: usize| &file.columns[column].name;
    let labels: Vec<&String> = (other.choice.labels.iter().chain(&other.choice.numbers))
        .map(|&column| &other.file.columns[column].name)
        .collect();
    let is_found = |column: &usize| match &labels[..] {
        [only] => *only == name(*column),
        _ => false,
    };
    // labels in several columns have the names of the predictions, and so has a file with all of them
    let is_there = |column: &usize| {
        names.contains(&shared_name(name(*column))) && !labels.contains(&name(*column))
    };
    let numbers = || choice.numbers.iter().copied();
    let found = numbers().find(is_found);
    let is_part = !numbers().all(|column| is_there(&column));
    let found = found.or_else(|| numbers().find(is_there).filter(|_| is_part));
    let Some(column) = found else {
        return Ok(());
    };
    let rest: Vec<usize> = numbers().filter(|other| *other != column).collect();
    let name = name(column);
    let wrong = wrong!(
        "{} is in {} too, expected {}, or {} if it holds predictions; --id {name} leaves it out and matches rows by it",
        file.title(column),
        other.file.path.display(),
        columns_option(&rest, file),
        columns_option(&choice.numbers, file)
    );
    Err(wrong).of(&file.path)
}
