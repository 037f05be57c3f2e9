//! Rows that wait for their labels.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use burn_calibration_reader::{
    Choice, OpenOptions, Opened, TextColumn, Texts, clipped, is_missing,
};
use serde::{Deserialize, Serialize};

use crate::{
    args::{MonitorArgs, SourceArgs},
    error::{Context, Result, bail, ensure, wrong},
    notes::say,
};

/// Predictions without labels so far, as the text of their files.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    columns: Vec<String>,
    /// The id and the cells of each row, in the order in which they came.
    rows: Vec<(String, Vec<String>)>,
}

/// The name of the column of labels that is read.
const LABEL: &str = "label";

impl Waiting {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds the predictions of today, and takes out the rows whose labels are there, in the order of their predictions,
    /// which does not depend on the labels. Returns the file of their predictions and how it is read, with its labels;
    /// none if no label came.
    pub fn take_labelled(&mut self, args: &MonitorArgs) -> Result<Option<(PathBuf, SourceArgs)>> {
        let id = args.source.rows.id.as_deref().unwrap_or_default();
        let column = args.source.rows.label_column.as_deref();
        let mut labels = BTreeMap::new();
        if let Some(path) = &args.source.labels.labels {
            let (ids, columns) = read(path, args, id)?;
            let is_label = |name: &&TextColumn| column.is_none_or(|column| name.name == column);
            let columns: Vec<&TextColumn> = columns.iter().filter(is_label).collect();
            let [label] = columns[..] else {
                bail!(
                    "{}: {} columns of labels beside {id}, expected one; --label-column names it",
                    path.display(),
                    columns.len()
                );
            };
            let pairs = ids.cells.iter().zip(label.cells.iter());
            for (id, label) in pairs.filter(|(_, label)| !is_missing(label)) {
                let other = labels.insert(id.to_owned(), label.to_owned());
                ensure!(
                    other.is_none(),
                    "{}: the id {} comes twice, expected each id once",
                    path.display(),
                    clipped(id)
                );
            }
        }
        if let Some(path) = &args.predictions {
            let (ids, mut columns) = read(path, args, id)?;
            let beside = column.and_then(|name| columns.iter().position(|one| one.name == name));
            if let Some(labelled) = beside.map(|at| columns.remove(at)) {
                let pairs = ids.cells.iter().zip(labelled.cells.iter());
                let known = pairs.filter(|(_, label)| !is_missing(label));
                labels.extend(known.map(|(id, label)| (id.to_owned(), label.to_owned())));
            }
            self.push(path, ids, columns)?;
        }
        let of = labels.len();
        let (rows, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.rows)
            .into_iter()
            .partition(|(id, _)| labels.contains_key(id));
        self.rows = waiting;
        if let unknown @ 1.. = of - rows.len() {
            let path = args.source.labels.labels.as_deref();
            let path = path.or(args.predictions.as_deref());
            let note =
                format_args!("{unknown} of {of} labels are left out: no waiting row has their id");
            say(path.unwrap_or(Path::new(id)), note);
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let labels = rows.iter().map(|(id, _)| vec![labels[id].clone()]);
        let labels = text(&[LABEL.into()], labels)?;
        let predictions = text(&self.columns, rows.iter().map(|(_, cells)| cells.clone()))?;
        let names = ["labelled rows", "labels of these rows"].map(PathBuf::from);
        let mut source = args.source.clone();
        source.rows.label_column = None;
        source.rows.id = None;
        source.rows.header = Some(true);
        source.labels.labels_header = Some(true);
        let [of_predictions, of_labels] = names;
        source.labels.labels = Some(of_labels.clone());
        let texts = [(of_predictions.clone(), predictions), (of_labels, labels)];
        source.rows.texts = Texts::new(texts.into());
        Ok(Some((of_predictions, source)))
    }

    /// Adds rows of predictions.
    fn push(&mut self, path: &Path, ids: TextColumn, columns: Vec<TextColumn>) -> Result<()> {
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        if self.rows.is_empty() {
            self.columns = names;
        } else {
            ensure!(
                names == self.columns,
                "{}: the columns are {}, expected {} as of the rows that wait",
                path.display(),
                clipped(&names.join(", ")),
                clipped(&self.columns.join(", "))
            );
        }
        let mut known: BTreeSet<String> = self.rows.iter().map(|(id, _)| id.clone()).collect();
        for (row, id) in ids.cells.iter().enumerate() {
            if !known.insert(id.to_owned()) {
                let wrong = wrong!(
                    "the id {} waits already, expected each id once",
                    clipped(id)
                );
                return Err(wrong.at_row(row)).of(path);
            }
            let cells = columns.iter().map(|column| column.cells[row].to_owned());
            self.rows.push((id.to_owned(), cells.collect()));
        }
        Ok(())
    }
}

/// The column of ids of a file, and its other columns, as text.
fn read(path: &Path, args: &MonitorArgs, id: &str) -> Result<(TextColumn, Vec<TextColumn>)> {
    let rows = &args.source.rows;
    let options = OpenOptions {
        header: Some(true),
        delimiter: rows.delimiter,
        ..OpenOptions::default()
    };
    let mut file = Opened::new(path, &options)?;
    let at = file.select_id(Some(id))?;
    let others = (0..file.columns.len()).filter(|other| Some(*other) != at);
    file.choice = Choice {
        id: at,
        others: others.collect(),
        ..Choice::default()
    };
    let table = file.read(false)?;
    let ids = table.ids.ok_or_else(|| wrong!("no column {id}")).of(path)?;
    Ok((ids, table.others))
}

/// A table as CSV.
fn text(names: &[String], rows: impl Iterator<Item = Vec<String>>) -> Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(names)?;
    for row in rows {
        csv.write_record(&row)?;
    }
    Ok(String::from_utf8(csv.into_inner()?)?)
}
