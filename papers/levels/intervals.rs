//! Coverage of the intervals: how often each holds the error given the predictions, of calibrated models and of
//! others, from 8 to 2,000 samples.
//!
//! ```console
//! cargo run --release --example intervals
//! ```
//!
//! prints the Markdown tables of `docs/levels.md`.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::{
    distribution::Categorical,
    error::Result,
    estimator::{Skce, Tce},
    kernel::{Bandwidth, Kernel},
    score::{Brier, LogScore, Overconfidence, Quantify, Score},
};
use clap::Parser;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Coverage of intervals.
#[derive(Parser)]
struct Options {
    /// Data sets of a setting.
    #[arg(long, default_value_t = 500)]
    datasets: u64,
    /// Seed of the first data set.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Numbers of samples.
    #[arg(long, default_values_t = [8, 20, 50, 200, 2000])]
    samples: Vec<usize>,
}

/// Predicted probabilities of an event, and how they are off.
#[derive(Clone, Copy)]
struct Setting {
    name: &'static str,
    predicted: fn(&mut StdRng) -> f64,
    truth: fn(f64) -> f64,
    /// The predictions that are compared with these.
    other: fn(f64) -> f64,
}

fn odds(p: f64, factor: f64) -> f64 {
    let odds = factor * p / (1.0 - p);
    odds / (1.0 + odds)
}

/// The odds to a power.
fn power(p: f64, exponent: f64) -> f64 {
    let odds = (p / (1.0 - p)).powf(exponent);
    if odds.is_finite() {
        odds / (1.0 + odds)
    } else {
        1.0
    }
}

fn rare(rng: &mut StdRng) -> f64 {
    (1e-4 - 0.01 * rng.random::<f64>().ln()).min(0.3)
}

fn moderate(rng: &mut StdRng) -> f64 {
    0.001 + 0.998 * rng.random::<f64>()
}

/// Log-odds of a standard deviation of 6.
fn confident(rng: &mut StdRng) -> f64 {
    let normal: f64 = StandardNormal.sample(rng);
    1.0 / (1.0 + (-6.0 * normal).clamp(-27.0, 27.0).exp())
}

fn alike(rng: &mut StdRng) -> f64 {
    0.88 + 0.04 * rng.random::<f64>()
}

fn tied(rng: &mut StdRng) -> f64 {
    if rng.random() { 0.7 } else { 0.9 }
}

const SETTINGS: [Setting; 13] = [
    Setting {
        name: "rare events, calibrated",
        predicted: rare,
        truth: |p| p,
        other: |p| odds(p, 1.5),
    },
    Setting {
        name: "rare events, odds × 1.5",
        predicted: rare,
        truth: |p| odds(p, 1.5),
        other: |p| odds(p, 1.5),
    },
    Setting {
        name: "rare events, odds × 4",
        predicted: rare,
        truth: |p| odds(p, 4.0),
        other: |p| odds(p, 1.5),
    },
    Setting {
        name: "rare events, odds / 4",
        predicted: rare,
        truth: |p| odds(p, 0.25),
        other: |p| odds(p, 1.5),
    },
    Setting {
        name: "confident, calibrated",
        predicted: confident,
        truth: |p| p,
        other: |p| power(p, 0.7),
    },
    Setting {
        name: "confident, T = 1.3",
        predicted: confident,
        truth: |p| power(p, 1.0 / 1.3),
        other: |p| power(p, 1.0 / 1.3),
    },
    Setting {
        name: "confident, T = 2.5",
        predicted: confident,
        truth: |p| power(p, 0.4),
        other: |p| power(p, 0.7),
    },
    Setting {
        name: "uniform, calibrated",
        predicted: moderate,
        truth: |p| p,
        other: |p| power(p, 1.5),
    },
    Setting {
        name: "uniform, T = 4",
        predicted: moderate,
        truth: |p| power(p, 0.25),
        other: |p| power(p, 0.5),
    },
    Setting {
        name: "88 to 92 %, 10 points off",
        predicted: alike,
        truth: |p| p - 0.1,
        other: |p| p - 0.1,
    },
    Setting {
        name: "88 to 92 %, 70 points off",
        predicted: alike,
        truth: |p| p - 0.7,
        other: |p| p - 0.2,
    },
    Setting {
        name: "70 or 90 %, calibrated",
        predicted: tied,
        truth: |p| p,
        other: |p| odds(p, 1.5),
    },
    Setting {
        name: "70 or 90 %, 5 points off",
        predicted: tied,
        truth: |p| p - 0.05,
        other: |p| odds(p, 1.5),
    },
];

const COLUMNS: [&str; 6] = [
    "overconfidence",
    "ECE of order 2",
    "SKCE",
    "Brier score, difference",
    "log score, difference",
    "SKCE, difference",
];

/// Whether each interval covers, where there is one.
fn covers(setting: Setting, n: usize, seed: u64) -> Result<[Option<bool>; 6]> {
    let mut rng = StdRng::seed_from_u64(seed);
    let p: Vec<f64> = (0..n).map(|_| (setting.predicted)(&mut rng)).collect();
    let truth: Vec<f64> = p.iter().map(|&p| (setting.truth)(p)).collect();
    let other: Vec<f64> = p.iter().map(|&p| (setting.other)(p)).collect();
    let labels = truth
        .iter()
        .map(|&q| i64::from(rng.random::<f64>() < q))
        .collect();
    let labels =
        Tensor::<1, Int>::from_data(TensorData::new::<i64, _>(labels, [n]), &Device::default());
    let predictions = |events: &[f64]| {
        let rows: Vec<f64> = events.iter().flat_map(|&p| [1.0 - p, p]).collect();
        let rows = TensorData::new(rows, [n, 2]);
        Categorical::from_probabilities(Tensor::from_data(rows, (&Device::default(), DType::F64)))
    };
    let (before, after) = (predictions(&p)?, predictions(&other)?);
    let within = |(low, high): (f64, f64), value: f64| {
        let rounding = 1e-9 * value.abs().max(1e-9);
        Some(low <= value + rounding && value <= high + rounding)
    };
    let of = |error: &dyn Quantify, value: f64| -> Result<Option<bool>> {
        let interval = error.size(&before, &labels)?.interval(0.95)?;
        Ok(within((interval.lower, interval.upper), value))
    };
    // of the more likely outcome
    let top = |p: f64, q: f64| if p > 0.5 { p - q } else { q - p };
    let gaps: Vec<f64> = p.iter().zip(&truth).map(|(&p, &q)| top(p, q)).collect();
    let overconfidence = gaps.iter().sum::<f64>() / n as f64;
    let ece = binned(&p, &gaps);
    // the median distance is fixed, as if it had been chosen before
    let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.2));
    let skce = |p: &[f64]| {
        let mut sum = 0.0;
        for i in 0..n {
            for j in 0..i {
                let k = (-(p[i] - p[j]).abs() / 0.2).exp();
                sum += 4.0 * k * (p[i] - truth[i]) * (p[j] - truth[j]);
            }
        }
        sum / (n * (n - 1)) as f64
    };
    let expected = |score: fn(f64, bool) -> f64| {
        let of = |p: f64, q: f64| q * score(p, true) + (1.0 - q) * score(p, false);
        let rows = p.iter().zip(&other).zip(&truth);
        rows.map(|((&p, &o), &q)| of(o, q) - of(p, q)).sum::<f64>() / n as f64
    };
    let brier = |p: f64, event: bool| 2.0 * (if event { 1.0 - p } else { p }).powi(2);
    let log = |p: f64, event: bool| -(if event { p } else { 1.0 - p }).ln();
    let of_brier = Brier
        .improvement(&before, &after, &labels)?
        .confidence_interval(0.95)?;
    let of_log = LogScore
        .improvement(&before, &after, &labels)?
        .confidence_interval(0.95)?;
    let estimator = Skce::unbiased(kernel);
    let of_skce = estimator
        .improvement(&before, &after, &labels)?
        .confidence_interval(0.95);
    Ok([
        of(&Overconfidence::default(), overconfidence)?,
        of(&Tce::default(), ece)?,
        of(&estimator, skce(&p))?,
        within(of_brier, expected(brier)),
        within(of_log, expected(log)),
        of_skce
            .ok()
            .and_then(|interval| within(interval, skce(&other) - skce(&p))),
    ])
}

/// The root of the mean square of the mean errors of the bins.
fn binned(p: &[f64], gaps: &[f64]) -> f64 {
    let n = p.len();
    let bins = 15.min((n / 10).max(1));
    let confidence: Vec<f64> = p.iter().map(|&p| p.max(1.0 - p)).collect();
    let mut sorted = confidence.clone();
    sorted.sort_by(f64::total_cmp);
    let edges: Vec<f64> = (1..bins)
        .map(|b| sorted[(b * n).div_ceil(bins) - 1])
        .collect();
    let mut sums = vec![(0.0, 0.0); bins];
    for (c, gap) in confidence.iter().zip(gaps) {
        let sum = &mut sums[edges.partition_point(|edge| edge < c)];
        *sum = (sum.0 + 1.0, sum.1 + gap);
    }
    let occupied = sums.iter().filter(|(size, _)| *size > 0.0);
    let square: f64 = occupied.map(|(size, sum)| sum * sum / size).sum();
    (square / n as f64).sqrt()
}

fn main() -> Result<()> {
    let options = Options::parse();
    println!("| | {} |", COLUMNS.join(" | "));
    println!("| --- |{}", " ---: |".repeat(COLUMNS.len()));
    for setting in SETTINGS {
        for &n in &options.samples {
            let sets = (0..options.datasets).into_par_iter();
            let found = sets.map(|set| covers(setting, n, options.seed + set));
            let found = found.collect::<Result<Vec<_>>>()?;
            let cell = |column: usize| {
                let given: Vec<bool> = found.iter().filter_map(|row| row[column]).collect();
                let covered = given.iter().filter(|&&covers| covers).count();
                match given.len() {
                    0 => "none".into(),
                    number if number == found.len() => {
                        format!("{:.1}", 100.0 * covered as f64 / number as f64)
                    }
                    number => format!("{covered} of {number}"),
                }
            };
            let cells: Vec<String> = (0..COLUMNS.len()).map(cell).collect();
            println!("| {}, n = {n} | {} |", setting.name, cells.join(" | "));
        }
    }
    Ok(())
}
