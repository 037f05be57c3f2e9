//! Labels: numbers or names of classes, in a file of their own or beside the predictions.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::Path,
};

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_calibration::distribution::Predictive;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::{
    args::{LabelsArgs, SourceArgs, YesNo},
    input::{Cells, Options, Result, WhichLabel, clipped, read_table, say},
    rows::Rows,
    source::no_labels,
};

/// The words for classes 0 and 1 of two.
const WORDS: [[&str; 2]; 2] = [["false", "no"], ["true", "yes"]];

/// What makes the stream of drawn labels another than that of redraws.
const SOFT: u64 = 0x736f_6674;

/// The classes that labels are of.
struct Classes<'a> {
    count: usize,
    /// Their numbers by name.
    numbers: HashMap<&'a str, i64>,
    /// Whether whole numbers are classes, too.
    counted: bool,
    /// The number of the first class: 0 or 1.
    first: i64,
}

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
    let names = classes.numbers.keys().map(|name| (*name).to_owned());
    let words = WORDS.concat().into_iter().map(str::to_owned);
    let words: Vec<String> = names.chain(words).collect();
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
    let rows = others.values.chunks(others.columns).zip(cells.iter());
    let label = |(row, (others, last)): (usize, (&[f64], &str))| {
        let last = last.parse().unwrap_or(f64::NAN);
        let row_of = others.iter().chain([&last]);
        let ones: Vec<usize> = (row_of.clone().enumerate())
            .filter_map(|(class, &hit)| (hit == 1.0).then_some(class))
            .collect();
        let are_others_zero = row_of.filter(|&&hit| hit == 0.0).count() == columns - 1;
        match (&ones[..], are_others_zero) {
            (&[class], true) => Ok(class as i64),
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
    let class = |(column, name): (usize, &String)| {
        let class = classes.numbers.get(name.as_str());
        class.map_or(column as i64, |class| *class)
    };
    // columns stand in the order of the classes, unless all names say another
    let mut order: Vec<i64> = (0..columns as i64).collect();
    let named: Vec<i64> = table.names.iter().enumerate().map(class).collect();
    if named.iter().collect::<BTreeSet<_>>().len() == columns {
        order = named;
    }
    // not the stream of the redraws
    let mut rng = StdRng::seed_from_u64(args.seed ^ SOFT);
    let draw = |(row, frequencies): (usize, &[f64])| {
        let total: f64 = frequencies.iter().sum();
        let is_one = |f: &f64| *f >= 0.0;
        if !(frequencies.iter().all(is_one) && total > 0.0 && total.is_finite()) {
            return Err(wrong(format!(
                "row {row}: expected frequencies of at least 0, and one above"
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

/// Names of classes: between commas, or one a line of a file.
fn class_names(names: &str, count: usize, path: &Path) -> Result<Vec<String>> {
    let trimmed = |name: &str| name.trim().to_owned();
    let found: Vec<String> = match fs::read_to_string(names) {
        Ok(text) => text
            .lines()
            .map(trimmed)
            .filter(|name| !name.is_empty())
            .collect(),
        Err(_) => names.split(',').map(trimmed).collect(),
    };
    match found.len() == count {
        true => Ok(found),
        false => Err(format!(
            "--classes: {} names, expected {count}, the classes of {}",
            found.len(),
            path.display()
        )),
    }
}

impl<'a> Classes<'a> {
    fn new(names: &'a [String], count: usize, is_one_based: bool) -> Self {
        let number = |name: &String| name.parse::<f64>().ok();
        let numbers: Vec<f64> = names.iter().filter_map(number).collect();
        let counts = |first: f64| {
            numbers
                .iter()
                .enumerate()
                .all(|(i, &n)| n == first + i as f64)
        };
        let are_numbers = !numbers.is_empty() && numbers.len() == names.len();
        // names that count say no more than numbers do
        let names = match are_numbers && (counts(0.0) || counts(1.0)) {
            true => &[],
            false => names,
        };
        Self {
            count,
            numbers: (0..)
                .zip(names)
                .map(|(class, name)| (name.as_str(), class))
                .collect(),
            counted: names.is_empty() || !are_numbers,
            first: i64::from(is_one_based),
        }
    }

    /// Names for people, without what a terminal obeys; none where classes are numbers from 0.
    fn names(&self) -> Vec<String> {
        let mut named: Vec<_> = self.numbers.iter().collect();
        named.sort_unstable_by_key(|(_, class)| **class);
        let plain = |name: &str| clipped(&name.replace(|c: char| c.is_control(), " "));
        match self.first {
            _ if named.len() == self.count => named.iter().map(|(name, _)| plain(name)).collect(),
            0 => Vec::new(),
            first => (first..)
                .take(self.count)
                .map(|class| class.to_string())
                .collect(),
        }
    }

    fn parse(&self, cells: &Cells) -> Result<Vec<i64>> {
        let label = |(row, cell): (usize, &str)| {
            let class = self.class(cell);
            class.map_err(|expected| {
                let advice = match self.run_from_1(cells) {
                    true => {
                        "; labels run from 1 to the number of classes: did you mean --one-based?"
                    }
                    false => "",
                };
                format!(
                    "row {row}: the label is {}, expected {expected}{advice}",
                    clipped(cell)
                )
            })
        };
        cells.iter().enumerate().map(label).collect()
    }

    /// The class of a label, or what is expected.
    fn class(&self, cell: &str) -> Result<i64> {
        if let Some(&class) = self.numbers.get(cell) {
            return Ok(class);
        }
        let (first, last) = (self.first, self.count as i64 - 1 + self.first);
        match cell.parse::<f64>() {
            Ok(value) if self.counted => {
                return match value {
                    v if v.fract() != 0.0 || v < first as f64 || v.abs() > 2f64.powi(53) => {
                        Err(format!("a whole number of at least {first}"))
                    }
                    v if v > last as f64 => Err(format!("a class in {first}..={last}")),
                    v => Ok(v as i64 - first),
                };
            }
            _ => {}
        }
        let word = cell.to_lowercase();
        let binary = WORDS.iter().position(|words| words.contains(&&*word));
        match binary.filter(|_| self.count == 2) {
            Some(class) => Ok(class as i64),
            None if self.numbers.is_empty() => Err(format!(
                "a class in {first}..={last}; --classes names the classes in the order of the columns"
            )),
            None => {
                let mut names: Vec<_> = self.numbers.iter().collect();
                names.sort_unstable_by_key(|(_, class)| **class);
                let names: Vec<&str> = names.into_iter().map(|(name, _)| *name).collect();
                Err(format!("one of {}", clipped(&names.join(", "))))
            }
        }
    }

    /// Whether labels that should count from 0 are those from 1 to the number of classes.
    fn run_from_1(&self, cells: &Cells) -> bool {
        let whole = || cells.iter().map(|cell| cell.parse::<f64>().ok());
        self.first == 0
            && whole().all(|label| label.is_some_and(|y| (1.0..=self.count as f64).contains(&y)))
    }
}
