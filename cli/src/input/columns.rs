//! Which columns of a table are numbers, labels, weights, or an index.

use super::{
    Options, Table, WhichLabel,
    cells::TextColumn,
    clipped, is_missing,
    limits::check_numbers,
    of_model,
    records::Record,
    select::{are_named, select},
    table::is_text,
    titled,
};
use crate::error::{Result, ensure};

/// The name that pandas gives to an index.
pub const PANDAS: &str = "__index_level_0__";

/// What is done with the columns.
pub struct Columns {
    names: Vec<String>,
    pub width: usize,
    pub labels: Vec<usize>,
    pub numbers: Vec<usize>,
    /// The column that may name or count rows, and what is known of it. Until it is settled the column is
    /// one of numbers or labels as well.
    pub id: usize,
    pub index: Index,
    /// Whether all columns are of numbers but an index and the labels.
    is_open: bool,
    /// Whether the last of the labels are weights.
    has_weights: bool,
    pub is_confidence: bool,
}

/// Names of columns that name rows.
pub const IDS: [&str; 9] = [
    "index",
    "id",
    "idx",
    "row",
    "ids",
    "sample_id",
    "row_id",
    "sample",
    "doc_id",
];

/// What is known of a column as one that names or counts rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// It is none.
    No,
    /// It is one, whatever it holds.
    Yes,
    /// It is one if it holds whole numbers, or text.
    Named,
    /// It is one if it counts.
    Counting,
}

impl Columns {
    /// - `names`: those of the header, empty without one
    pub fn new(names: Vec<String>, width: usize, options: &Options) -> Result<Self> {
        ensure!(
            names.is_empty() || names.len() == width,
            "line 1 has {} columns and the row below {width}, expected the same number",
            names.len()
        );
        let weights = match options.weights {
            Some((name, true)) => Some(select(name, &names, width, "--weights")?[0]),
            Some((name, false)) => names.iter().position(|other| other == name),
            None => None,
        };
        let chosen = options
            .columns
            .map(|columns| select(columns, &names, width, "--columns"));
        let mut chosen = chosen.transpose()?;
        if !options.models.is_empty() {
            let is_of_model = |column: &usize| of_model(&names[*column], options.models).is_some();
            chosen = Some((0..names.len()).filter(is_of_model).collect());
        }
        let others = || {
            let all = 0..width;
            all.filter(|column| Some(*column) != weights).collect()
        };
        let of_two: Vec<usize> = chosen.clone().unwrap_or_else(others);
        let has = |any: &[&str]| {
            let name = |column: usize| names.get(column).map(|name| name.to_lowercase());
            let is_one = |column: &&usize| name(**column).is_some_and(|name| any.contains(&&*name));
            of_two.iter().find(is_one).copied()
        };
        let is_two = of_two.len() == 2;
        ensure!(
            options.confidence != Some(true) || is_two,
            "{} columns, expected two: confidence and correctness",
            of_two.len()
        );
        let are_known = has(&CONFIDENCE).is_some() && has(&CORRECT).is_some();
        let is_confidence =
            options.confidence == Some(true) || options.confidence.is_none() && is_two && are_known;
        let named = |name| select(name, &names, width, "--label-column");
        let mut labels = match options.label {
            _ if is_confidence => {
                let known = options.correct.filter(|at| of_two.contains(at));
                let correct = has(&CORRECT).or(known);
                vec![correct.unwrap_or(of_two[1])]
            }
            WhichLabel::None | WhichLabel::All => Vec::new(),
            WhichLabel::Named(name) | WhichLabel::Only(name) => named(name)?,
            WhichLabel::IfThere(name) if are_named(name, &names) => named(name)?,
            WhichLabel::IfThere(_) => Vec::new(),
        };
        if is_confidence && let Some(chosen) = &mut chosen {
            chosen.retain(|column| !labels.contains(column));
        }
        let are_all = matches!(options.label, WhichLabel::All);
        let is_only = are_all || matches!(options.label, WhichLabel::Only(_));
        let is_taken = |column: usize| {
            let is_label = labels.contains(&column) || weights == Some(column);
            is_label || chosen.as_ref().is_some_and(|all| all.contains(&column))
        };
        let known = |(column, name): (usize, &String)| {
            let name = name.to_lowercase();
            let is_nameless = column == 0 && (name.is_empty() || name == "unnamed: 0");
            let index = match name {
                _ if is_nameless || name == PANDAS => Index::Yes,
                name if IDS.contains(&&*name) => Index::Named,
                _ => return None,
            };
            (!is_taken(column)).then_some((column, index))
        };
        let is_open = chosen.is_none() && (are_all || !is_only);
        let (id, index) = match names.iter().enumerate().find_map(known) {
            _ if width < 2 || is_confidence => (0, Index::No),
            Some(known) => known,
            None if is_open && !is_taken(0) && options.index.is_some() => (0, Index::Counting),
            None => (0, Index::No),
        };
        let is_other = |column: &usize| {
            let is_label = labels.contains(column) || weights == Some(*column);
            !is_label && (index != Index::Yes || *column != id)
        };
        let others = (0..width).filter(is_other).collect();
        let numbers = match chosen {
            Some(chosen) => chosen,
            None if are_all => {
                labels = others;
                Vec::new()
            }
            None if is_only => Vec::new(),
            None => others,
        };
        if let Some(column) = weights {
            let is_twice = labels.contains(&column) || numbers.contains(&column);
            ensure!(
                !is_twice,
                "--weights: column {column} is one of the predictions or labels too"
            );
            labels.push(column);
        }
        check_numbers(1, width as u64)?;
        Ok(Self {
            has_weights: weights.is_some(),
            names,
            width,
            labels,
            numbers,
            id,
            index,
            is_open,
            is_confidence,
        })
    }

    /// Leaves out the column that is an index, unless it is none.
    pub fn settle(&mut self, is_index: bool) {
        if is_index {
            self.numbers.retain(|column| *column != self.id);
            self.labels.retain(|column| *column != self.id);
        } else {
            self.index = Index::No;
        }
    }

    /// What is said of an index that is left out.
    pub fn note(&self) -> Option<String> {
        let name = self.names.get(self.id).filter(|name| !name.is_empty());
        let column = match self.id {
            0 => "the first column".to_owned(),
            id => format!("column {id}"),
        };
        let is_told = self.is_open && self.index != Index::No && name.is_none_or(|n| n != PANDAS);
        is_told.then(|| {
            let name = name.map(|name| format!(" ({})", clipped(name)));
            let name = name.unwrap_or_default();
            format!("{column}{name} is an index and is left out")
        })
    }

    /// Names the columns of a table whose rows were read.
    pub fn describe(self, table: Table) -> Table {
        let name = |column: usize| self.names.get(column).cloned();
        let named = |(column, &at): (TextColumn, &usize)| TextColumn {
            name: name(at).unwrap_or_default(),
            at,
            ..column
        };
        let labels = table.labels.into_iter().zip(&self.labels);
        let mut labels: Vec<TextColumn> = labels.map(named).collect();
        let has_ids = matches!(self.index, Index::Yes | Index::Named);
        Table {
            names: (self.numbers.iter())
                .filter_map(|&column| name(column))
                .collect(),
            weights: if self.has_weights { labels.pop() } else { None },
            labels,
            ids: (table.ids.filter(|_| has_ids)).map(|ids| named((ids, &self.id))),
            is_confidence: self.is_confidence,
            has_header: !self.names.is_empty(),
            places: self.numbers,
            ..table
        }
    }

    /// The first column of numbers in which a row has text.
    pub fn first_text(&self, record: &Record) -> Option<usize> {
        let mut columns = self.numbers.iter().copied();
        columns.find(|&column| {
            let cell = &record.cells[column];
            is_text(cell) && !is_missing(cell)
        })
    }

    /// What to do with a column of text among those of numbers.
    pub fn hint_of_text(&self, column: usize, options: &Options) -> String {
        let others = "--columns NAME,NAME selects the columns of numbers";
        if options.is_counted || !matches!(options.label, WhichLabel::None) {
            return format!("the whole column is text; {others}");
        }
        let name = self.names.get(column).filter(|name| !name.is_empty());
        let name = name.map_or_else(|| column.to_string(), |name| clipped(name));
        format!(
            "the whole column is text; add --label-column {name} if it holds the labels, and {others}"
        )
    }

    /// Names a column in a message.
    pub fn title(&self, column: usize) -> String {
        titled(column, self.names.get(column).map_or("", String::as_str))
    }
}

pub const CONFIDENCE: [&str; 5] = ["confidence", "conf", "confidences", "probability", "prob"];
pub const CORRECT: [&str; 5] = ["accuracy", "acc", "correct", "correctness", "hit"];
