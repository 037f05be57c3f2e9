//! The answer to `--given`: is the model calibrated for every group, and for whom is it not?

use std::fmt;

use burn::tensor::{Tensor, TensorData};
use burn_calibration::{
    distribution::Given,
    hypothesis::{Group, GroupTest, OmnibusOutcome, holm},
    kernel::Kernel,
};
use rand::rngs::StdRng;
use serde::Serialize;

use crate::{
    columns::{Column, Values},
    error::Result,
    kind::{Kind, View},
    words::probability,
};

/// Groups of a number by its quantiles.
const QUARTERS: usize = 4;
/// Coordinates of all columns together, at most.
const MOST_COORDINATES: usize = 200;

/// The outcome given the columns of a file.
#[derive(Serialize)]
pub struct GivenAnswer {
    /// The names of the columns.
    columns: Vec<String>,
    /// The p-value of all tests together: the least adjusted one.
    p_value: f64,
    tests: Vec<Part>,
}

/// A test of a group, or by a kernel on columns.
#[derive(Serialize)]
struct Part {
    name: String,
    /// The column, or "all".
    column: String,
    /// "group" or "kernel".
    kind: &'static str,
    /// Adjusted for all tests, by Holm.
    adjusted_p_value: f64,
    /// The most significant finding at the level of 5 % over all tests, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<String>,
    #[serde(flatten)]
    outcome: OmnibusOutcome,
}

/// The number of tests given some columns.
pub fn count(columns: &[Column]) -> usize {
    let groups: usize = columns.iter().map(|column| groups(column).len()).sum();
    groups + kernels(columns).len()
}

fn groups(column: &Column) -> Vec<Group> {
    match &column.values {
        Values::Text(cells) => Group::by_value(&column.name, cells),
        Values::Numbers(numbers) => Group::by_quantile(&column.name, numbers, QUARTERS)
            .expect("columns hold finite numbers"),
    }
}

/// What kernels compare: each number, and all columns together.
fn kernels(columns: &[Column]) -> Vec<(String, Vec<&Column>)> {
    let is_number = |column: &&Column| matches!(column.values, Values::Numbers(_));
    let alone = |column| (column_title(column), vec![column]);
    let mut kernels: Vec<_> = columns.iter().filter(is_number).map(alone).collect();
    let coordinates: usize = columns.iter().map(|column| column.coordinates().1).sum();
    if columns.len() > 1 && coordinates <= MOST_COORDINATES {
        kernels.push(("all columns, by a kernel".into(), columns.iter().collect()));
    }
    kernels
}

fn column_title(column: &Column) -> String {
    format!("{}, by a kernel", column.name)
}

/// Tests each group and each kernel with so many redraws, or as many as their number needs.
pub fn test<P: Kind>(
    columns: &[Column],
    (view, class_names): (&View<P>, &[String]),
    kernel: Kernel,
    redraws: usize,
    rng: &mut StdRng,
) -> Result<GivenAnswer> {
    let (predictions, targets) = (&view.predictions, &view.targets);
    let total = count(columns);
    let redraws = redraws.max(100 * total - 1);
    let mut parts = Vec::with_capacity(total);
    let groups: Vec<(&Column, Group)> = (columns.iter())
        .flat_map(|column| groups(column).into_iter().map(move |group| (column, group)))
        .collect();
    let named: Vec<Group> = groups.iter().map(|(_, group)| group.clone()).collect();
    let outcome = GroupTest::new()
        .with_kernel(kernel)
        .with_most(redraws)
        .outcome(predictions, targets, &named, rng)?;
    let part = |name, column, kind, level, outcome: OmnibusOutcome| {
        let outcome = outcome.with_class_names(class_names);
        let finding = (outcome.failing(level).first()).map(|aspect| aspect.finding.clone());
        Part {
            name,
            column,
            kind,
            adjusted_p_value: 1.0,
            finding,
            outcome,
        }
    };
    // aspects of groups are adjusted for the groups; there are the kernels besides
    let of_groups = 0.05 * groups.len() as f64 / total as f64;
    for ((column, _), group) in groups.iter().zip(outcome.groups) {
        let column = column.name.clone();
        parts.push(part(group.name, column, "group", of_groups, group.outcome));
    }
    for (name, compared) in kernels(columns) {
        let rows: Vec<(Vec<f64>, usize)> = compared.iter().map(|c| c.coordinates()).collect();
        let points = |(values, d): (Vec<f64>, usize)| {
            let values = TensorData::new(values, [predictions.len(), d]);
            let options = (&predictions.device(), predictions.dtype());
            Tensor::<2>::from_data(values, options)
        };
        let points = Tensor::cat(rows.into_iter().map(points).collect(), 1);
        let given = Given::new(predictions.clone(), points);
        let outcome = P::given(&given, targets, redraws, rng)?;
        let column = match compared.as_slice() {
            [only] => only.name.clone(),
            _ => "all".into(),
        };
        parts.push(part(name, column, "kernel", 0.05, outcome));
    }
    let p_values: Vec<f64> = parts.iter().map(|part| part.outcome.p_value).collect();
    let adjusted = holm(&p_values)?;
    for (part, adjusted) in parts.iter_mut().zip(&adjusted) {
        part.adjusted_p_value = *adjusted;
        part.finding.take_if(|_| *adjusted > 0.05);
    }
    Ok(GivenAnswer {
        columns: columns.iter().map(|column| column.name.clone()).collect(),
        p_value: adjusted.iter().copied().fold(1.0, f64::min),
        tests: parts,
    })
}

impl Part {
    /// Whether the p-value is the least that the redraws can give.
    fn is_bound(&self) -> bool {
        self.outcome.p_value <= 1.5 / (self.outcome.redraws + 1) as f64
    }

    fn adjusted(&self) -> String {
        probability(self.adjusted_p_value, self.is_bound())
    }
}

impl GivenAnswer {
    /// Those that fail, groups first, the most significant first.
    fn failing(&self) -> Vec<&Part> {
        let failing = |part: &&Part| part.adjusted_p_value <= 0.05;
        let mut parts: Vec<_> = self.tests.iter().filter(failing).collect();
        parts.sort_by(|a, b| a.adjusted_p_value.total_cmp(&b.adjusted_p_value)); // stable
        parts.sort_by_key(|part| part.kind == "kernel");
        parts
    }
}

impl fmt::Display for GivenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (columns, tests) = (self.columns.join(", "), self.tests.len());
        let failing = self.failing();
        let is_bound = |part: &&Part| part.adjusted_p_value <= self.p_value && part.is_bound();
        let least = probability(self.p_value, self.tests.iter().any(|part| is_bound(&part)));
        let sign = if least.starts_with('≤') { "" } else { "= " };
        match failing.is_empty() {
            true => write!(
                f,
                "There is no evidence against calibration given {columns}"
            )?,
            false => write!(f, "The model is not calibrated given {columns}")?,
        }
        writeln!(f, ": p {sign}{least}, adjusted for {tests} tests.")?;
        for part in failing {
            let finding = part.finding.as_deref();
            let finding = finding.unwrap_or("no aspect is significant by itself");
            writeln!(
                f,
                "    {}: {finding} (adjusted p {})",
                part.name,
                part.adjusted()
            )?;
        }
        writeln!(
            f,
            "\ncalibration given {columns}, of each group and by kernels"
        )?;
        writeln!(
            f,
            "  {:38} {:>10} {:>12} {:>12}",
            "", "samples", "p-value", "adjusted"
        )?;
        for part in &self.tests {
            writeln!(
                f,
                "  {:38} {:>10} {:>12} {:>12}",
                part.name,
                part.outcome.samples,
                probability(part.outcome.p_value, part.is_bound()),
                part.adjusted()
            )?;
        }
        Ok(())
    }
}
