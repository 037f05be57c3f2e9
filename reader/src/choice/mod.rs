//! Which columns of a file are what: those that options name, and no others by a guess.

mod labels;

use std::fmt::Display;

use crate::{
    ColumnInfo, ColumnKind, Opened, clipped, counted,
    error::{Context, Error, Result, bail, ensure, wrong},
    of_model,
    select::by_name,
};

/// The columns of a file that are read, by their places.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Columns of numbers.
    pub numbers: Vec<usize>,
    /// Columns of labels or variables, read as text.
    pub labels: Vec<usize>,
    /// The column of weights.
    pub weights: Option<usize>,
    /// The column that names the rows.
    pub id: Option<usize>,
    /// Columns that are read as text besides.
    pub others: Vec<usize>,
    /// Columns that are left out because they are text.
    pub left_out: Vec<usize>,
    /// Whether the numbers are confidences, and the labels say which were right.
    pub is_confidence: bool,
    /// Whether the numbers are those that are left when no option names any.
    pub is_default: bool,
}

/// The options about the columns of a file of predictions.
#[derive(Debug, Clone, Copy, Default)]
pub struct PredictionColumns<'a> {
    /// The columns of numbers.
    pub columns: Option<&'a str>,
    /// The column of the labels, and whether it must be there.
    pub label: Option<(&'a str, bool)>,
    /// The column of weights, and whether it must be there.
    pub weights: Option<(&'a str, bool)>,
    /// The column that names the rows.
    pub id: Option<&'a str>,
    /// Variables that are columns of the same file.
    pub given: Option<&'a str>,
    /// The prefixes of the names of the columns of several models.
    pub models: &'a [String],
    /// Whether the columns are confidence and correctness, if their names do not say it.
    pub confidence: Option<bool>,
    /// The column of correctness where no name tells it.
    pub correct: Option<usize>,
    /// Whether a file of their own has the labels.
    pub has_label_file: bool,
    /// Whether they are predictions of classes.
    pub are_classes: bool,
}

const CONFIDENCE: [&str; 5] = ["confidence", "conf", "confidences", "probability", "prob"];
const CORRECT: [&str; 5] = ["accuracy", "acc", "correct", "correctness", "hit"];

/// Names of columns that name rows, and ends of such names.
const IDS: [&str; 16] = [
    "id",
    "ids",
    "idx",
    "index",
    "row",
    "rows",
    "rowid",
    "row_number",
    "rownum",
    "level_0",
    "sample",
    "uuid",
    "guid",
    "key",
    "timestamp",
    "fold",
];
const ENDS_OF_IDS: [&str; 6] = ["_id", "_idx", "_index", ".id", "-id", " id"];

/// Names of columns of labels.
const LABELS: [&str; 9] = [
    "label", "labels", "target", "targets", "y", "y_true", "class", "truth", "outcome",
];

/// Names of columns of the classes that were predicted.
const PREDICTED: [&str; 5] = ["pred", "predicted", "prediction", "y_pred", "yhat"];

/// Whether a name is that of a column that names rows.
pub fn is_id(name: &str) -> bool {
    let lower = name.to_lowercase();
    IDS.contains(&&*lower)
        || ENDS_OF_IDS.iter().any(|end| lower.ends_with(end))
        || name.ends_with("Id")
}

impl Opened {
    /// Chooses the columns of predictions.
    ///
    /// # Errors
    ///
    /// A column that is named and not there; one that is no prediction by its name, where none is named.
    pub fn choose_predictions(&mut self, options: &PredictionColumns) -> Result<()> {
        let chosen = self.predictions(options);
        self.choice = chosen.of(&self.path)?;
        Ok(())
    }

    fn predictions(&mut self, options: &PredictionColumns) -> Result<Choice> {
        let labels = self.select_named(options.label, "--label-column")?;
        self.check_labels(&labels)?;
        let weights = self.select_named(options.weights, "--weights")?;
        let weights = weights.first().copied();
        let id = self.select_id(options.id)?;
        let given = options.given.map(|spec| (spec, true));
        let given = self.select_named(given, "--given")?;
        let is_named = |column: &usize| {
            let are_variables = labels.contains(column) || given.contains(column);
            are_variables || [weights, id].contains(&Some(*column))
        };
        let chosen = options.columns.map(|spec| self.select(spec, "--columns"));
        let chosen = match options.models {
            [] => chosen.transpose()?,
            models => {
                let mut columns = self.select_models(models)?;
                columns.retain(|column| !is_named(column));
                Some(columns)
            }
        };
        let names = self.names();
        let is_default = chosen.is_none();
        let (numbers, left_out) = match (chosen, self.fields()) {
            (Some(chosen), _) => (chosen, Vec::new()),
            (None, Some(fields)) => {
                let both = by_name(&names, &CONFIDENCE).zip(by_name(&names, &CORRECT));
                match both.filter(|_| options.confidence != Some(false)) {
                    Some((confidence, correct)) => (vec![confidence, correct], Vec::new()),
                    None => bail!(
                        "JSON Lines with the fields {fields}, expected --columns to name those of the predictions: a \
                         field within another is outer.inner, of a list list.0, or list.*.0 of all its elements"
                    ),
                }
            }
            (None, None) => {
                let others = self.data_columns().filter(|column| !is_named(column));
                others.partition(|&column| {
                    let kind = &self.columns[column].kind;
                    matches!(kind, ColumnKind::Numbers | ColumnKind::Lists)
                })
            }
        };
        let [of_weights, of_id] = [&weights, &id].map(Option::as_slice);
        for (option, columns, others, what) in [
            ("--label-column", &labels[..], &numbers[..], "predictions"),
            ("--weights", of_weights, &numbers, "predictions"),
            ("--id", of_id, &numbers, "predictions"),
            ("--given", &given, &numbers, "predictions"),
            ("--weights", of_weights, &labels, "labels"),
            ("--id", of_id, &labels, "labels"),
            ("--id", of_id, of_weights, "weights"),
        ] {
            if let Some(column) = columns.iter().find(|column| others.contains(column)) {
                let title = self.title(*column);
                bail!("{option}: {title} is one of the {what}, expected another column");
            }
        }
        let mut choice = Choice {
            numbers,
            labels,
            weights,
            id,
            left_out,
            is_default,
            ..Choice::default()
        };
        choice.find_confidence(&names, options)?;
        if is_default && !choice.is_confidence {
            self.check_default(&mut choice, options)?;
        }
        Ok(choice)
    }

    /// Refuses columns that are no predictions by their names.
    fn check_default(&mut self, choice: &mut Choice, options: &PredictionColumns) -> Result<()> {
        let numbers = &choice.numbers;
        let is_list = |column: &&usize| self.columns[**column].kind == ColumnKind::Lists;
        let lists: Vec<usize> = numbers.iter().filter(is_list).copied().collect();
        if let ([list], true) = (&lists[..], numbers.len() > 1) {
            let title = self.title(*list);
            self.notes
                .push(format!("the rows are the lists of {title}"));
            choice.numbers = lists;
        }
        let numbers = &choice.numbers;
        let is_label =
            |name: &str| options.has_label_file && LABELS.contains(&&*name.to_lowercase());
        if let Some(column) = self.find_named(numbers, is_id) {
            let name = &self.columns[column].name;
            let hint = format_args!("; {}, if all files have it", by_id(name));
            return Err(self.refused(numbers, column, "is named as an id", "", hint));
        }
        if let Some(column) = self.find_named(numbers, is_label) {
            let why = "is named as the labels, which --labels has";
            return Err(self.refused(numbers, column, why, " to leave it out", ""));
        }
        let is_predicted =
            |name: &str| options.are_classes && PREDICTED.contains(&&*name.to_lowercase());
        if let Some(column) = self.find_named(numbers, is_predicted) {
            let why = "is named as the class that was predicted";
            return Err(self.refused(numbers, column, why, " to leave it out", ""));
        }
        if numbers.is_empty() {
            let what = |&column: &usize| match &self.columns[column].kind {
                ColumnKind::Other(name) => format!("{}: {name}", self.title(column)),
                _ => format!("{}: text", self.title(column)),
            };
            let first = choice.left_out.first().map(what);
            bail!("{}, expected numbers", first.unwrap_or("no columns".into()));
        }
        Ok(())
    }

    /// The first of several columns whose name is such.
    fn find_named(&self, columns: &[usize], is_such: impl Fn(&str) -> bool) -> Option<usize> {
        let mut columns = columns.iter().copied().filter(|_| columns.len() > 1);
        columns.find(|&column| self.has_header && is_such(&self.columns[column].name))
    }

    /// The error of a column among predictions that no option names, with the options that leave it out or take it.
    pub fn refused(
        &self,
        numbers: &[usize],
        column: usize,
        why: impl Display,
        aim: &str,
        hint: impl Display,
    ) -> Error {
        wrong!(
            "{} {why}, expected {}{aim}, or {} if it holds predictions{hint}",
            self.title(column),
            self.columns_option("--columns", numbers, Some(column)),
            self.columns_option("--columns", numbers, None)
        )
    }

    /// The option that chooses some columns, but one that is left out.
    pub fn columns_option(
        &self,
        option: &str,
        columns: &[usize],
        left_out: Option<usize>,
    ) -> String {
        const FEW: usize = 4;
        let columns = columns.iter().copied();
        let columns: Vec<usize> = columns.filter(|column| Some(*column) != left_out).collect();
        let name = |&column: &usize| match &self.columns[column].name {
            name if self.has_header && !name.is_empty() => name.clone(),
            _ => column.to_string(),
        };
        let is_range = columns.windows(2).all(|pair| pair[1] == pair[0] + 1);
        match &columns[..] {
            [first, .., last] if is_range && columns.len() > FEW => {
                format!("{option} {}..{}", name(first), name(last))
            }
            _ => {
                let names: Vec<String> = columns.iter().map(name).collect();
                format!("{option} {}", names.join(","))
            }
        }
    }

    /// Adds a note about the columns that are left out.
    pub fn note_left_out(&mut self) {
        let left_out = &self.choice.left_out;
        let titles = left_out.iter().map(|&column| self.title(column));
        let titles = clipped(&titles.collect::<Vec<_>>().join(", "));
        match left_out.len() {
            0 => {}
            1 => (self.notes).push(format!("{titles} is not numeric, so it is left out")),
            _ => (self.notes).push(format!("{titles} are not numeric, so they are left out")),
        }
    }

    /// All columns but an index.
    fn data_columns(&self) -> impl Iterator<Item = usize> {
        (0..self.columns.len()).filter(|column| !self.is_index(*column))
    }

    /// The columns of several models, whose names begin with those of the models. Of JSON Lines they are fields by
    /// themselves, or within the field of a model.
    fn select_models(&mut self, models: &[String]) -> Result<Vec<usize>> {
        let of = |column: &ColumnInfo| of_model(&column.name, models).map(|(at, _)| at);
        for (at, model) in models.iter().enumerate() {
            if !self.columns.iter().any(|column| of(column) == Some(at)) {
                self.select_model(model)?;
            }
        }
        let is_of_model = |at: &usize| of(&self.columns[*at]).is_some();
        Ok((0..self.columns.len()).filter(is_of_model).collect())
    }
}

/// Returns the words for what `--id` does with a column.
pub fn by_id(name: &str) -> String {
    format!("--id {name} leaves it out and matches rows by it")
}

impl Choice {
    /// Takes two columns as confidence and correctness, if options or their names say so.
    fn find_confidence(&mut self, names: &[String], options: &PredictionColumns) -> Result<()> {
        let mut of_two = self.numbers.clone();
        if self.is_default {
            of_two.extend(&self.left_out);
        }
        let has = |any: &[&str]| {
            let is_one = |column: &&usize| {
                let name = names.get(**column).map(|name| name.to_lowercase());
                name.is_some_and(|name| any.contains(&&*name))
            };
            of_two.iter().find(is_one).copied()
        };
        let is_asked = options.confidence == Some(true);
        let (confidence, correct) = (has(&CONFIDENCE), has(&CORRECT));
        let known = confidence.zip(correct);
        let is_one = |column: &usize| known.is_some_and(|(a, b)| [a, b].contains(column));
        let are_alone = known.is_some() && self.numbers.iter().all(is_one);
        let is_meant = is_asked || options.confidence.is_none() && are_alone;
        if known.is_some() && is_meant {
            of_two.retain(is_one); // beside text, or other columns where these are asked for
        }
        ensure!(
            !is_asked || of_two.len() == 2,
            "{}, expected two: confidence and correctness",
            counted(of_two.len(), "column")
        );
        if is_meant {
            let of_first = options.correct.filter(|at| of_two.contains(at));
            let correct = correct.or(of_first).unwrap_or(of_two[1]);
            of_two.retain(|column| *column != correct);
            self.numbers = of_two;
            self.labels = vec![correct];
            self.left_out.clear();
            self.is_confidence = true;
        }
        Ok(())
    }
}
