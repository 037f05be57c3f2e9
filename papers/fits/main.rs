//! How often a choice among maps keeps its word: whether it leaves calibrated predictions as they are, and how
//! often the interval of its gain holds the true gain of the map that it gives.
//!
//! ```console
//! cargo run --release -p burn-calibration-papers --example fits -- --seed 0
//! ```
//!
//! prints the tables of `papers/results/levels_maps.md`; with `--real` that of real targets alone. Labels are drawn from known probabilities, so that the true
//! gain of a fitted map is a mean over 20,000 more predictions of the expected log loss.

mod real;

use std::sync::Mutex;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::{
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
    /// Samples of a data set.
    #[arg(long, value_delimiter = ',', default_value = "100,300,1000")]
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
    calibrated: bool,
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
    calibrated: bool,
) -> Setting {
    Setting {
        name,
        classes,
        spread,
        truth,
        calibrated,
    }
}

const SETTINGS: [Setting; 10] = [
    setting("calibrated, 2 classes", (2, 1.5), same, true),
    setting("calibrated, 3 classes", (3, 2.0), same, true),
    setting("calibrated, 10 classes", (10, 3.0), same, true),
    setting("calibrated, 3 classes, 96 % right", (3, 12.0), same, true),
    setting("overconfident, T = 1.5, 3 classes", (3, 3.0), over, false),
    setting(
        "overconfident, T = 2.5, 10 classes",
        (10, 6.0),
        far_over,
        false,
    ),
    setting("underconfident, T = 0.7, 3 classes", (3, 2.0), under, false),
    setting("wrong by class, 2 classes", (2, 2.0), class_wise, false),
    setting("wrong by class, 3 classes", (3, 2.0), class_wise, false),
    setting("noisy labels, 6 classes", (6, 6.0), noisy, false),
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

    /// The mean expected log loss of logits whose true probabilities are those of others.
    fn loss(&self, logits: &[f64], of: &[f64]) -> f64 {
        let m = self.classes;
        let row = |(z, of): (&[f64], &[f64])| {
            let largest = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum = z.iter().map(|z| (z - largest).exp()).sum::<f64>();
            let truth = softmax(&(self.truth)(of));
            let log = |z: &f64| largest + sum.ln() - z;
            truth.iter().zip(z).map(|(p, z)| p * log(z)).sum::<f64>()
        };
        logits.chunks(m).zip(of.chunks(m)).map(row).sum::<f64>() / (logits.len() / m) as f64
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
        let map = AutoRecalibrationConfig::new().fit(tensor(logits, self.classes), labels);
        let map = map.expect("the data are valid");
        let others = self.logits(20_000, &mut rng);
        let after = map.forward(tensor(others.clone(), self.classes));
        let after = after.try_into_vec_as::<f64>().expect("floats");
        let choice = map.choice();
        Outcome {
            chosen: choice.chosen,
            interval: choice.interval(),
            gain: self.loss(&after, &others) - self.loss(&others, &others),
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
         mean | the log loss rises | overconfidence, points, before and after | rows left out | most chosen |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    let sums = Mutex::new([[0; 2]; 2]);
    for setting in SETTINGS
        .iter()
        .filter(|setting| setting.name.contains(&options.only))
    {
        for &n in &options.samples {
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
            sums[usize::from(setting.calibrated)][0] += chosen;
            sums[usize::from(setting.calibrated)][1] += outcomes.len();
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
                "| {} | {n} | {} | {} | {mean:+.4} | {} | {:+.1}, {:+.1} | {} | {most} |",
                setting.name,
                percent(chosen, outcomes.len()),
                percent(held, given),
                percent(count(&|one| one.gain > 0.0), outcomes.len()),
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
