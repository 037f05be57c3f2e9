//! `--given`: is the model calibrated for every group, and for whom is it not?

use std::{collections::BTreeSet, fmt, path::Path};

use burn::tensor::{Tensor, TensorData};
use burn_calibration::{
    distribution::Targets,
    hypothesis::{AspectOutcome, GivenTest, Group, GroupTest, OmnibusOutcome, Probability},
    kernel::Kernel,
};
use burn_calibration_reader::{Table, TextColumn, clipped, labels::event};
use burn_calibration_report::{InTheLarge, Unit, View};
use rand::rngs::StdRng;
use serde::Serialize;

use crate::{
    answer::sizing,
    args::SizeArgs,
    error::{Context, Result, bail, ensure, wrong},
    files::{File, Files},
    kind::Kind,
    notes::say,
    quantities::Pairs,
    table::TextTable,
    words::{counted, shown, verdict},
};

/// More values than this are no groups.
const MOST_GROUPS: usize = 100;
/// Groups of a number by its quantiles.
const QUARTERS: usize = 4;
/// Coordinates of all columns together, at most.
const MOST_COORDINATES: usize = 200;

/// A variable of each sample.
pub struct Column {
    name: String,
    is_number: bool,
    /// A group for each text, or each quarter of numbers.
    groups: Vec<Group>,
    /// The coordinates that a kernel compares, row by row: a standardised number, or whether each group is that of the
    /// sample, at a distance of 1 from one another.
    coordinates: Vec<f64>,
    /// The number of coordinates of a sample.
    width: usize,
}

/// The columns of the file that a command names, if it names one, except for labels or targets: given what
/// happened no model is calibrated. Labels are seen as they are written, by their numbers, and by the names
/// of their classes.
pub fn variables(files: &Files, targets: &[f64], names: &[String]) -> Result<Vec<Column>> {
    let Some(File { path, table }) = &files.given else {
        return Ok(Vec::new());
    };
    let labels = &files.of_labels().table.labels;
    let is_target = |column: &TextColumn| {
        let numbers = || column.cells.iter().map(|cell| cell.parse::<f64>().ok());
        // classes may count from 1
        let is_shifted = |by: f64| numbers().eq(targets.iter().map(|y| Some(y + by)));
        let is_named = || {
            let mut pairs = column.cells.iter().zip(targets);
            pairs.all(|(cell, &class)| {
                let name = names.get(class as usize);
                event(cell) == Some(class) || name.is_some_and(|name| is_same(cell, name))
            })
        };
        let is_label = |label: &TextColumn| {
            let mut pairs = column.cells.iter().zip(label.cells.iter());
            pairs.all(|(cell, label)| is_same(cell, label))
        };
        let is_target = || is_shifted(0.0) || is_shifted(1.0) || is_named();
        labels.iter().any(is_label) || !targets.is_empty() && is_target()
    };
    let (left_out, kept): (Vec<_>, Vec<_>) =
        table.labels.iter().partition(|column| is_target(column));
    if let Some(TextColumn { name, .. }) = left_out.first() {
        let name = clipped(name);
        ensure!(
            !kept.is_empty(),
            "{}: the column {name} is the outcome, expected variables that are known before it",
            path.display()
        );
        say(
            path,
            format!("the column {name} is the outcome, and is left out"),
        );
    }
    columns(path, table, &kept)
}

/// Whether two cells say the same, as `Yes`, `yes` and `1` do.
fn is_same(one: &str, other: &str) -> bool {
    let is_event = || event(one).is_some() && event(one) == event(other);
    one.eq_ignore_ascii_case(other) || is_event()
}

/// The columns of a file, of text or numbers.
fn columns(path: &Path, table: &Table, columns: &[&TextColumn]) -> Result<Vec<Column>> {
    let read = || {
        let mut names = BTreeSet::new();
        let is_wrong = |name: &String| name.is_empty() || !names.insert(name.clone());
        let mut all = columns.iter().map(|column| column.name.clone());
        if let Some(name) = all.find(is_wrong) {
            bail!("the header names a column \"{name}\", expected a different name for each");
        }
        let columns = columns.iter();
        columns.map(|column| Column::new(column)).collect()
    };
    read().on(path, &table.lines)
}

impl Column {
    /// A column of numbers where all cells are, otherwise one of groups.
    fn new(column: &TextColumn) -> Result<Self> {
        let (name, cells) = (column.name.clone(), &column.cells);
        let numbers: Option<Vec<f64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
        let Some(numbers) = numbers.filter(|_| !column.are_groups) else {
            let cells: Vec<String> = cells.iter().map(str::to_owned).collect();
            let names: BTreeSet<&String> = cells.iter().collect();
            let width = names.len();
            ensure!(
                width <= MOST_GROUPS,
                "column {name}: {width} groups, expected at most {MOST_GROUPS}, or numbers"
            );
            let hit = |cell, group| f64::from(u8::from(cell == group)) * 0.5f64.sqrt();
            let row = |cell| names.iter().map(move |group| hit(cell, *group));
            return Ok(Self {
                is_number: false,
                groups: Group::by_value(&name, &cells),
                coordinates: cells.iter().flat_map(row).collect(),
                width,
                name,
            });
        };
        if let Some(row) = numbers.iter().position(|number| !number.is_finite()) {
            let cell = clipped(&cells[row]);
            let wrong = wrong!("\"{cell}\", expected a finite number as in the other rows");
            return Err(wrong.at(row, format_args!("column {name}")));
        }
        let n = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / n;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let deviation = if variance == 0.0 {
            1.0
        } else {
            variance.sqrt()
        };
        Ok(Self {
            is_number: true,
            groups: Group::by_quantile(&name, &numbers, QUARTERS)?,
            coordinates: numbers.iter().map(|x| (x - mean) / deviation).collect(),
            width: 1,
            name,
        })
    }

    /// The coordinates as points beside predictions.
    fn points<P: Kind>(&self, predictions: &P) -> Tensor<2> {
        let values = TensorData::new(self.coordinates.clone(), [predictions.len(), self.width]);
        Tensor::from_data(values, (&predictions.device(), predictions.dtype()))
    }
}

/// The outcome given the columns of a file.
#[derive(Serialize)]
pub struct GivenAnswer {
    /// The names of the columns.
    columns: Vec<String>,
    /// The p-value of the tests given the columns together: the smallest one, adjusted for all tests of the answer.
    p_value: f64,
    tests: Vec<Part>,
    /// The number of all tests of the answer.
    #[serde(skip)]
    adjusted_for: usize,
}

/// A test of a group, or by a kernel on columns.
#[derive(Serialize)]
struct Part {
    name: String,
    /// The column, or "all".
    column: String,
    /// "group" or "kernel".
    kind: &'static str,
    /// The most significant finding at the level of the verdict over all tests, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<String>,
    /// The expected and the observed number in a group.
    #[serde(flatten)]
    in_the_large: Option<InTheLarge>,
    /// The outcome, adjusted for all tests of the answer.
    #[serde(flatten)]
    outcome: OmnibusOutcome,
}

/// Returns the columns that each kernel compares: a number, or all together, under the name of the column or "all".
fn kernels(columns: &[Column]) -> Vec<(&str, &str, Vec<&Column>)> {
    let numbers = columns.iter().filter(|column| column.is_number);
    let mut kernels: Vec<_> = numbers
        .map(|column| (&*column.name, &*column.name, vec![column]))
        .collect();
    let width: usize = columns.iter().map(|column| column.width).sum();
    if columns.len() > 1 && width <= MOST_COORDINATES {
        kernels.push(("all columns", "all", columns.iter().collect()));
    }
    kernels
}

/// Returns the number of tests of a view given columns: one of each group, and of each kernel where there is one.
pub fn count(columns: &[Column], kernel: Option<Kernel>) -> usize {
    let groups: usize = columns.iter().map(|column| column.groups.len()).sum();
    groups + kernel.map_or(0, |_| kernels(columns).len())
}

/// How often a test redraws.
#[derive(Debug, Clone, Copy)]
pub struct Redraws {
    /// The number that is asked for.
    pub asked: usize,
    /// The number of all tests of the answer, which are adjusted together.
    pub tests: usize,
}

/// Tests each group and each kernel, with as many redraws as all tests of the answer together need. The outcomes are not
/// adjusted for these yet.
pub fn test<P: Kind>(
    (columns, sizes): (&[Column], &SizeArgs),
    view: &View<P>,
    kernel: Option<Kernel>,
    Redraws { asked, tests: all }: Redraws,
    rng: &mut StdRng,
) -> Result<GivenAnswer> {
    let (predictions, targets) = (&view.predictions, &view.targets);
    let kernels = kernel.map_or_else(Vec::new, |_| kernels(columns));
    let (of_groups, groups): (Vec<&String>, Vec<Group>) = (columns.iter())
        .flat_map(|column| {
            column
                .groups
                .iter()
                .map(|group| (&column.name, group.clone()))
        })
        .unzip();
    let test = GroupTest::new().as_one_of(all);
    let test = test.with_most(asked.max(100 * all - 1));
    let test = kernel.map_or(test, |kernel| test.with_kernel(kernel));
    let outcome = test.outcome(predictions, targets, &groups, rng)?;
    let in_the_large = |group: &Group| {
        let of_group = predictions.select_rows(&group.rows);
        of_group.in_the_large(&targets.select_rows(&group.rows), &sizing(sizes, view))
    };
    let in_the_large: Vec<_> = groups.iter().map(in_the_large).collect();
    let in_the_large = in_the_large
        .into_iter()
        .chain(std::iter::repeat_with(|| None));
    let groups = of_groups.into_iter().zip(outcome.groups);
    let (mut tests, mut outcomes): (Vec<(String, &str, &'static str)>, Vec<OmnibusOutcome>) =
        (groups.map(|(column, group)| ((group.name, &**column, "group"), group.outcome))).unzip();
    for (title, column, compared) in kernels {
        let points = compared.iter().map(|column| column.points(predictions));
        let points = Tensor::cat(points.collect(), 1);
        let test = GivenTest::new().with_redraws(asked).as_one_of(all);
        if let Some(outcome) = P::Kernel::given(test, view, points, rng) {
            tests.push((format!("{title}, by a kernel"), column, "kernel"));
            outcomes.push(outcome?);
        }
    }
    let part = |(((name, column, kind), outcome), in_the_large): (((_, &str, _), _), _)| Part {
        in_the_large,
        name,
        column: column.to_owned(),
        kind,
        finding: None,
        outcome: OmnibusOutcome::with_class_names(outcome, &view.class_names),
    };
    Ok(GivenAnswer {
        columns: columns.iter().map(|column| column.name.clone()).collect(),
        p_value: 1.0,
        tests: (tests.into_iter().zip(outcomes).zip(in_the_large))
            .map(part)
            .collect(),
        adjusted_for: 0,
    })
}

impl Part {
    /// The most significant aspect that fails, if the outcome is a rejection.
    fn first_finding(&self) -> Option<String> {
        let failing = self.outcome.failing(self.outcome.level());
        // the SKCE does not say what is wrong
        let says_what = |aspect: &&&AspectOutcome| !aspect.name.starts_with("skce");
        let first = failing.iter().find(says_what).or(failing.first());
        let first = first.filter(|_| self.outcome.is_rejected());
        first.map(|aspect| aspect.finding.clone())
    }
}

impl GivenAnswer {
    /// The outcomes of the tests, to be adjusted together with those of the whole answer.
    pub fn outcomes_mut(&mut self) -> impl Iterator<Item = &mut OmnibusOutcome> {
        self.tests.iter_mut().map(|part| &mut part.outcome)
    }

    /// Names the rows of the data in findings, where the samples are some of them.
    pub fn at_rows(mut self, rows: &[usize]) -> Self {
        let at_rows = |part: Part| Part {
            outcome: part.outcome.at_rows(rows),
            ..part
        };
        self.tests = self.tests.into_iter().map(at_rows).collect();
        self
    }

    /// The outcomes of the tests.
    pub fn outcomes(&self) -> impl Iterator<Item = &OmnibusOutcome> {
        self.tests.iter().map(|part| &part.outcome)
    }

    /// Takes the smallest p-value and the findings of outcomes that are adjusted for so many tests.
    pub fn conclude(&mut self, tests: usize) {
        self.adjusted_for = tests;
        self.p_value = self.most_significant().adjusted_p_value.unwrap_or(1.0);
        for part in &mut self.tests {
            part.finding = part.first_finding();
        }
    }

    /// The outcome with the smallest p-value.
    pub fn most_significant(&self) -> &OmnibusOutcome {
        &self.by_p_value()[0].outcome
    }

    /// The names of the columns, in words.
    pub fn columns_in_words(&self) -> String {
        self.columns.join(", ")
    }

    /// The tests, the most significant first.
    fn by_p_value(&self) -> Vec<&Part> {
        let mut parts: Vec<_> = self.tests.iter().collect();
        let adjusted = |part: &Part| part.outcome.adjusted_p_value.unwrap_or(1.0);
        parts.sort_by(|a, b| adjusted(a).total_cmp(&adjusted(b))); // stable
        parts
    }

    /// Returns the parts that fail, groups first, the most significant first.
    fn failing(&self) -> Vec<&Part> {
        let mut parts = self.by_p_value();
        parts.retain(|part| part.outcome.is_rejected());
        parts.sort_by_key(|part| part.kind == "kernel");
        parts
    }
}

impl fmt::Display for GivenAnswer {
    /// The verdict, the table of all groups and kernels, and what is wrong where one fails.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (columns, tests) = (self.columns_in_words(), counted(self.adjusted_for, "test"));
        let failing = self.failing();
        let first = self.most_significant();
        let least = shown(first.probability());
        let sign = if least.starts_with('≤') { "" } else { "= " };
        let (words, level) = (first.conclusion(), first.level_in_words());
        let text =
            format!("{words} given {columns}: p {sign}{least}, adjusted for {tests}{level}.");
        writeln!(f, "{}", verdict(&text, failing.is_empty()))?;
        write!(f, "{}", self.table())?;
        for part in failing {
            let finding = part.finding.as_deref();
            let finding = finding.unwrap_or("no aspect is significant by itself");
            let p = shown(part.outcome.probability());
            writeln!(f, "    {}: {finding} (adjusted p {p})", part.name)?;
        }
        Ok(())
    }
}

impl GivenAnswer {
    /// The groups with what was expected and observed, then the kernels.
    fn table(&self) -> TextTable {
        let mut sized = self
            .tests
            .iter()
            .filter_map(|part| part.in_the_large.as_ref());
        let first = sized.next().map(|in_the_large| &in_the_large.error.0[0]);
        let of_error = first.map(|(name, size)| {
            let error = match size.unit {
                Unit::Ratio => name.title.to_string(),
                _ => format!("{}, points", name.title),
            };
            ["expected", "observed", &error, "interval"].map(str::to_owned)
        });
        let width = of_error.as_ref().map_or(0, |columns| columns.len());
        let columns = [
            ["n".to_owned()].to_vec(),
            of_error.map_or(Vec::new(), Vec::from),
        ]
        .concat();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut table = TextTable::new(&[&columns[..], &["p-value", "adjusted"]].concat());
        for part in &self.tests {
            let outcome = &part.outcome;
            let p_value = Probability::resampled(outcome.p_value, outcome.redraws);
            let mut cells = vec![outcome.samples.to_string()];
            match &part.in_the_large {
                Some(in_the_large) => cells.extend(in_the_large.cells()),
                None => cells.extend(vec![String::new(); width]),
            }
            cells.extend([p_value, outcome.probability()].map(shown));
            table.row(&part.name, &cells, "");
        }
        table
    }
}
