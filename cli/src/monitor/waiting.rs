//! Rows that wait for their labels.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use burn_calibration::monitor::{CalibrationMonitor, Monitored};
use burn_calibration_reader::{
    Choice, File, OpenOptions, Opened, TextColumn, Texts, clipped, is_missing,
};
use serde::{Deserialize, Serialize};

use super::check_columns;
use crate::{
    args::{FamilyName, MonitorArgs, ReadingArgs, RowsArgs, SourceArgs},
    error::{Context, Result, bail, ensure, wrong},
    kind::Kind,
    notes::{noted, say},
    words::counted,
};

/// Predictions without labels so far. They are checked when they come, so that a row that waits can enter.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    /// What the numbers are, the same in all calls.
    reading: Option<ReadingArgs>,
    /// The names of the columns of numbers; empty without.
    names: Vec<String>,
    /// The id and the numbers of each row, in the order in which they came.
    rows: Vec<(String, Vec<String>)>,
}

/// Rows that waited, with their labels.
pub struct Labelled {
    /// The name of their predictions.
    pub predictions: PathBuf,
    /// The options of reading these, with the labels.
    pub source: SourceArgs,
    /// The file of the labels, and the id of each row.
    pub ids: (PathBuf, Vec<String>),
}

/// The label of each id.
type Labels = BTreeMap<String, String>;

impl Waiting {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds the predictions of today, and takes out the rows whose labels are there, in the order of their predictions,
    /// which does not depend on the labels; none if no label came.
    ///
    /// - columns: those of the rows before; empty if there are none
    pub fn take_labelled<P: Kind + Monitored>(
        &mut self,
        args: &MonitorArgs,
        columns: &[String],
        monitor: &CalibrationMonitor,
    ) -> Result<Option<Labelled>> {
        let (labels_path, mut labels) = labels(args)?;
        let given = args.source.rows.reading.clone();
        let is_said = args.predictions.is_some() || given != ReadingArgs::default();
        ensure!(
            !is_said || self.reading.as_ref().is_none_or(|known| *known == given),
            "{}: the rows before were read by other options, expected the same ones of --logits, --percent, \
             --log-probabilities, --positive, --clip, --normalise, --force, --quantile-levels, --sort-quantiles and \
             --by-position in each call",
            args.state.display()
        );
        if let Some(path) = &args.predictions {
            self.reading = Some(given);
            for (id, label) in self.push::<P>(path, args, columns, monitor)? {
                let other = labels.insert(id.clone(), label.clone());
                ensure!(
                    other.as_ref().is_none_or(|other| *other == label),
                    "{}: the id {} has the label {}, expected {} as in {}",
                    path.display(),
                    clipped(&id),
                    clipped(&label),
                    clipped(&other.unwrap_or_default()),
                    labels_path.display()
                );
            }
        }
        let of = labels.len();
        let (rows, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.rows)
            .into_iter()
            .partition(|(id, _)| labels.contains_key(id));
        self.rows = waiting;
        if let unknown @ 1.. = of - rows.len() {
            let note = format_args!(
                "{unknown} of {of} labels are left out: no row with their id waits. Give labels with their predictions \
                 or after them"
            );
            say(&labels_path, note);
        }
        let Some(reading) = self.reading.clone().filter(|_| !rows.is_empty()) else {
            return Ok(None);
        };
        let mut source = args.source.clone();
        source.rows = RowsArgs {
            reading,
            ..RowsArgs::default()
        };
        let has_names = !self.names.is_empty();
        source.rows.header = Some(has_names);
        source.rows.delimiter = Some(b',');
        // all columns are predictions, whatever their names, where a list of these can be written
        let is_word = |name: &String| name.trim() == name && !name.contains(',');
        let is_listed = has_names && self.names.iter().all(is_word);
        source.rows.columns = is_listed.then(|| self.names.join(","));
        source.labels.labels_header = Some(true);
        let label = |(id, _): &(String, _)| vec![labels[id].clone()];
        let labels = text(&["label".into()], rows.iter().map(label))?;
        let predictions = text(&self.names, rows.iter().map(|(_, cells)| cells.clone()))?;
        let [of_predictions, of_labels] = ["rows that waited", "their labels"].map(PathBuf::from);
        source.labels.labels = Some(of_labels.clone());
        let texts = [(of_predictions.clone(), predictions), (of_labels, labels)];
        source.rows.texts = Texts::new(texts.into());
        Ok(Some(Labelled {
            predictions: of_predictions,
            source,
            ids: (labels_path, rows.into_iter().map(|(id, _)| id).collect()),
        }))
    }

    /// Adds rows of predictions, after checks. Returns the labels that are beside them.
    fn push<P: Kind + Monitored>(
        &mut self,
        path: &Path,
        args: &MonitorArgs,
        columns: &[String],
        monitor: &CalibrationMonitor,
    ) -> Result<Labels> {
        let are_classes = args.family == FamilyName::Categorical;
        let options = args.source.options();
        let mut file = noted(|notes| File::with_ids(path, &options, are_classes, notes))?;
        ensure!(
            !file.table.is_confidence,
            "{}: the columns are a confidence and whether it was right, which is known at once, expected no --id",
            path.display()
        );
        let labels = std::mem::take(&mut file.table.labels); // some of them are still to come
        let (missing, counts) = file.missing(options.skip_missing, &[])?;
        file.table.labels = labels;
        if let Some(counts) = counts {
            let missing: BTreeSet<usize> = missing.into_iter().collect();
            let (left_out, n) = (missing.len(), file.table.rows());
            ensure!(
                left_out < n,
                "{}: no row is left: each of {n} lacks a value",
                path.display()
            );
            let kept: Vec<usize> = (0..n).filter(|row| !missing.contains(row)).collect();
            file.table.select(&kept);
            let note = "rows are left out, because values are missing";
            say(path, format_args!("{left_out} of {n} {note}: {counts}"));
        }
        let (names, numbers) = (file.table.names.clone(), file.table.numbers.clone());
        let (predictions, found) = P::without_targets(&mut file, &args.source)?;
        let (path, table) = (&file.path, &file.table);
        check_columns(path, &found, columns)?;
        if !self.rows.is_empty() {
            check_columns(path, &names, &self.names)?;
        }
        monitor.check(&predictions).of(path)?;
        let width = self
            .rows
            .first()
            .map_or(numbers.columns, |(_, row)| row.len());
        ensure!(
            width == numbers.columns,
            "{}: {}, expected {width}, as of the rows that wait",
            path.display(),
            counted(numbers.columns, "column")
        );
        let ids = table.ids.as_ref().ok_or_else(|| wrong!("no column of ids"));
        let ids = ids.of(path)?;
        self.names = names;
        let mut known: BTreeSet<&str> = self.rows.iter().map(|(id, _)| &id[..]).collect();
        for (row, id) in ids.cells.iter().enumerate() {
            check_id(id, row, !known.insert(id), "waits already, or comes twice")
                .on(path, &table.lines)?;
        }
        let rows = ids.cells.iter().zip(numbers.values.chunks(numbers.columns));
        let cells = |row: &[f64]| row.iter().map(|x| format!("{x:?}")).collect();
        let rows: Vec<_> = rows.map(|(id, row)| (id.to_owned(), cells(row))).collect();
        self.rows.extend(rows);
        Ok(match &table.labels[..] {
            [] => Labels::new(),
            [labels] => known_labels(ids, labels),
            several => bail!(
                "{}: {} columns of labels, expected one with --id",
                path.display(),
                several.len()
            ),
        })
    }
}

fn check_id(id: &str, row: usize, is_known: bool, fault: &str) -> Result<()> {
    let wrong = if is_missing(id) {
        wrong!("the id is empty, NA, null or NaN, expected a value")
    } else if is_known {
        wrong!("the id {} {fault}, expected each id once", clipped(id))
    } else {
        return Ok(());
    };
    Err(wrong.at_row(row))
}

/// The labels that are there.
fn known_labels(ids: &TextColumn, labels: &TextColumn) -> Labels {
    let pairs = ids.cells.iter().zip(labels.cells.iter());
    let known = pairs.filter(|(_, label)| !is_missing(label));
    known
        .map(|(id, label)| (id.to_owned(), label.to_owned()))
        .collect()
}

/// Reads the file of labels, and its path, or that of the predictions if there is none.
fn labels(args: &MonitorArgs) -> Result<(PathBuf, Labels)> {
    let SourceArgs { labels, rows, .. } = &args.source;
    let Some(path) = &labels.labels else {
        let path = args.predictions.clone().unwrap_or_default();
        return Ok((path, Labels::new()));
    };
    let options = OpenOptions {
        header: Some(true),
        delimiter: rows.delimiter,
        ..OpenOptions::default()
    };
    let mut file = Opened::new(path, &options)?;
    let id = file.select_id(rows.id.as_deref())?;
    let is_label = |column: &usize| {
        let name = &file.columns[*column].name;
        Some(*column) != id && rows.label_column.as_ref().is_none_or(|label| label == name)
    };
    let columns: Vec<usize> = (0..file.columns.len()).filter(is_label).collect();
    ensure!(
        columns.len() == 1,
        "{}: {} columns of labels beside the id, expected one; --label-column names it",
        path.display(),
        columns.len()
    );
    file.choice = Choice {
        id,
        labels: columns,
        ..Choice::default()
    };
    let table = file.read(false)?;
    let (Some(ids), [labels]) = (&table.ids, &table.labels[..]) else {
        bail!("{}: no column of ids", path.display());
    };
    let mut known = BTreeSet::new();
    let pairs = ids.cells.iter().zip(labels.cells.iter()).enumerate();
    for (row, (id, _)) in pairs.filter(|(_, (_, label))| !is_missing(label)) {
        check_id(id, row, !known.insert(id), "comes twice").on(path, &table.lines)?;
    }
    Ok((path.clone(), known_labels(ids, labels)))
}

/// A table as CSV, with a header if the columns have names.
fn text(names: &[String], rows: impl Iterator<Item = Vec<String>>) -> Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    if !names.is_empty() {
        csv.write_record(names)?;
    }
    for row in rows {
        csv.write_record(&row)?;
    }
    Ok(String::from_utf8(csv.into_inner()?)?)
}
