//! Coverage of the intervals, of calibrated models and of others, from 8 to 2,000 samples: how often each holds the
//! error, of the means that of the population (overconfidence, O/E, differences of scores), of the others that of the
//! predictions of the data set.
//!
//! ```console
//! cargo run --release -p burn-calibration-papers --example intervals
//! ```
//!
//! prints the Markdown tables of `papers/results/levels_intervals.md`.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::{
    distribution::{Categorical, Normal},
    error::Result,
    estimator::{Aspect, Event, Skce, Tce},
    kernel::{Bandwidth, Kernel, RealKernel, TensorKernel},
    score::{
        Brier, Crps, ErrorSize, Improvement, Interval, IntervalOverconfidence, LogScore, LpBound,
        ObservedExpected, Overconfidence, Quantify, Score,
    },
};
use clap::Parser;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rayon::prelude::*;

mod coverage;

use coverage::{REAL, RealSetting, SETTINGS, Setting, odds};

/// Coverage of intervals.
#[derive(Parser)]
struct Options {
    /// Data sets of a setting.
    #[arg(long, default_value_t = 500)]
    datasets: u64,
    /// Data sets of a setting with more than 1,000 samples.
    #[arg(long, default_value_t = 200)]
    large: u64,
    /// Seed of the first data set.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Numbers of samples.
    #[arg(long, default_values_t = [8, 20, 50, 200, 2000])]
    samples: Vec<usize>,
    /// Only the table of `classes`, or of `real` targets.
    #[arg(long)]
    only: Option<Table>,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Table {
    Classes,
    Real,
}

const COLUMNS: [&str; 9] = [
    "overconfidence",
    "O/E",
    "ECE of order 2",
    "SKCE",
    "SKCE, pairs",
    "order 2, at least",
    "Brier score, difference",
    "log score, difference",
    "SKCE, difference",
];

/// Whether an interval covers; none where there is no interval.
type Covers = Option<bool>;

fn within(interval: Interval, value: f64) -> Covers {
    let rounding = 1e-9 * value.abs().max(1e-9);
    Some(interval.lower <= value + rounding && value <= interval.upper + rounding)
}

fn of<P: burn_calibration::distribution::Predictive>(
    error: &impl Quantify<P>,
    (predictions, targets): (&P, &P::Targets),
) -> Result<Option<Interval>> {
    Ok(error.size(predictions, targets)?.interval(0.95).ok())
}

/// Predicted probabilities of an event, the true ones, and those of the model that is compared.
struct Risks {
    p: Vec<f64>,
    truth: Vec<f64>,
    other: Vec<f64>,
}

impl Risks {
    fn draw(setting: Setting, n: usize, rng: &mut StdRng) -> Self {
        let p: Vec<f64> = (0..n).map(|_| (setting.predicted)(rng)).collect();
        Self {
            truth: p.iter().map(|&p| (setting.truth)(p)).collect(),
            other: p.iter().map(|&p| (setting.other)(p)).collect(),
            p,
        }
    }

    /// The probabilities of the more likely outcome less how often it is right.
    fn gaps(&self) -> Vec<f64> {
        let top = |(&p, &q): (&f64, &f64)| if p > 0.5 { p - q } else { q - p };
        self.p.iter().zip(&self.truth).map(top).collect()
    }

    /// The expected difference of a score of the other model and of this one.
    fn difference(&self, score: fn(f64, bool) -> f64) -> f64 {
        let of = |p: f64, q: f64| q * score(p, true) + (1.0 - q) * score(p, false);
        let rows = self.p.iter().zip(&self.other).zip(&self.truth);
        let terms = rows.map(|((&p, &o), &q)| of(o, q) - of(p, q));
        terms.sum::<f64>() / self.p.len() as f64
    }

    /// What the means of samples estimate.
    fn means(&self) -> Means {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        Means {
            overconfidence: mean(&self.gaps()),
            ratio: mean(&self.truth) / mean(&self.p),
            brier: self.difference(|p, event| 2.0 * (if event { 1.0 - p } else { p }).powi(2)),
            log: self.difference(|p, event| -(if event { p } else { 1.0 - p }).ln()),
        }
    }
}

#[derive(Clone, Copy)]
struct Means {
    overconfidence: f64,
    ratio: f64,
    brier: f64,
    log: f64,
}

/// The means of the population, by this number of samples.
const POPULATION: usize = 2_000_000;

fn classes(
    setting: Setting,
    population: Means,
    n: usize,
    seed: u64,
) -> Result<[Covers; COLUMNS.len()]> {
    let mut rng = StdRng::seed_from_u64(seed);
    let risks = Risks::draw(setting, n, &mut rng);
    let gaps = risks.gaps();
    let Risks { p, truth, other } = risks;
    let labels: Vec<i64> = (truth.iter())
        .map(|&q| i64::from(rng.random::<f64>() < q))
        .collect();
    let labels = Tensor::<1, Int>::from_data(TensorData::new(labels, [n]), &Device::default());
    let predictions = |events: &[f64]| {
        let rows: Vec<f64> = events.iter().flat_map(|&p| [1.0 - p, p]).collect();
        let rows = TensorData::new(rows, [n, 2]);
        Categorical::from_probabilities(Tensor::from_data(rows, (&Device::default(), DType::F64)))
    };
    let (before, after) = (predictions(&p)?, predictions(&other)?);
    let data = (&before, &labels);
    let size = (gaps.iter().map(|gap| gap * gap).sum::<f64>() / n as f64).sqrt();
    // as if the bandwidth had been chosen before
    let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.2));
    let skce = |p: &[f64], pairs: &mut dyn Iterator<Item = (usize, usize)>| {
        let (mut sum, mut count) = (0.0, 0.0);
        for (i, j) in pairs {
            let k = 2.0 * (-(p[i] - p[j]).abs() / 0.2).exp();
            sum += k * (p[i] - truth[i]) * (p[j] - truth[j]);
            count += 1.0;
        }
        sum / count
    };
    let all = || (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    let gain = |score: &dyn Score<Categorical>, value: f64| -> Result<Covers> {
        let gain = Improvement::of(score, &before, &after, &labels)?;
        Ok(within(gain.interval(0.95)?, value))
    };
    let estimator = Skce::unbiased(kernel);
    let of_skce = estimator.improvement(&before, &after, &labels)?;
    let of_skce = of_skce.interval(0.95).ok();
    // a recalibration that lowers the risk
    let lower: Vec<f64> = p.iter().map(|&p| odds(p, 0.5)).collect();
    let event = Aspect::Event(Event::Class(1));
    let at_least = LpBound::of(2.0, event, &before, &predictions(&lower)?, &labels)?;
    let at_least = at_least.size().interval(0.95)?;
    let ratio = ObservedExpected::interval(Event::Class(1), &before, &labels, 0.95)?;
    let covers = |interval: Option<Interval>, value| interval.and_then(|i| within(i, value));
    Ok([
        covers(
            of(&Overconfidence::default(), data)?,
            population.overconfidence,
        ),
        within(ratio, population.ratio),
        covers(of(&Tce::default(), data)?, binned(&p, &gaps)),
        covers(of(&estimator, data)?, skce(&p, &mut all()).max(0.0)),
        covers(
            of(&Skce::block(kernel, 2), data)?,
            skce(&p, &mut (0..n / 2).map(|block| (2 * block, 2 * block + 1))).max(0.0),
        ),
        within(at_least, size),
        gain(&Brier, population.brier)?,
        gain(&LogScore, population.log)?,
        of_skce
            .and_then(|interval| within(interval, skce(&other, &mut all()) - skce(&p, &mut all()))),
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

const REAL_COLUMNS: [&str; 4] = [
    "coverage of 90 % intervals",
    "SKCE",
    "CRPS, difference",
    "log score, difference",
];

/// An estimate, and its interval if there is one.
type Sized = (f64, Option<Interval>);

/// Estimates and intervals of one data set. The predictions that are compared are 1.5 times as wide. Predictions are
/// those of the number of samples, so that the mean of the estimates is the truth.
fn real(setting: &RealSetting, n: usize, seed: u64) -> Result<[Sized; 4]> {
    let mut rng = StdRng::seed_from_u64(n as u64);
    let options = (&Device::default(), DType::F64);
    let column =
        |values: &[f64]| Tensor::<2>::from_data(TensorData::new(values.to_vec(), [n, 1]), options);
    let means: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let deviations: Vec<f64> = (0..n).map(|_| rng.random_range(0.5..1.5)).collect();
    let mut rng = StdRng::seed_from_u64(seed);
    let targets: Vec<f64> = (means.iter().zip(&deviations))
        .map(|(mean, deviation)| mean + deviation * (setting.target)(&mut rng))
        .collect();
    let targets = column(&targets);
    let before = Normal::new(column(&means), column(&deviations));
    let after = Normal::new(column(&means), column(&deviations) * 1.5);
    let kernel = Kernel::wasserstein().with_bandwidth(Bandwidth::Fixed(1.0));
    let skce = Skce::unbiased(TensorKernel::new(kernel, RealKernel::gaussian(1.0)));
    let sized = |size: ErrorSize| -> Sized {
        let interval = size.interval(0.95).ok();
        (size.estimate, interval)
    };
    let gain = |score: &dyn Score<Normal>| -> Result<Sized> {
        let gain = Improvement::of(score, &before, &after, &targets)?;
        Ok((gain.difference.estimate, gain.interval(0.95).ok()))
    };
    Ok([
        sized(IntervalOverconfidence::default().size(&before, &targets)?),
        sized(skce.size(&before, &targets)?),
        gain(&Crps)?,
        gain(&LogScore)?,
    ])
}

/// The share of data sets, in per cent, whose interval does not exclude the truth, and that of those without one.
fn cell(covers: &[Covers]) -> String {
    let count = |wanted: Covers| covers.iter().filter(|&&covers| covers == wanted).count();
    let percent = |count: usize| 100.0 * count as f64 / covers.len() as f64;
    match (count(None), percent(covers.len() - count(Some(false)))) {
        (0, covered) => format!("{covered:.1}"),
        (none, _) if none == covers.len() => "none".into(),
        (none, covered) => format!("{covered:.1}, none {:.0}", percent(none)),
    }
}

fn table<const N: usize>(
    columns: [&str; N],
    rows: impl IntoIterator<Item = Result<(String, Vec<[Covers; N]>)>>,
) -> Result<()> {
    println!(
        "\n| | {} |\n| --- |{}",
        columns.join(" | "),
        " ---: |".repeat(N)
    );
    for row in rows {
        let (name, sets) = row?;
        let cells = (0..N).map(|at| cell(&sets.iter().map(|set| set[at]).collect::<Vec<_>>()));
        println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    Ok(())
}

fn main() -> Result<()> {
    let options = Options::parse();
    let sets = |n: usize| {
        let count = if n > 1000 {
            options.large
        } else {
            options.datasets
        };
        (options.seed..options.seed + count).into_par_iter()
    };
    let sizes = || options.samples.iter().copied();
    let is_wanted = |table: Table| options.only.is_none_or(|only| only == table);
    let of_classes = (SETTINGS.into_iter())
        .filter(|_| is_wanted(Table::Classes))
        .flat_map(|setting| {
            let mut rng = StdRng::seed_from_u64(u64::MAX);
            let population = Risks::draw(setting, POPULATION, &mut rng).means();
            sizes().map(move |n| (setting, population, n))
        });
    table(
        COLUMNS,
        of_classes.map(|(setting, population, n)| {
            let found = sets(n).map(|seed| classes(setting, population, n, seed));
            Ok((
                format!("{}, n = {n}", setting.name),
                found.collect::<Result<_>>()?,
            ))
        }),
    )?;
    let of_real = (REAL.iter())
        .filter(|_| is_wanted(Table::Real))
        .flat_map(|setting| sizes().map(move |n| (setting, n)));
    table(
        REAL_COLUMNS,
        of_real.map(|(setting, n)| {
            let found = sets(n).map(|seed| real(setting, n, seed));
            let found = found.collect::<Result<Vec<_>>>()?;
            let mut truth = [0.0; 4];
            for set in &found {
                for (truth, (estimate, ..)) in truth.iter_mut().zip(set) {
                    *truth += estimate / found.len() as f64;
                }
            }
            // an error is not negative
            truth[1] = truth[1].max(0.0);
            // log 1.5 + (1/1.5² − 1) z²/2
            truth[3] = 1.5f64.ln() - (1.0 - 1.5f64.powi(-2)) * setting.square / 2.0;
            let covers = |set: &[Sized; 4]| {
                [0, 1, 2, 3].map(|at| set[at].1.and_then(|interval| within(interval, truth[at])))
            };
            Ok((
                format!("{}, n = {n}", setting.name),
                found.iter().map(covers).collect(),
            ))
        }),
    )
}
