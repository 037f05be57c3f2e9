//! How often a choice among maps keeps its word: whether it leaves calibrated predictions as they are, and how
//! often the interval of its gain holds the true gain of the map that it gives.
//!
//! ```console
//! cargo run --release -p burn-calibration-papers --example fits -- --seed 0
//! ```
//!
//! prints the tables of `papers/results/levels_maps.md`; with `--real` that of real targets alone. Labels are drawn from
//! known probabilities, so that the true gain of a fitted map is a mean over 20,000 more predictions of the expected log
//! loss.

mod real;

use std::sync::Mutex;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::{
    distribution::{Categorical, Subject},
    recalibration::{AutoRecalibrationConfig, Fit, FitWarning, Recalibration as _},
    score::Interval,
};
use clap::Parser;
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use rand_distr::StandardNormal;
use rayon::prelude::*;

/// Levels of the choice among maps.
#[derive(Parser)]
struct Options {
    /// Data sets of a setting.
    #[arg(long, default_value_t = 300)]
    datasets: u64,
    /// Seed of the first data set.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Samples of a data set; by default those of the setting.
    #[arg(long, value_delimiter = ',')]
    samples: Vec<usize>,
    /// Real targets, and not classes.
    #[arg(long)]
    real: bool,
    /// Only settings whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
}

/// Logits of independent normals, and what the true probabilities are.
struct Setting {
    name: &'static str,
    classes: usize,
    /// The standard deviation of the logits.
    spread: f64,
    /// The logarithms of the true probabilities, up to a constant.
    truth: fn(&[f64]) -> Vec<f64>,
    samples: &'static [usize],
}

fn same(z: &[f64]) -> Vec<f64> {
    z.to_vec()
}

fn over(z: &[f64]) -> Vec<f64> {
    z.iter().map(|z| z / 1.5).collect()
}

fn far_over(z: &[f64]) -> Vec<f64> {
    z.iter().map(|z| z / 2.5).collect()
}

fn under(z: &[f64]) -> Vec<f64> {
    z.iter().map(|z| z / 0.7).collect()
}

fn twice(z: &[f64]) -> Vec<f64> {
    z.iter().map(|z| z / 2.0).collect()
}

fn high(z: &[f64]) -> Vec<f64> {
    vec![z[0], z[1] - 1.0]
}

fn a_little_high(z: &[f64]) -> Vec<f64> {
    vec![z[0], z[1] - 0.5]
}

fn twice_and_high(z: &[f64]) -> Vec<f64> {
    high(&twice(z))
}

/// Shifts of the classes between −1 and 1.
fn shifted(z: &[f64]) -> Vec<f64> {
    let shift = |(c, z): (usize, &f64)| z + [1.0, -0.5, -1.0, 0.5, 0.0][c % 5];
    z.iter().enumerate().map(shift).collect()
}

/// The first class is less frequent.
fn first_too_likely(z: &[f64]) -> Vec<f64> {
    let shift = |(c, z): (usize, &f64)| if c == 0 { z - 0.8 } else { *z };
    z.iter().enumerate().map(shift).collect()
}

/// A slope and an intercept of each class.
fn class_wise(z: &[f64]) -> Vec<f64> {
    let of = |(c, z): (usize, &f64)| [0.5, 1.0, 0.8][c % 3] * z + [0.7, 0.0, -0.5][c % 3];
    z.iter().enumerate().map(of).collect()
}

/// Of labels that are random in 12 of 100 cases.
fn noisy(z: &[f64]) -> Vec<f64> {
    let m = z.len() as f64;
    softmax(z)
        .iter()
        .map(|p| (0.88 * p + 0.12 / m).ln())
        .collect()
}

const fn setting(
    name: &'static str,
    (classes, spread): (usize, f64),
    truth: fn(&[f64]) -> Vec<f64>,
    samples: &'static [usize],
) -> Setting {
    Setting {
        name,
        classes,
        spread,
        truth,
        samples,
    }
}

/// Two classes whose log-odds have standard deviation 1.5.
const EVENT: (usize, f64) = (2, 1.060_660_171_779_821_2);

const SETTINGS: [Setting; 19] = [
    setting("calibrated, event", EVENT, same, &[30, 60, 150, 700]),
    setting("calibrated, 2 classes", (2, 1.5), same, &[100, 300]),
    setting("calibrated, 3 classes", (3, 2.0), same, &[60, 150, 1000]),
    setting(
        "calibrated, 10 classes",
        (10, 2.0),
        same,
        &[30, 60, 100, 150],
    ),
    setting("calibrated, 3 classes, 96 % right", (3, 12.0), same, &[300]),
    setting("event, log-odds too high by 1", EVENT, high, &[30, 60, 150]),
    setting(
        "event, log-odds too high by 0.5",
        EVENT,
        a_little_high,
        &[150, 700],
    ),
    setting("event, log-odds twice as large", EVENT, twice, &[60, 150]),
    setting(
        "event, log-odds twice as large and too high by 1",
        EVENT,
        twice_and_high,
        &[150, 700],
    ),
    setting(
        "shifted by up to 1, 10 classes",
        (10, 2.0),
        shifted,
        &[150, 300],
    ),
    setting(
        "one class too likely, 5 classes",
        (5, 2.0),
        first_too_likely,
        &[200],
    ),
    setting(
        "one class too likely, 10 classes",
        (10, 2.0),
        first_too_likely,
        &[200],
    ),
    setting(
        "one class too likely, 20 classes",
        (20, 2.0),
        first_too_likely,
        &[300],
    ),
    setting(
        "overconfident, T = 1.5, 3 classes",
        (3, 3.0),
        over,
        &[100, 300],
    ),
    setting(
        "overconfident, T = 2.5, 10 classes",
        (10, 6.0),
        far_over,
        &[100],
    ),
    setting(
        "underconfident, T = 0.7, 3 classes",
        (3, 2.0),
        under,
        &[100, 300],
    ),
    setting(
        "wrong by class, 2 classes",
        (2, 2.0),
        class_wise,
        &[100, 300],
    ),
    setting(
        "wrong by class, 3 classes",
        (3, 2.0),
        class_wise,
        &[100, 300, 1000],
    ),
    setting("noisy labels, 6 classes", (6, 6.0), noisy, &[100, 300]),
];

fn softmax(z: &[f64]) -> Vec<f64> {
    let largest = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = z.iter().map(|z| (z - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

fn tensor(values: Vec<f64>, classes: usize) -> Tensor<2> {
    let shape = [values.len() / classes, classes];
    Tensor::from_data(
        TensorData::new(values, shape),
        (&Device::flex(), DType::F64),
    )
}

impl Setting {
    fn logits(&self, n: usize, rng: &mut impl Rng) -> Vec<f64> {
        let number = |_| self.spread * rng.sample::<f64, _>(StandardNormal);
        (0..n * self.classes).map(number).collect()
    }

    /// The change of the mean expected log loss from logits to others, and its standard error of 4,000 labels.
    fn change(&self, before: &[f64], after: &[f64]) -> (f64, f64) {
        let rows = before.chunks(self.classes).zip(after.chunks(self.classes));
        let n = rows.len() as f64;
        let (mut mean, mut square) = (0.0, 0.0);
        for (before, after) in rows {
            let (truth, p, q) = (
                softmax(&(self.truth)(before)),
                softmax(before),
                softmax(after),
            );
            for ((truth, p), q) in truth.iter().zip(p).zip(q) {
                let rise = (p / q).ln();
                mean += truth * rise / n;
                square += truth * rise * rise / n;
            }
        }
        (mean, ((square - mean * mean) / 4000.0).sqrt())
    }

    /// The mean confidence of logits, less the true probability that they are right, in points.
    fn overconfidence(&self, logits: &[f64], of: &[f64]) -> f64 {
        let m = self.classes;
        let row = |(z, of): (&[f64], &[f64])| {
            let (p, truth) = (softmax(z), softmax(&(self.truth)(of)));
            let likely = (1..m).fold(0, |k, c| if p[c] > p[k] { c } else { k });
            100.0 * (p[likely] - truth[likely])
        };
        let rows = logits.chunks(m).zip(of.chunks(m));
        rows.map(row).sum::<f64>() / (logits.len() / m) as f64
    }

    fn is_calibrated(&self) -> bool {
        self.name.starts_with("calibrated")
    }

    fn subject(&self) -> Subject {
        if self.name.contains("event") {
            Subject::Event
        } else {
            Subject::Classes
        }
    }

    fn outcome(&self, n: usize, seed: u64) -> Outcome {
        let mut rng = StdRng::seed_from_u64(seed);
        let logits = self.logits(n, &mut rng);
        let label = |row: &[f64]| {
            let (mut left, p) = (rng.random::<f64>(), softmax(&(self.truth)(row)));
            let drawn = p.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            drawn.unwrap_or(self.classes - 1) as i64
        };
        let labels: Vec<i64> = logits.chunks(self.classes).map(label).collect();
        let labels = Tensor::<1, Int>::from_data(TensorData::new(labels, [n]), &Device::flex());
        let predictions = Categorical::from_logits(tensor(logits, self.classes));
        let predictions = predictions.and_then(|p| p.about(self.subject()));
        let predictions = predictions.expect("the logits are finite");
        let map = AutoRecalibrationConfig::new().fit(predictions, labels);
        let map = map.expect("the data are valid");
        let others = self.logits(20_000, &mut rng);
        let after = map.forward(tensor(others.clone(), self.classes));
        let after = after.try_into_vec_as::<f64>().expect("floats");
        let choice = map.choice();
        let (gain, standard_error) = self.change(&others, &after);
        Outcome {
            chosen: choice.chosen,
            interval: choice.interval(),
            gain,
            is_worse: gain > standard_error,
            overconfidence: [&others, &after].map(|z| self.overconfidence(z, &others)),
            aside: (choice.warnings.iter())
                .any(|warning| matches!(warning, FitWarning::SetAside { .. })),
        }
    }
}

struct Outcome {
    chosen: &'static str,
    interval: Option<Interval>,
    /// The true change of the log loss.
    gain: f64,
    /// Whether the log loss rises by a standard error of 4,000 new rows.
    is_worse: bool,
    /// True, in points, before and after.
    overconfidence: [f64; 2],
    /// Whether a row was left out of the fits.
    aside: bool,
}

fn percent(count: usize, of: usize) -> String {
    if of == 0 {
        return "–".into();
    }
    format!("{:.1} % of {of}", 100.0 * count as f64 / of as f64)
}

fn main() {
    let options = Options::parse();
    if options.real {
        return real::run(&options);
    }
    println!(
        "| predictions | samples | a map is chosen | its interval holds the true gain | true change of the log loss, \
         mean | the log loss rises; by a standard error | overconfidence, points, before and after | rows left out | most chosen |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    let sums = Mutex::new([[0; 2]; 2]);
    for setting in SETTINGS
        .iter()
        .filter(|setting| setting.name.contains(&options.only))
    {
        let samples = match &options.samples[..] {
            [] => setting.samples,
            samples => samples,
        };
        for &n in samples {
            let seeds = options.seed..options.seed + options.datasets;
            let outcomes: Vec<Outcome> = (seeds.into_par_iter())
                .map(|seed| setting.outcome(n, seed))
                .collect();
            let count =
                |holds: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|one| holds(one)).count();
            let chosen = count(&|one| one.chosen != "none");
            let given = count(&|one| one.interval.is_some());
            let held = |one: &Outcome| {
                one.interval.is_some_and(|interval| {
                    interval.lower <= one.gain && one.gain <= interval.upper
                })
            };
            let held = count(&held);
            let mut sums = sums.lock().expect("nothing panics");
            sums[usize::from(setting.is_calibrated())][0] += chosen;
            sums[usize::from(setting.is_calibrated())][1] += outcomes.len();
            let mut names: Vec<&str> = outcomes.iter().map(|one| one.chosen).collect();
            names.sort_unstable();
            let most = names.chunk_by(|a, b| a == b).max_by_key(|same| same.len());
            let most = most.map_or("", |same| same[0]);
            let mean = outcomes.iter().map(|one| one.gain).sum::<f64>() / outcomes.len() as f64;
            let over = [0, 1].map(|k| {
                outcomes
                    .iter()
                    .map(|one| one.overconfidence[k])
                    .sum::<f64>()
                    / outcomes.len() as f64
            });
            println!(
                "| {} | {n} | {} | {} | {mean:+.4} | {}; {} | {:+.1}, {:+.1} | {} | {most} |",
                setting.name,
                percent(chosen, outcomes.len()),
                percent(held, given),
                count(&|one| one.gain > 0.0),
                count(&|one| one.is_worse),
                over[0],
                over[1],
                percent(count(&|one| one.aside), outcomes.len()),
            );
        }
    }
    let [_, [chosen, all]] = sums.into_inner().expect("nothing panics");
    println!(
        "\nOf calibrated predictions a map is chosen in {}.",
        percent(chosen, all)
    );
}
