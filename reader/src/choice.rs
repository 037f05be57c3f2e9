//! Which columns of a file are what: those that options name, and no others by a guess.

use super::{ColumnKind, Opened, clipped, of_model, select::by_name};
use crate::error::{Context, Result, bail, ensure, wrong};

/// The columns of a file, by their places.
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
    /// Columns that are left out because they are text.
    pub left_out: Vec<usize>,
    /// Whether the numbers are confidences, and the labels say which were right.
    pub is_confidence: bool,
    /// Whether the numbers are those that are left when no option names any.
    pub is_default: bool,
}

/// What options say of the columns of a file of predictions.
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
    /// What the names of the columns of each of several models begin with.
    pub models: &'a [String],
    /// Whether the columns are confidence and correctness, if that is not told by their names.
    pub confidence: Option<bool>,
    /// The column of correctness where no name tells it.
    pub correct: Option<usize>,
    /// Whether a file of their own has the labels.
    pub has_label_file: bool,
}

const CONFIDENCE: [&str; 5] = ["confidence", "conf", "confidences", "probability", "prob"];
const CORRECT: [&str; 5] = ["accuracy", "acc", "correct", "correctness", "hit"];

/// Names of columns that name rows, and ends of such names.
const IDS: [&str; 10] = [
    "id", "ids", "idx", "index", "row", "rows", "sample", "uuid", "guid", "key",
];
const ENDS_OF_IDS: [&str; 6] = ["_id", "_idx", "_index", ".id", "-id", " id"];

/// Names of columns of labels.
const LABELS: [&str; 9] = [
    "label", "labels", "target", "targets", "y", "y_true", "class", "truth", "outcome",
];

/// Whether a name is that of a column that names rows.
pub fn is_id(name: &str) -> bool {
    let lower = name.to_lowercase();
    IDS.contains(&&*lower)
        || ENDS_OF_IDS.iter().any(|end| lower.ends_with(end))
        || name.ends_with("Id")
}

impl Choice {
    /// The columns of predictions.
    pub fn of_predictions(file: &mut Opened, options: &PredictionColumns) -> Result<Self> {
        let path = file.path.clone();
        Self::predictions(file, options).of(&path)
    }

    fn predictions(file: &mut Opened, options: &PredictionColumns) -> Result<Self> {
        let named = |file: &mut Opened, column: Option<(&str, bool)>, option: &str| match column {
            Some((spec, true)) => file.select(spec, option).map(Some),
            Some((spec, false)) => Ok(file.select_if_there(spec, option)),
            None => Ok(None),
        };
        let labels = named(file, options.label, "--label-column")?.unwrap_or_default();
        check_labels(file, &labels)?;
        let weights = named(file, options.weights, "--weights")?.map(|columns| columns[0]);
        let id = options.id.map(|id| file.select_id(id)).transpose()?;
        let given = options.given.map(|spec| file.select(spec, "--given"));
        let given = given.transpose()?.unwrap_or_default();
        let chosen = options.columns.map(|spec| file.select(spec, "--columns"));
        let chosen = chosen.transpose()?;
        let chosen = match options.models {
            [] => chosen,
            models => Some(of_models(file, models)?),
        };
        let names = file.names();
        let is_default = chosen.is_none();
        let is_named = |column: &usize| {
            let are_variables = labels.contains(column) || given.contains(column);
            are_variables || [weights, id].contains(&Some(*column))
        };
        let is_other = |column: &usize| !is_named(column) && !file.is_index(*column);
        let (numbers, left_out) = match (chosen, file.fields()) {
            (Some(chosen), _) => (chosen, Vec::new()),
            (None, Some(fields)) => match confidence_of(&names) {
                Some(both) if options.confidence != Some(false) => (both.into(), Vec::new()),
                _ => bail!(
                    "JSON Lines with the fields {fields}, expected --columns to name those of the predictions: a field \
                     within another is outer.inner, of a list list.0, or list.*.0 of all its elements"
                ),
            },
            (None, None) => {
                let others = (0..file.columns.len()).filter(is_other);
                let is_number = |column: &usize| {
                    let kind = &file.columns[*column].kind;
                    matches!(kind, ColumnKind::Numbers | ColumnKind::Lists)
                };
                others.partition(is_number)
            }
        };
        let mut choice = Self {
            numbers,
            labels,
            weights,
            id,
            left_out,
            is_confidence: false,
            is_default,
        };
        if let Some(column) = given.iter().find(|column| choice.numbers.contains(column)) {
            bail!("--given: {} is one of the predictions", file.title(*column));
        }
        if let Some(column) = weights {
            ensure!(
                !choice.labels.contains(&column) && !choice.numbers.contains(&column),
                "--weights: column {column} is one of the predictions or labels too"
            );
        }
        choice.find_confidence(&names, options)?;
        if choice.is_confidence {
            return Ok(choice);
        }
        if is_default {
            choice.check_default(file, options)?;
        }
        Ok(choice)
    }

    /// Takes two columns as confidence and correctness, if options or their names say so.
    fn find_confidence(&mut self, names: &[String], options: &PredictionColumns) -> Result<()> {
        let mut of_two: Vec<usize> = (self.numbers.iter())
            .chain(self.left_out.iter().filter(|_| self.is_default))
            .copied()
            .collect();
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
            "{} columns, expected two: confidence and correctness",
            of_two.len()
        );
        if !is_meant {
            return Ok(());
        }
        let of_first = options.correct.filter(|at| of_two.contains(at));
        let correct = correct.or(of_first).unwrap_or(of_two[1]);
        self.numbers = of_two
            .into_iter()
            .filter(|column| *column != correct)
            .collect();
        self.labels = vec![correct];
        self.left_out.clear();
        self.is_confidence = true;
        Ok(())
    }

    /// Refuses columns that are no predictions by their names.
    fn check_default(&mut self, file: &mut Opened, options: &PredictionColumns) -> Result<()> {
        let is_list = |column: &&usize| file.columns[**column].kind == ColumnKind::Lists;
        let lists: Vec<usize> = self.numbers.iter().filter(is_list).copied().collect();
        if let ([list], true) = (&lists[..], self.numbers.len() > 1) {
            let title = file.title(*list);
            file.notes
                .push(format!("the rows are the lists of {title}"));
            self.numbers = lists;
        }
        let named = |is_such: &dyn Fn(&str) -> bool| {
            let mut columns = self.numbers.iter().copied();
            columns.find(|&column| file.has_header && is_such(&file.columns[column].name))
        };
        let is_label =
            |name: &str| options.has_label_file && LABELS.contains(&&*name.to_lowercase());
        let few = self.numbers.len() > 1;
        if let Some(column) = named(&is_id).filter(|_| few) {
            let (title, name) = (file.title(column), &file.columns[column].name);
            let others = self.without(column, file);
            let all = columns_option(&self.numbers, file);
            bail!(
                "{title} is named as an id, expected {others}, or {all} if it holds predictions; --id {name} leaves it \
                 out and matches rows by it, if all files have it"
            );
        }
        if let Some(column) = named(&is_label).filter(|_| few) {
            let others = self.without(column, file);
            let all = columns_option(&self.numbers, file);
            bail!(
                "{} is named as the labels, which --labels has, expected {others} to leave it out, or {all} if it \
                 holds predictions",
                file.title(column)
            );
        }
        if self.numbers.is_empty() {
            let what = |column: usize| match &file.columns[column].kind {
                ColumnKind::Other(name) => format!("{}: {name}", file.title(column)),
                _ => format!("{}: text", file.title(column)),
            };
            let first = self.left_out.first().map(|&column| what(column));
            bail!("{}, expected numbers", first.unwrap_or("no columns".into()));
        }
        Ok(())
    }

    /// What is said of the columns that are left out.
    pub fn note(&self, file: &Opened) -> Option<String> {
        let titles = self.left_out.iter().map(|&column| file.title(column));
        let titles = clipped(&titles.collect::<Vec<_>>().join(", "));
        match self.left_out.len() {
            0 => None,
            1 => Some(format!("{titles} is no column of numbers, and left out")),
            _ => Some(format!("{titles} are no columns of numbers, and left out")),
        }
    }

    /// The option of the columns of numbers but one.
    pub fn without(&self, column: usize, file: &Opened) -> String {
        let others = self
            .numbers
            .iter()
            .copied()
            .filter(|other| *other != column);
        columns_option(&others.collect::<Vec<_>>(), file)
    }

    /// The columns of labels or targets in a file of their own.
    ///
    /// - `are_numbers`: whether they are targets or frequencies
    /// - `known`: the names of columns that files of predictions have besides
    pub fn of_labels(
        file: &mut Opened,
        (spec, id): (Option<&str>, Option<&str>),
        are_numbers: bool,
        known: &[String],
    ) -> Result<Self> {
        let path = file.path.clone();
        let id = id.map(|id| file.select_id(id)).transpose()?;
        let mut left_out = Vec::new();
        let columns = match spec {
            Some(spec) => file.select(spec, "--label-column")?,
            None => {
                let all = 0..file.columns.len();
                let is_other = |column: &usize| Some(*column) != id && !file.is_index(*column);
                let mut others: Vec<usize> = all.filter(is_other).collect();
                if others.len() > 1 {
                    let is_known =
                        |name: &str| !name.is_empty() && known.contains(&name.to_lowercase());
                    others.retain(|&column| !is_known(&file.columns[column].name));
                }
                if are_numbers {
                    let is_text = |column: &usize| file.columns[*column].kind == ColumnKind::Text;
                    (left_out, others) = others.into_iter().partition(is_text);
                }
                let named = others.iter().find(|&&column| {
                    file.has_header && others.len() > 1 && is_id(&file.columns[column].name)
                });
                if let Some(&column) = named {
                    let rest = others.iter().copied().filter(|other| *other != column);
                    let option = columns_option(&rest.collect::<Vec<_>>(), file);
                    let wrong = wrong!(
                        "{} is named as an id, expected {} to name the labels; --id {} leaves it out and matches rows by \
                         it, if all files have it",
                        file.title(column),
                        option.replacen("--columns", "--label-column", 1),
                        file.columns[column].name
                    );
                    return Err(wrong).of(&path);
                }
                others
            }
        };
        let none = || wrong!("no column of labels that no other file has, expected --label-column");
        if columns.is_empty() {
            return Err(none()).of(&path);
        }
        let mut choice = Self {
            id,
            left_out,
            ..Self::default()
        };
        if are_numbers {
            choice.numbers = columns;
            return Ok(choice);
        }
        check_labels(file, &columns).of(&path)?;
        choice.labels = columns;
        Ok(choice)
    }

    /// Named columns as text: variables.
    pub fn of_named(file: &mut Opened, id: Option<&str>, spec: &str) -> Result<Self> {
        let id = id.map(|id| file.select_id(id)).transpose()?;
        let labels = file.select(spec, "--given")?;
        Ok(Self {
            labels,
            id,
            ..Self::default()
        })
    }

    /// All columns as text but an index and the column that names rows: variables and weights.
    pub fn of_variables(
        file: &mut Opened,
        id: Option<&str>,
        is_key: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let id = id.map(|id| file.select_id(id)).transpose()?;
        let is_other = |column: &usize| {
            let is_known = Some(*column) == id || file.is_index(*column);
            !is_known && !is_key(&file.columns[*column].name)
        };
        Ok(Self {
            labels: (0..file.columns.len()).filter(is_other).collect(),
            id,
            ..Self::default()
        })
    }
}

/// The columns of several models, whose names begin with those of the models. Of JSON Lines they are fields by themselves,
/// or within the field of a model.
fn of_models(file: &mut Opened, models: &[String]) -> Result<Vec<usize>> {
    let of = |name: &str| of_model(name, models).map(|(at, _)| at);
    for (at, model) in models.iter().enumerate() {
        if !file
            .columns
            .iter()
            .any(|column| of(&column.name) == Some(at))
        {
            file.select_model(model)?;
        }
    }
    let is_of_model = |at: &usize| of(&file.columns[*at].name).is_some();
    Ok((0..file.columns.len()).filter(is_of_model).collect())
}

/// Checks that labels are numbers or text.
fn check_labels(file: &Opened, columns: &[usize]) -> Result<()> {
    for &column in columns {
        let what = match &file.columns[column].kind {
            ColumnKind::Numbers | ColumnKind::Text => continue,
            ColumnKind::Lists => "lists",
            ColumnKind::Other(name) => name,
        };
        bail!(
            "{}: {what}, expected labels as numbers or text",
            file.title(column)
        );
    }
    Ok(())
}

/// The option that chooses some columns of a file.
pub fn columns_option(columns: &[usize], file: &Opened) -> String {
    const FEW: usize = 4;
    let name = |column: usize| match file.columns.get(column) {
        Some(info) if file.has_header && !info.name.is_empty() => info.name.clone(),
        _ => column.to_string(),
    };
    let is_range = columns.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match columns {
        [first, .., last] if is_range && columns.len() > FEW => {
            format!("--columns {}..{}", name(*first), name(*last))
        }
        _ => {
            let names: Vec<String> = columns.iter().map(|&column| name(column)).collect();
            format!("--columns {}", names.join(","))
        }
    }
}

/// The places of the columns of confidence and of correctness among names.
fn confidence_of(names: &[String]) -> Option<[usize; 2]> {
    Some([by_name(names, &CONFIDENCE)?, by_name(names, &CORRECT)?])
}
