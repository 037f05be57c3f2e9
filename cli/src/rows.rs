//! Rows of classes: probabilities, or logits with `--logits`, checked to be what they are said to be.

use std::path::Path;

use burn::tensor::{Device, Tensor, TensorData};
use burn_calibration::{
    distribution::{Categorical, Predictive, Subject},
    recalibration::MapKind,
};

use crate::{
    align::{self, File, Names, check_distinct, columns, in_order, numbered, say_by_name},
    args::{RowsArgs, SourceArgs},
    error::{Context, Result, ensure, wrong},
    input::{Cells, Ids, Lines, Matrix, Options, Resolution, Table, clipped, read_table, say},
    kind::Loaded,
    labels::{check_same, class_names, read_labels},
    probabilities::{became_probabilities, check_logarithms, check_logits, settle},
    source::{Where, device, no_labels, options, places, tensor},
};

/// The logarithm that stands for that of 0 where only the order counts: its exponential is 0.
const LOG_OF_ZERO: f64 = -800.0;

/// What is computed from the predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Their logits, where the file has them.
    Logits,
    /// The probabilities and their logarithms: logits are left out where nothing is lost with them.
    Probabilities,
}

/// The predictions of a file, with what it says of classes and labels.
pub struct Rows {
    pub predictions: Categorical,
    /// The names of the columns in the order of the classes; empty if the file has none.
    pub names: Vec<String>,
    pub labels: Option<(Cells, Lines)>,
    /// The name of their column, and its position.
    pub label_name: Option<String>,
    pub label_at: Option<usize>,
    /// What names the rows; none by position.
    pub ids: Option<Ids>,
    /// Whether there is one column: the probability of an event.
    pub is_binary: bool,
    /// Whether that is the confidence, and the labels are the correctness.
    pub is_confidence: bool,
}

impl Rows {
    /// The names of the classes; of an event they are none.
    pub fn class_names(&self) -> &[String] {
        if self.is_binary { &[] } else { &self.names }
    }
}

/// What is known of a file from others.
#[derive(Clone, Copy)]
pub struct Like<'a> {
    /// The names of the columns.
    pub names: Names<'a>,
    /// Whether it holds confidence and correctness, where that is known, and the position of the latter.
    pub confidence: Option<(bool, Option<usize>)>,
}

impl<'a> Like<'a> {
    /// As another file of predictions.
    pub fn file(of: &'a str, rows: &'a Rows) -> Self {
        Self {
            names: Names {
                names: rows.class_names(),
                of,
            },
            confidence: Some((rows.is_confidence, rows.label_at)),
        }
    }
}

/// Reads the predictions of a file, and its labels if they are there.
pub fn read_rows(
    path: &Path,
    args: &RowsArgs,
    (place, wanted): (Where, Wanted),
    like: Like,
    device: &Device,
) -> Result<Rows> {
    let mut options = Options {
        index: Some(if args.positive { 1 } else { 2 }),
        are_probabilities: !args.logits && !args.log_probabilities,
        ..options(args, place)
    };
    if let Some((is_confidence, correct)) = like.confidence {
        options.confidence = Some(is_confidence);
        options.correct = correct.filter(|_| is_confidence);
    }
    let mut table = read_table(path, &options)?;
    if place == Where::Here && table.labels.is_none() {
        return Err(no_labels(path));
    }
    let lines = std::mem::take(&mut table.lines);
    let mut rows = rows_of(path, args, wanted, table, (like, device)).on(path, &lines)?;
    if let Some((_, own)) = &mut rows.labels {
        *own = lines;
    }
    Ok(rows)
}

/// The predictions of a table.
fn rows_of(
    path: &Path,
    args: &RowsArgs,
    wanted: Wanted,
    table: Table,
    (like, device): (Like, &Device),
) -> Result<Rows> {
    let Table {
        mut names,
        mut numbers,
        mut resolution,
        is_confidence,
        ..
    } = table;
    let is_binary = args.positive || is_confidence;
    let columns = numbers.columns;
    ensure!(
        !is_binary || columns == 1,
        "{columns} columns, expected one with --positive"
    );
    ensure!(
        is_binary || columns > 1,
        "one column, expected one for each class; --positive takes it for the probability of class 1, and for \
         its log-odds with --logits"
    );
    if !is_binary && !args.by_position {
        let order = class_order(&names, like.names)?;
        if let Some(order) = order {
            numbers = numbers.with_columns(&order);
            names = in_order(&names, &order);
            say_by_name(path, "columns", &names);
        }
    }
    if is_confidence {
        say(
            path,
            "confidence in a class, and whether it was right (1) or not (0)",
        );
    }
    if args.percent {
        numbers.values.iter_mut().for_each(|value| *value /= 100.0);
        resolution = resolution.of_percent();
    }
    let mut are_logits = args.logits;
    if args.log_probabilities {
        check_logarithms(&numbers, &resolution)?;
        // finite logarithms are logits, also of probabilities that underflow
        are_logits = !is_binary && numbers.values.iter().all(|value| value.is_finite());
        if !are_logits {
            let values = numbers.values.iter_mut();
            values.for_each(|value| *value = value.exp());
            resolution = Resolution::of_decimals(EXPONENTIATED);
        }
    }
    let mut are_probabilities = !are_logits;
    if are_logits {
        if args.logits && !args.force {
            check_logits(&numbers, &resolution, is_confidence)?;
        }
        if is_binary {
            numbers = beside(&numbers, |_| 0.0);
        }
        are_probabilities = wanted == Wanted::Probabilities && became_probabilities(&mut numbers);
    } else {
        let note = settle(&mut numbers, args, &resolution)?;
        if is_binary {
            numbers = beside(&numbers, |p| 1.0 - p);
        }
        if let Some(note) = note.filter(|_| !args.log_probabilities) {
            say(path, note);
        }
    }
    let numbers = tensor(numbers, args.device, device);
    let predictions = if are_probabilities {
        Categorical::from_probabilities(numbers)
    } else {
        Categorical::from_logits(numbers)
    };
    let subject = match (is_confidence, args.positive) {
        (true, _) => Subject::Correctness,
        (_, true) => Subject::Event,
        _ => Subject::Classes,
    };
    Ok(Rows {
        predictions: predictions?.about(subject)?,
        names,
        labels: table.labels.map(|labels| (labels, Lines::default())),
        label_name: table.label_name,
        label_at: table.label_at,
        ids: table.ids.filter(|_| !args.by_position),
        is_binary,
        is_confidence,
    })
}

/// Reads sets of predictions of the same samples, and their labels: columns by their names, rows by their ids.
pub fn read_classes(
    paths: &[&Path],
    args: &SourceArgs,
    wanted: Wanted,
) -> Result<Loaded<Categorical>> {
    let device = device(args.rows.device)?;
    let mut places = places(&args.labels);
    let mut read = |path: &Path, like: Like| {
        let place = places.next().expect("there is one for each file");
        read_rows(path, &args.rows, (place, wanted), like, &device)
    };
    let (first, others) = paths.split_first().expect("there is a file");
    let by_option = args.labels.classes.as_deref();
    let by_option = by_option.map(class_names).unwrap_or_default();
    let like = Like {
        names: Names {
            names: &by_option,
            of: OPTION,
        },
        confidence: None,
    };
    let own = read(first, like)?;
    let of = first.display().to_string();
    let others = (others.iter())
        .map(|path| Ok((*path, read(path, Like::file(&of, &own))?)))
        .collect::<Result<Vec<_>>>()?;
    let mut labels = read_labels(args, (first, &own))?;
    for (path, rows) in &others {
        check_like((path, rows), (first, &own))?;
    }
    let of_rows = std::iter::once((*first, own.ids.as_ref()))
        .chain(others.iter().map(|(path, rows)| (*path, rows.ids.as_ref())));
    let of_labels = args.labels.labels.iter();
    let of_labels = of_labels.map(|path| (path.as_path(), labels.ids.as_ref()));
    let files: Vec<File> = of_rows.chain(of_labels).collect();
    let orders = align::rows(&files)?;
    if let (Some(_), Some(Some(order))) = (&args.labels.labels, orders.last()) {
        labels.classes = in_order(&labels.classes, order);
    }
    for (other, order) in others.iter().zip(&orders[1..]) {
        let other = (other.0, &other.1);
        check_same(
            args,
            &labels.classes,
            (first, &own),
            other,
            order.as_deref(),
        )?;
    }
    let columns = match own.class_names() {
        [] => by_option,
        names => names.to_vec(),
    };
    let ids = own.ids.clone().or(labels.ids);
    let targets = TensorData::new(labels.classes, [own.predictions.len()]);
    let rows = std::iter::once(own).chain(others.into_iter().map(|(_, rows)| rows));
    let sets = rows.zip(&orders).map(|(rows, order)| match order {
        Some(order) => rows.predictions.select_rows(order),
        None => rows.predictions,
    });
    Ok(Loaded {
        sets: sets.collect(),
        targets: Tensor::from_data(targets, &device),
        class_names: labels.names,
        columns,
        ids,
    })
}

/// The columns in the order of the classes; none where they are in it. Columns whose names count, as p0, p1,
/// p2, are classes of these numbers.
fn class_order(names: &[String], expected: Names) -> Result<Option<Vec<usize>>> {
    check_distinct(names)?;
    let numbered = numbered(names);
    let is_known = |name: &String| names.contains(name);
    if expected.names.is_empty() {
        let order = numbered.filter(|numbered| !numbered.is_sorted());
        return Ok(order.map(|numbered| numbered.order));
    }
    // names of classes that the file does not have are those of its columns in their order
    if expected.of == OPTION && !expected.names.iter().any(is_known) {
        ensure!(
            numbered.is_none_or(|numbered| numbered.is_sorted()),
            "the columns are named {}, expected the names of {OPTION} or the columns in the order of their \
             numbers; --by-position takes columns in their order",
            clipped(&names.join(", "))
        );
        return Ok(None);
    }
    columns(expected, names)
        .map_err(|reason| wrong!("{reason}; --by-position takes columns in their order"))
}

/// The option that names classes.
const OPTION: &str = "--classes";

/// Decimals of exponentiated logarithms, whose own digits say nothing of a sum.
const EXPONENTIATED: i32 = 3;

/// A column for class 0 before that for class 1.
fn beside(column: &Matrix, of_class_0: impl Fn(f64) -> f64) -> Matrix {
    let rows = column.values.iter();
    Matrix {
        columns: 2,
        values: rows.flat_map(|&value| [of_class_0(value), value]).collect(),
    }
}

/// The logits of predictions, or the logarithms of their probabilities. Those of zeros are infinite, which maps
/// take that depend on no more than the order of the log-odds of each class.
pub fn logits(
    path: &Path,
    predictions: &Categorical,
    method: Option<MapKind>,
) -> Result<Tensor<2>> {
    if let Some(logits) = predictions.logits() {
        return Ok(logits);
    }
    let logits = predictions.log_probabilities();
    if let Some(MapKind::Isotonic | MapKind::VennAbers | MapKind::Histogram) = method {
        return Ok(logits.clamp_min(LOG_OF_ZERO));
    }
    if logits.clone().min().into_scalar::<f64>().is_finite() {
        return Ok(logits);
    }
    let classes = predictions.classes();
    let numbers = logits.clone().try_into_vec_as::<f64>()?;
    let Some(at) = numbers.iter().position(|number| number.is_infinite()) else {
        return Ok(logits);
    };
    let wrong = wrong!(
        "the probability is 0, whose logarithm is infinite; --clip EPS raises it to EPS (1e-7, say), and --method \
         isotonic, venn-abers or histogram take zeros"
    );
    Err(wrong.at(at / classes, format_args!("column {}", at % classes))).of(path)
}

/// Checks that the predictions of one file are of as many samples and classes as those of another, and about
/// the same.
fn check_like(
    (path, rows): (&Path, &Rows),
    (expected_path, expected): (&Path, &Rows),
) -> Result<()> {
    let (got, expect) = (&rows.predictions, &expected.predictions);
    for (what, got, expected) in [
        ("rows", got.len(), expect.len()),
        ("columns", got.classes(), expect.classes()),
    ] {
        ensure!(
            got == expected,
            "{}: {got} {what}, expected {expected}, as many as {} has",
            path.display(),
            expected_path.display()
        );
    }
    let words = |rows: &Rows| match rows.predictions.subject() {
        Subject::Correctness => "confidence and correctness",
        _ => "probabilities",
    };
    ensure!(
        rows.is_confidence == expected.is_confidence,
        "{}: {}, expected {}, as {} has; --confidence-correctness says it of both",
        path.display(),
        words(rows),
        words(expected),
        expected_path.display()
    );
    Ok(())
}
