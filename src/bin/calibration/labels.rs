//! Labels of classes, in a file of their own or beside the predictions.

use std::path::Path;

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_calibration::distribution::Predictive;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::{
    args::{LabelsArgs, SourceArgs, YesNo},
    classes::{Classes, WORDS, class_names},
    input::{Options, Result, WhichLabel, read_table, say},
    rows::Rows,
    source::no_labels,
};

/// What makes the stream of drawn labels another than that of redraws.
const SOFT: u64 = 0x736f_6674;

/// Reads the labels of the predictions of a file. Names the classes where they are not numbers from 0.
pub fn read_labels(
    args: &SourceArgs,
    (path, rows): (&Path, &Rows),
    device: &Device,
) -> Result<(Tensor<1, Int>, Vec<String>)> {
    let (samples, count) = (rows.predictions.len(), rows.predictions.classes());
    let names = match &args.labels.classes {
        Some(names) => class_names(names, count, path)?,
        None => rows.names.clone(),
    };
    let classes = Classes::new(&names, count, args.labels.one_based);
    let labels = match (&args.labels.labels, &rows.labels) {
        (Some(file), _) => {
            let column = args.rows.label_column.as_deref();
            let (labels, has_header) = match args.labels.soft_labels {
                true => drawn(file, args, &classes)?,
                false => of_file(file, column, &args.labels, &classes)?,
            };
            if labels.len() != samples {
                let advice = match labels.len() as i64 - samples as i64 {
                    1 if !has_header => "; --labels-header yes if line 1 is a header",
                    -1 if has_header => "; --labels-header no if line 1 is no header",
                    _ => "",
                };
                return Err(format!(
                    "{}: {} labels, expected {samples}, as many as {} has rows{advice}",
                    file.display(),
                    labels.len(),
                    path.display()
                ));
            }
            labels
        }
        (None, Some((cells, lines))) => {
            let wrong = |e: String| format!("{}: {}", path.display(), lines.add_to(&e));
            classes.parse(cells).map_err(wrong)?
        }
        (None, None) => return Err(no_labels(path)),
    };
    let labels = Tensor::from_data(TensorData::new(labels, [samples]), device);
    Ok((labels, classes.names()))
}

/// The labels of a file of their own, and whether it has a header.
fn of_file(
    file: &Path,
    column: Option<&str>,
    args: &LabelsArgs,
    classes: &Classes,
) -> Result<(Vec<i64>, bool)> {
    let words: Vec<String> = classes
        .known()
        .chain(WORDS.concat())
        .map(str::to_owned)
        .collect();
    let options = Options {
        header: args.labels_header.map(|header| header == YesNo::Yes),
        label: column.map_or(WhichLabel::Last, WhichLabel::Only),
        index: Some(0),
        confidence: Some(false),
        words: &words,
        ..Options::default()
    };
    let table = read_table(file, &options)?;
    let wrong = |reason: String| format!("{}: {}", file.display(), table.lines.add_to(&reason));
    let cells = table
        .labels
        .as_ref()
        .expect("the last column or one by name");
    let others = &table.numbers;
    if others.columns == 0 {
        let labels = classes.parse(cells).map_err(wrong)?;
        return Ok((labels, table.has_header));
    }
    // a column for each class, all 0 but one
    let columns = others.columns + 1;
    if columns != classes.count {
        return Err(wrong(format!(
            "{columns} columns, expected one label a row"
        )));
    }
    let names: Vec<&str> = (table.names.iter().chain(&table.label_name))
        .map(String::as_str)
        .collect();
    let order = classes.order(&names).map_err(wrong)?;
    let rows = others.values.chunks(others.columns).zip(cells.iter());
    let label = |(row, (others, last)): (usize, (&[f64], &str))| {
        let last = last.parse().unwrap_or(f64::NAN);
        let row_of = others.iter().chain([&last]);
        let ones: Vec<usize> = (row_of.clone().enumerate())
            .filter_map(|(column, &hit)| (hit == 1.0).then_some(column))
            .collect();
        let are_others_zero = row_of.filter(|&&hit| hit == 0.0).count() == columns - 1;
        match (&ones[..], are_others_zero) {
            (&[column], true) => Ok(order[column]),
            _ => Err(wrong(format!(
                "row {row}: {columns} columns without a single 1 among zeros, expected one label a row; \
                 --soft-labels takes frequencies of several labels"
            ))),
        }
    };
    let labels = rows.enumerate().map(label).collect::<Result<_>>()?;
    Ok((labels, table.has_header))
}

/// Labels that are drawn from frequencies, a column a class, and whether the file has a header.
fn drawn(file: &Path, args: &SourceArgs, classes: &Classes) -> Result<(Vec<i64>, bool)> {
    let options = Options {
        header: args.labels.labels_header.map(|header| header == YesNo::Yes),
        columns: args.rows.label_column.as_deref(),
        index: Some(2),
        confidence: Some(false),
        ..Options::default()
    };
    let table = read_table(file, &options)?;
    let wrong = |reason: String| format!("{}: {}", file.display(), table.lines.add_to(&reason));
    let columns = table.numbers.columns;
    if columns != classes.count {
        return Err(wrong(format!(
            "{columns} columns of frequencies, expected {}, one for each class",
            classes.count
        )));
    }
    let names: Vec<&str> = table.names.iter().map(String::as_str).collect();
    let order = classes.order(&names).map_err(wrong)?;
    // not the stream of the redraws
    let mut rng = StdRng::seed_from_u64(args.seed ^ SOFT);
    let draw = |(row, frequencies): (usize, &[f64])| {
        let of = |reason: String| wrong(format!("row {row}{reason}"));
        let is_frequency = |f: &f64| *f >= 0.0 && f.is_finite();
        if let Some(column) = frequencies.iter().position(|f| !is_frequency(f)) {
            return Err(of(format!(
                ", class {}: the frequency is {}, expected a number of at least 0",
                classes.title(order[column]),
                frequencies[column]
            )));
        }
        let total: f64 = frequencies.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(of(format!(
                ": the sum of the frequencies is {total}, expected a finite number above 0"
            )));
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
    let labels = rows.map(draw).collect::<Result<_>>()?;
    let seed = args.seed;
    say(
        file,
        &format!("labels are frequencies: one is drawn for each row, seed {seed}"),
    );
    Ok((labels, table.has_header))
}
