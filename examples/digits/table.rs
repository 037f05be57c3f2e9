//! Means over the seeds with their standard errors, and what they say.

use burn_calibration::hypothesis::OmnibusOutcome;
use statrs::statistics::{Data, OrderStatistics, Statistics};

use crate::evaluation::Evaluation;

/// The networks of one objective, one a seed.
pub struct Runs {
    name: String,
    before: Vec<Evaluation>,
    after: Vec<Evaluation>,
    temperatures: Vec<f64>,
}

impl Runs {
    pub fn new(objective: &str) -> Self {
        Self {
            name: objective.into(),
            before: vec![],
            after: vec![],
            temperatures: vec![],
        }
    }

    /// Adds a network, evaluated before and after temperature scaling.
    pub fn push(&mut self, before: Evaluation, after: Evaluation, temperature: f64) {
        self.before.push(before);
        self.after.push(after);
        self.temperatures.push(temperature);
    }

    pub fn first_test(&self) -> &OmnibusOutcome {
        &self.before[0].test
    }
}

/// A column: its title, a number of an evaluation in the unit of the title, its decimals.
type Column = (&'static str, fn(&Evaluation) -> f64, usize);

const ACCURACY: Column = ("accuracy %", |e| 1e2 * e.accuracy, 1);
const LOG_LOSS: Column = ("log loss", |e| e.log_loss, 3);
const BRIER: Column = ("Brier", |e| e.brier, 3);
const ECE: Column = ("ECE %", |e| 1e2 * e.ece, 1);
const SKCE: Column = ("SKCE × 10⁴", |e| 1e4 * e.skce, 2);
const COLUMNS: [Column; 5] = [ACCURACY, LOG_LOSS, BRIER, ECE, SKCE];

/// A p-value of at most this rejects the hypothesis that the network is calibrated.
const LEVEL: f64 = 0.05;
/// The least p-value of 999 redraws: no smaller one is known.
const LEAST: f64 = 1e-3;

pub fn print(runs: &[Runs]) {
    let titles = COLUMNS.iter().map(|(title, ..)| *title);
    let p = ["median p".into(), format!("p ≤ {LEVEL}"), "T".into()];
    line("", titles.map(String::from).chain(p));
    println!("as trained");
    for runs in runs {
        line(&runs.name, cells(&runs.before).into_iter());
    }
    println!("temperature scaled");
    for runs in runs {
        let temperature = mean(&runs.temperatures, 2);
        line(
            &runs.name,
            cells(&runs.after).into_iter().chain([temperature]),
        );
    }
}

fn line(name: &str, cells: impl Iterator<Item = String>) {
    let cells: String = cells.map(|cell| format!("{cell:>15}")).collect();
    println!("  {name:13}{cells}");
}

fn cells(evaluations: &[Evaluation]) -> Vec<String> {
    let number = |&(_, number, decimals): &Column| {
        let values: Vec<f64> = evaluations.iter().map(number).collect();
        mean(&values, decimals)
    };
    let p: Vec<f64> = evaluations.iter().map(|e| e.test.p_value).collect();
    let rejected = format!("{} of {}", rejected(evaluations), p.len());
    let median = match Data::new(p).median() {
        p if p <= LEAST => format!("≤ {LEAST}"),
        p => format!("{p:.3}"),
    };
    COLUMNS
        .iter()
        .map(number)
        .chain([median, rejected])
        .collect()
}

/// How many p-values are at most the level.
fn rejected(evaluations: &[Evaluation]) -> usize {
    evaluations
        .iter()
        .filter(|e| e.test.p_value <= LEVEL)
        .count()
}

/// The mean, and its standard error where there are several values.
fn mean(values: &[f64], decimals: usize) -> String {
    let error = values.std_dev() / (values.len() as f64).sqrt();
    match values.len() {
        1 => format!("{:.decimals$}", values[0]),
        _ => format!("{:.decimals$} ± {error:.decimals$}", values.mean()),
    }
}

/// What the penalties and the temperature changed, in words.
pub fn print_findings(runs: &[Runs]) {
    let base = &runs[0];
    for other in &runs[1..] {
        let log_loss = change(&LOG_LOSS, &base.before, &other.before);
        let skce = change(&SKCE, &base.before, &other.before);
        let accuracy = differences(&ACCURACY, &base.before, &other.before);
        println!(
            "{}, against {}: log loss {log_loss}, SKCE {skce}, accuracy {:+.1} points.",
            other.name,
            base.name,
            accuracy.mean()
        );
    }
    for runs in runs {
        println!(
            "Temperature scaling of {}: log loss {}, SKCE {}; the test rejects {} of {} networks \
             before and {} after.",
            runs.name,
            change(&LOG_LOSS, &runs.before, &runs.after),
            change(&SKCE, &runs.before, &runs.after),
            rejected(&runs.before),
            runs.before.len(),
            rejected(&runs.after),
        );
    }
}

/// The mean difference relative to the first mean, and for how many seeds it is negative.
fn change(column: &Column, from: &[Evaluation], to: &[Evaluation]) -> String {
    let base = from.iter().map(column.1).mean();
    let differences = differences(column, from, to);
    let lower = differences.iter().filter(|&&d| d < 0.0).count();
    format!(
        "{:+.0} % (lower for {lower} of {} seeds)",
        100.0 * differences.mean() / base,
        from.len()
    )
}

/// Seed by seed.
fn differences((_, number, _): &Column, from: &[Evaluation], to: &[Evaluation]) -> Vec<f64> {
    let pairs = from.iter().zip(to);
    pairs.map(|(from, to)| number(to) - number(from)).collect()
}
