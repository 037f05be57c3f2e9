//! The files of one call before their rows are read: which of their columns are what, and which they share.

use std::path::{Path, PathBuf};

use super::{File, Files, Inputs, rows::shared_name};
use crate::{
    Notes, OpenOptions, Opened, PredictionColumns, ReadOptions,
    choice::{by_id, is_id},
    clipped,
    error::{Context, Result, ensure, wrong},
    labels::WORDS,
    open::is_standard_input,
    split_array_name,
};

/// The files of one call, whose rows are still to be read.
pub struct OpenFiles<'a> {
    options: &'a ReadOptions,
    models: &'a [String],
    are_classes: bool,
    sets: Vec<Opened>,
    labels: Option<Opened>,
    weights: Option<Opened>,
    given: Option<Opened>,
}

impl File {
    /// Reads a file of predictions by itself, whose other columns are passed through.
    ///
    /// # Errors
    ///
    /// A file that is none of predictions, with the row and the column.
    pub fn alone(
        path: &Path,
        options: &ReadOptions,
        are_classes: bool,
        notes: &mut Notes,
    ) -> Result<Self> {
        let mut file = Self::chosen(path, options, are_classes)?;
        let choice = &mut file.choice;
        if !choice.is_confidence {
            choice.labels.clear(); // they are passed through
        }
        choice.id = None;
        let is_other = |column: &usize| !choice.numbers.contains(column);
        choice.others = (0..file.columns.len()).filter(is_other).collect();
        Self::read(file, options.numbers.percent, notes)
    }

    /// Reads a file of predictions whose labels may come later, with the column of `--id`, and that of the labels if it
    /// is there.
    ///
    /// # Errors
    ///
    /// A file that is none of predictions, with the row and the column.
    pub fn with_ids(
        path: &Path,
        options: &ReadOptions,
        are_classes: bool,
        notes: &mut Notes,
    ) -> Result<Self> {
        let file = Self::chosen(path, options, are_classes)?;
        Self::read(file, options.numbers.percent, notes)
    }

    /// Opens a file of predictions, and chooses its columns. The labels must be there if they have no file of their own.
    fn chosen(path: &Path, options: &ReadOptions, are_classes: bool) -> Result<Opened> {
        let mut file = Opened::new(path, &opening(options, are_classes))?;
        let label = options.label_column.as_deref();
        file.choose_predictions(&PredictionColumns {
            label: label.map(|label| (label, options.labels.is_none())),
            ..columns(options, are_classes)
        })?;
        Ok(file)
    }

    /// Reads the rows, and says what was taken for what.
    fn read(file: Opened, are_percentages: bool, notes: &mut Notes) -> Result<Self> {
        let (path, own) = (file.path.clone(), file.notes.join("; "));
        let table = file.read(are_percentages)?;
        if !own.is_empty() {
            notes.say(&path, own);
        }
        Ok(Self { path, table })
    }
}

/// The options of opening a file of predictions.
fn opening(options: &ReadOptions, are_classes: bool) -> OpenOptions<'_> {
    let numbers = &options.numbers;
    OpenOptions {
        is_counted: false,
        are_probabilities: are_classes && !numbers.logits && !numbers.log_probabilities,
        ..opening_beside(options, options.header)
    }
}

/// How a file beside predictions is opened, whose rows are as many as theirs.
fn opening_beside(options: &ReadOptions, header: Option<bool>) -> OpenOptions<'_> {
    OpenOptions {
        header,
        delimiter: options.delimiter,
        is_counted: true,
        blank_is_row: options.skip_missing,
        texts: Some(&options.texts),
        ..OpenOptions::default()
    }
}

/// The options about the columns of a file of predictions.
fn columns(options: &ReadOptions, are_classes: bool) -> PredictionColumns<'_> {
    let is_confidence = options.confidence_correctness;
    let is_told =
        is_confidence || options.label_column.is_some() || options.numbers.positive || !are_classes;
    PredictionColumns {
        columns: options.columns.as_deref(),
        id: options.id.as_deref(),
        confidence: is_told.then_some(is_confidence),
        are_classes,
        ..PredictionColumns::default()
    }
}

/// The file and the columns of `FILE:COLUMNS`, such as `risk.csv:site,age`; no columns of a file that has this name.
fn split_columns(path: &Path) -> (PathBuf, Option<String>) {
    let text = path.to_string_lossy();
    match text.rsplit_once(':') {
        Some((file, columns)) if !path.exists() => (file.into(), Some(columns.to_owned())),
        _ => (path.to_path_buf(), None),
    }
}

/// Whether weights are those of a file, and not a column.
fn is_file(name: &str) -> bool {
    let file = split_array_name(name.as_ref()).0;
    is_standard_input(&file) || file.exists()
}

impl<'a> OpenFiles<'a> {
    /// Opens all files but the labels of a file of their own.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened, and a column that is named and not there.
    pub fn new(inputs: &Inputs<'a>, options: &'a ReadOptions, are_classes: bool) -> Result<Self> {
        let mut files = Self {
            options,
            models: inputs.models,
            are_classes,
            sets: Vec::new(),
            labels: None,
            weights: None,
            given: None,
        };
        let given = inputs.given.map(split_columns);
        for path in &inputs.predictions {
            let of_same = given.as_ref().filter(|(file, _)| file == path);
            let columns = of_same.and_then(|(_, columns)| columns.as_deref());
            files.open_set(path, columns, are_classes)?;
        }
        if let Some(name) = options.weights.as_deref().filter(|name| is_file(name)) {
            files.open_weights(name)?;
        }
        if let Some((path, columns)) = &given {
            files.open_given(path, columns.as_deref())?;
        }
        Ok(files)
    }

    /// Opens a file of predictions, of whose columns some may be variables.
    fn open_set(&mut self, path: &Path, given: Option<&str>, are_classes: bool) -> Result<()> {
        let (options, is_first) = (self.options, self.sets.is_empty());
        let are_beside = options.labels.is_none();
        let weights = options.weights.as_deref();
        let weights = weights.filter(|name| !is_file(name));
        let mut columns = PredictionColumns {
            models: self.models,
            given,
            weights: weights.map(|column| (column, is_first)),
            has_label_file: !are_beside,
            ..columns(options, are_classes)
        };
        if are_beside {
            columns.label = (options.label_column.as_deref()).map(|label| (label, is_first));
        } else {
            columns.confidence = Some(options.confidence_correctness);
        }
        if let Some(first) = self.sets.first().map(|first| &first.choice) {
            columns.confidence = Some(first.is_confidence);
            let correct = first.labels.first().copied();
            columns.correct = correct.filter(|_| first.is_confidence);
        }
        let opening = OpenOptions {
            is_counted: !are_beside || !is_first,
            ..opening(options, are_classes)
        };
        let mut file = Opened::new(path, &opening)?;
        file.choose_predictions(&columns)?;
        if are_beside && is_first && file.choice.labels.is_empty() {
            let text = file
                .choice
                .left_out
                .first()
                .map(|&column| file.title(column));
            let hint = text.map_or(String::new(), |title| format!("; {title} is text"));
            return Err(wrong!(
                "no labels: expected --labels FILE, or --label-column COLUMN for a column of {}{hint}",
                path.display()
            ));
        }
        file.note_left_out();
        self.sets.push(file);
        Ok(())
    }

    fn open_weights(&mut self, name: &str) -> Result<()> {
        let first = &self.sets[0];
        ensure!(
            !first.names().iter().any(|column| column == name),
            "--weights {name}: a file and a column of {} have this name, expected ./{name} for the file",
            first.path.display()
        );
        let options = self.options;
        let opening = opening_beside(options, None);
        let mut file = Opened::new(name.as_ref(), &opening)?;
        file.choose_variables(options.id.as_deref(), None, |_| false)?;
        let (known, columns) = (self.known(), &mut file.choice.labels);
        if columns.len() > 1 {
            let is_known = |name: &String| !name.is_empty() && known.contains(&shared_name(name));
            columns.retain(|&at| !is_known(&file.columns[at].name));
        }
        self.weights = Some(file);
        Ok(())
    }

    /// Opens a file of variables: of those that are named, or of all columns but those that name rows and the predictions.
    fn open_given(&mut self, path: &Path, columns: Option<&str>) -> Result<()> {
        let opening = opening_beside(self.options, Some(true));
        let mut file = Opened::new(path, &opening)?;
        let id = self.options.id.as_deref();
        let known = self.known();
        let own: Vec<String> = (self.sets.iter())
            .flat_map(|set| {
                let columns = set.choice.numbers.iter().chain(&set.choice.weights);
                columns.map(|&column| set.columns[column].name.clone())
            })
            .filter(|name| !name.is_empty())
            .collect();
        let is_key = |name: &str| known.contains(&shared_name(name)) && is_id(name);
        let is_own = |name: &str| own.iter().any(|other| other == name);
        file.choose_variables(id, columns, |name| is_key(name) || is_own(name))?;
        let titles = |is_such: &dyn Fn(&str) -> bool| {
            let all = (0..file.columns.len()).filter(|at| Some(*at) != file.choice.id);
            let such = all.filter(|&at| columns.is_none() && is_such(&file.columns[at].name));
            such.map(|at| file.title(at)).collect::<Vec<_>>()
        };
        let keys = titles(&is_key);
        let predictions = titles(&|name| is_own(name) && !is_key(name));
        if let Some(title) = keys.first() {
            let note = format!("{title} names the rows, as in other files, and is left out");
            file.notes.push(note);
        }
        if !predictions.is_empty() {
            let titles = clipped(&predictions.join(", "));
            let note = format!("the predictions are no variables, and left out: {titles}");
            file.notes.push(note);
        }
        let is_name = |column: &usize| file.columns[*column].name.parse::<f64>().is_err();
        ensure!(
            file.has_header && file.choice.labels.iter().any(is_name),
            "{}: expected a header with the names of the columns in the first line",
            path.display()
        );
        self.given = Some(file);
        Ok(())
    }

    /// The names of columns that files of predictions have besides the predictions.
    fn known(&self) -> Vec<String> {
        let shared = self.sets.iter().flat_map(|set| shared(set, true));
        shared.map(|(_, name)| name).collect()
    }

    /// The names of the columns of the first predictions.
    pub fn names(&self) -> Vec<String> {
        let names = self.sets[0].names();
        let columns = self.sets[0].choice.numbers.iter();
        let of_columns = columns.filter_map(|&column| names.get(column));
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

    /// Opens the labels of classes in a file of their own, if there is one: labels as text, or frequencies. Names of the
    /// classes are no header.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened, and a column that is named and not there.
    pub fn open_labels(&mut self, names: &[String]) -> Result<()> {
        if self.options.soft_labels {
            return self.open_targets();
        }
        let words = WORDS.as_flattened().iter().map(|word| word.to_string());
        let words: Vec<String> = names.iter().cloned().chain(words).collect();
        self.open_beside(false, &words)
    }

    /// Opens the targets in a file of their own, if there is one.
    ///
    /// # Errors
    ///
    /// The errors of [`OpenFiles::open_labels`].
    pub fn open_targets(&mut self) -> Result<()> {
        self.open_beside(true, &[])
    }

    fn open_beside(&mut self, are_numbers: bool, words: &[String]) -> Result<()> {
        let options = self.options;
        let Some(path) = &options.labels else {
            return Ok(());
        };
        let opening = OpenOptions {
            words,
            ..opening_beside(options, options.labels_header)
        };
        let mut file = Opened::new(path, &opening)?;
        let names = (options.label_column.as_deref(), options.id.as_deref());
        file.choose_labels(names, are_numbers, &self.known())?;
        file.note_left_out();
        self.labels = Some(file);
        Ok(())
    }

    /// Reads the rows of all files, matches them, and leaves out those without a value and those with a label that is
    /// ignored.
    ///
    /// # Errors
    ///
    /// What is wrong in a file, with the row and the column; files whose rows are not those of the same samples.
    pub fn read(mut self, words: &[String], notes: &mut Notes) -> Result<Files> {
        if !self.options.by_position {
            self.find_shared()?;
        }
        let percent = self.options.numbers.percent;
        let sets = self.sets.into_iter();
        let sets = sets.map(|set| File::read(set, percent, notes));
        let mut sets = sets.collect::<Result<Vec<_>>>()?;
        if !self.models.is_empty() {
            sets = sets.swap_remove(0).split(self.models)?;
        }
        let mut read = |file: Option<Opened>| {
            let read = file.map(|file| File::read(file, false, notes));
            read.transpose()
        };
        let files = Files {
            sets,
            labels: read(self.labels)?,
            weights: read(self.weights)?,
            given: read(self.given)?,
            ..Files::default()
        };
        files.joined(self.options, self.are_classes, words, notes)
    }

    /// Finds the columns that files share, which must agree, and refuses columns of predictions that no option names and
    /// another file has.
    fn find_shared(&mut self) -> Result<()> {
        let sets = self.sets.iter_mut().map(|set| (set, true));
        let others = [&mut self.labels, &mut self.weights, &mut self.given];
        let others = others.into_iter().flatten().map(|file| (file, false));
        let mut files: Vec<(&mut Opened, bool)> = sets.chain(others).collect();
        let names: Vec<Vec<(usize, String)>> = (files.iter())
            .map(|(file, are_predictions)| shared(file, *are_predictions).collect())
            .collect();
        let has = |at: usize, name: &str| names[at].iter().any(|(_, other)| other == name);
        for at in 0..files.len() {
            let others = || (0..files.len()).filter(|k| *k != at);
            let (own, are_predictions) = &files[at];
            for k in others().filter(|&k| *are_predictions && !files[k].1) {
                check_default(own, files[k].0, |name| has(k, name))?;
            }
            let columns = names[at].iter();
            let columns = columns.filter(|(_, name)| others().any(|k| has(k, name)));
            let columns = columns.map(|(column, _)| *column).collect();
            files[at].0.choice.others = columns;
        }
        Ok(())
    }
}

/// The columns of a file that others may share, each with its name there.
fn shared(file: &Opened, are_predictions: bool) -> impl Iterator<Item = (usize, String)> {
    let columns = file.columns.iter().enumerate();
    let columns = columns.filter(move |(column, _)| {
        let is_number = are_predictions && file.choice.numbers.contains(column);
        file.has_header && !is_number
    });
    let named = columns.map(|(column, info)| (column, shared_name(&info.name)));
    named.filter(|(column, name)| !name.is_empty() || file.is_index(*column))
}

/// Refuses a column among predictions that no option names if a file of labels or variables has it too.
fn check_default(own: &Opened, other: &Opened, has: impl Fn(&str) -> bool) -> Result<()> {
    let numbers = &own.choice.numbers;
    if !own.choice.is_default || !own.has_header {
        return Ok(());
    }
    let name = |column: usize| &own.columns[column].name;
    let labels: Vec<&String> = (other.choice.labels.iter().chain(&other.choice.numbers))
        .map(|&column| &other.columns[column].name)
        .collect();
    // labels in several columns have the names of the predictions, and so has a file with all of them
    let is_there =
        |column: usize| has(&shared_name(name(column))) && !labels.contains(&name(column));
    let is_part = !numbers.iter().all(|&column| is_there(column));
    let mut found =
        (numbers.iter().copied()).find(|&column| labels.len() == 1 && labels[0] == name(column));
    if is_part {
        found = found.or(numbers.iter().copied().find(|&column| is_there(column)));
    }
    let Some(column) = found else {
        return Ok(());
    };
    let path = other.path.display();
    // as pandas names the columns of a table and of a series
    let are_counts = (numbers.iter()).all(|&column| name(column).parse::<usize>().is_ok());
    if are_counts {
        let wrong = wrong!(
            "{} is in {path} too, where its name only counts, expected {} if it holds predictions, or {} to leave it out",
            own.title(column),
            own.columns_option("--columns", numbers, None),
            own.columns_option("--columns", numbers, Some(column))
        );
        return Err(wrong).of(&own.path);
    }
    let why = format_args!("is in {path} too");
    let hint = format_args!("; {}", by_id(name(column)));
    Err(own.refused(numbers, column, why, "", hint)).of(&own.path)
}
