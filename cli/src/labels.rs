//! Labels of classes, in a file of their own or beside the predictions.

use std::path::Path;

use burn_calibration::distribution::Predictive;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::{
    align::check_distinct,
    args::{LabelsArgs, SourceArgs, YesNo},
    classes::{Classes, WORDS, class_names},
    input::{Cells, Ids, Lines, Options, Result, WhichLabel, read_table, say},
    rows::Rows,
    source::no_labels,
};

/// What makes the stream of drawn labels another than that of redraws.
const SOFT: u64 = 0x736f_6674;

/// Labels, in the order of their file.
pub struct Labels {
    pub classes: Vec<i64>,
    /// The names of the classes; empty where these are numbers from 0.
    pub names: Vec<String>,
    /// What names the rows of a file of their own.
    pub ids: Option<Ids>,
}

/// The labels of a file of their own, whether it has a header, and what names its rows.
type OfFile = (Vec<i64>, bool, Option<Ids>);

/// Reads the labels of the predictions of a file. Names the classes where they are not numbers from 0.
pub fn read_labels(args: &SourceArgs, (path, rows): (&Path, &Rows)) -> Result<Labels> {
    let (samples, count) = (rows.predictions.len(), rows.predictions.classes());
    let names = match &args.labels.classes {
        Some(names) => class_names(names),
        None => rows.class_names().to_vec(),
    };
    if args.labels.classes.is_some() && names.len() != count {
        return Err(format!(
            "--classes: {} names, expected {count}, the classes of {}",
            names.len(),
            path.display()
        ));
    }
    check_distinct(&names).map_err(|reason| format!("--classes: {reason}"))?;
    let by_position = args.rows.by_position;
    let classes = Classes::new(&names, count, &args.labels, by_position);
    let (labels, ids) = match (&args.labels.labels, &rows.labels) {
        (Some(file), _) => {
            let column = args.rows.label_column.as_deref();
            let (labels, has_header, ids) = match args.labels.soft_labels {
                true => drawn(file, args, &classes)?,
                false => of_file(file, column, &args.labels, &classes)?,
            };
            if labels.len() != samples {
                let advice = match labels.len() as i64 - samples as i64 {
                    1 if !has_header => "; --labels-header yes if line 1 is a header",
                    -1 if has_header => "; --labels-header no if line 1 is no header",
                    -1 => "; --header yes if line 1 of the predictions is a header",
                    _ => "",
                };
                return Err(format!(
                    "{}: {} labels, expected {samples}, as many as {} has rows{advice}",
                    file.display(),
                    labels.len(),
                    path.display()
                ));
            }
            (labels, ids.filter(|_| !by_position))
        }
        (None, Some(own)) => (parse(&classes, path, own)?, None),
        (None, None) => return Err(no_labels(path)),
    };
    Ok(Labels {
        classes: labels,
        names: classes.names(),
        ids,
    })
}

/// Checks that the labels beside other predictions of the same samples, if there are some, are those of the
/// first ones. Rows of the others are taken in the order that matches.
pub fn check_same(
    args: &SourceArgs,
    labels: &[i64],
    (first, rows): (&Path, &Rows),
    (path, others): (&Path, &Rows),
    order: Option<&[usize]>,
) -> Result<()> {
    let Some(own) = &others.labels else {
        return Ok(());
    };
    let names = match &args.labels.classes {
        Some(names) => class_names(names),
        None => rows.class_names().to_vec(),
    };
    let count = rows.predictions.classes();
    let classes = Classes::new(&names, count, &args.labels, args.rows.by_position);
    let found = parse(&classes, path, own)?;
    let place = |row: usize| order.map_or(row, |order| order[row]);
    let what = match rows.is_confidence {
        true => "correctness",
        false => "label",
    };
    match labels
        .iter()
        .enumerate()
        .find(|(row, label)| found[place(*row)] != **label)
    {
        None => Ok(()),
        Some((row, label)) => Err(format!(
            "{}: {}: the {what} is {}, expected {} as in {} of {}: both are of the same samples",
            path.display(),
            own.1.name(place(row)),
            classes.title(found[place(row)]),
            classes.title(*label),
            rows.labels
                .as_ref()
                .map_or_else(|| format!("row {row}"), |(_, lines)| lines.name(row)),
            first.display()
        )),
    }
}

fn parse(classes: &Classes, path: &Path, (cells, lines): &(Cells, Lines)) -> Result<Vec<i64>> {
    let wrong = |e: String| format!("{}: {}", path.display(), lines.add_to(&e));
    classes.parse(cells).map_err(wrong)
}

/// The labels of a file of their own.
fn of_file(
    file: &Path,
    column: Option<&str>,
    args: &LabelsArgs,
    classes: &Classes,
) -> Result<OfFile> {
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
        is_counted: true,
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
        return Ok((labels, table.has_header, table.ids));
    }
    // a column for each class, all 0 but one
    let columns = others.columns + 1;
    if columns != classes.count {
        return Err(wrong(format!(
            "{columns} columns, expected one label a row"
        )));
    }
    let names: Vec<String> = table
        .names
        .iter()
        .chain(&table.label_name)
        .cloned()
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
    Ok((labels, table.has_header, table.ids))
}

/// Labels that are drawn from frequencies, a column a class.
fn drawn(file: &Path, args: &SourceArgs, classes: &Classes) -> Result<OfFile> {
    let options = Options {
        header: args.labels.labels_header.map(|header| header == YesNo::Yes),
        columns: args.rows.label_column.as_deref(),
        index: Some(2),
        confidence: Some(false),
        is_counted: true,
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
    let order = classes.order(&table.names).map_err(wrong)?;
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
    Ok((labels, table.has_header, table.ids))
}
