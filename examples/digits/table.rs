//! Means over the seeds with their standard errors.

use crate::evaluation::Evaluation;

/// One loss, trained from each seed.
pub struct Training {
    name: String,
    before: Vec<Evaluation>,
    after: Vec<Evaluation>,
    temperatures: Vec<f64>,
}

impl Training {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            before: vec![],
            after: vec![],
            temperatures: vec![],
        }
    }

    pub fn add(&mut self, before: Evaluation, after: Evaluation, temperature: f64) {
        self.before.push(before);
        self.after.push(after);
        self.temperatures.push(temperature);
    }
}

/// A column: its title, a number of an evaluation, its unit and decimals.
type Column = (&'static str, fn(&Evaluation) -> f64, f64, usize);

const COLUMNS: [Column; 5] = [
    ("accuracy %", |e| e.accuracy, 1e2, 1),
    ("log loss", |e| e.log_loss, 1.0, 3),
    ("Brier", |e| e.brier, 1.0, 4),
    ("ECE %", |e| e.ece, 1e2, 2),
    ("SKCE 1e-4", |e| e.test.estimate(), 1e4, 2),
];

pub fn print(trainings: &[Training]) {
    let line = |name: &str, cells: &[String]| {
        println!(
            "{name:16}{}",
            cells
                .iter()
                .map(|cell| format!("{cell:>16}"))
                .collect::<String>()
        );
    };
    let titles: Vec<String> = COLUMNS
        .iter()
        .map(|(title, ..)| (*title).into())
        .chain(["median p".into(), "p < 0.05".into()])
        .collect();
    println!("mean ± standard error over the seeds, on test data\n");
    line("as trained", &titles);
    trainings
        .iter()
        .for_each(|t| line(&t.name, &cells(&t.before)));
    println!();
    line("recalibrated", &titles);
    trainings
        .iter()
        .for_each(|t| line(&t.name, &cells(&t.after)));
    println!();
    for training in trainings {
        let (t, error) = mean(&training.temperatures);
        println!("{:16}temperature {t:.2} ± {error:.2}", training.name);
    }
    println!();
    for training in &trainings[1..] {
        compare(&trainings[0], training);
    }
}

fn cells(evaluations: &[Evaluation]) -> Vec<String> {
    let cell = |&(_, of, unit, decimals): &Column| {
        let (mean, error) = mean(&evaluations.iter().map(|e| of(e) * unit).collect::<Vec<_>>());
        format!("{mean:.decimals$} ± {error:.decimals$}")
    };
    let mut p_values: Vec<f64> = evaluations.iter().map(|e| e.test.p_value()).collect();
    p_values.sort_by(f64::total_cmp);
    let rejected = p_values.iter().filter(|&&p| p < 0.05).count();
    let (low, high) = (
        p_values[(p_values.len() - 1) / 2],
        p_values[p_values.len() / 2],
    );
    let p = [
        format!("{:.4}", 0.5 * (low + high)),
        format!("{rejected} of {}", p_values.len()),
    ];
    COLUMNS.iter().map(cell).chain(p).collect()
}

/// What a penalty changed, seed by seed.
fn compare(base: &Training, other: &Training) {
    let change = |(title, of, unit, decimals): &Column| {
        let changes: Vec<f64> = other
            .before
            .iter()
            .zip(&base.before)
            .map(|(a, b)| (of(a) - of(b)) * unit)
            .collect();
        let (mean, error) = mean(&changes);
        format!("{title} {mean:+.decimals$} ± {error:.decimals$}")
    };
    let changes: Vec<String> = COLUMNS.iter().map(change).collect();
    println!(
        "{:16}against {}: {}",
        other.name,
        base.name,
        changes.join(", ")
    );
}

/// The mean and its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
