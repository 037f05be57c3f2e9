//! False alarms, run lengths and delays of `CalibrationMonitor`: the tables of papers/results/levels_monitor.md.
//!
//! `cargo run --release -p burn-calibration-papers --example monitor -- SCALE [CELL [FIRST [ROWS]]]`, where SCALE multiplies
//! the number of streams and sets, CELL is a part of the names of cells, FIRST is the first seed of streams of calibrated
//! predictions, 0 by default: runs with other seeds add up. ROWS is the number of their rows, 10,000 by default.

mod monitor_evaluate;

use std::time::Instant;

use burn::tensor::{DType, Device, Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Laplace, Normal, QuantileForecasts, Samples, Subject},
    monitor::{CalibrationMonitor, Monitored},
    score::Interval,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, Poisson, StandardNormal, StudentT};

fn normal(rng: &mut StdRng) -> f64 {
    StandardNormal.sample(rng)
}

fn sigmoid(l: f64) -> f64 {
    1.0 / (1.0 + (-l).exp())
}

fn rows(values: &[f64], columns: usize) -> Tensor<2> {
    let flat = Tensor::<1>::from_data(values, (&Device::default(), DType::F64));
    flat.reshape([values.len() / columns, columns])
}

type Labelled<P> = (
    P,
    <P as burn_calibration::distribution::Predictive>::Targets,
);

fn classes(p: &[f64], m: usize, labels: &[i64]) -> Labelled<Categorical> {
    let labels = Tensor::<1, Int>::from_data(labels, &Device::default());
    let p = Categorical::from_probabilities(rows(p, m)).expect("probabilities");
    (p, labels)
}

fn events(p: &[f64], labels: &[i64]) -> Labelled<Categorical> {
    let both: Vec<f64> = p.iter().flat_map(|p| [1.0 - p, *p]).collect();
    let (p, labels) = classes(&both, 2, labels);
    (p.about(Subject::Event).expect("two classes"), labels)
}

/// Events of log-odds `l = centre + 1.5 x` with autocorrelated `x`, of labels with the log-odds `slope · l + shift`.
fn event_rows(
    n: usize,
    memory: f64,
    centre: f64,
    line: [f64; 2],
    rng: &mut StdRng,
) -> Stream<Categorical> {
    let (mut x, mut p, mut y, mut scores) = (normal(rng), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        x = memory * x + (1.0 - memory * memory).sqrt() * normal(rng);
        let l = centre + 1.5 * x;
        let (prediction, truth) = (sigmoid(l), sigmoid(line[0] * l + line[1]));
        let label = f64::from(u8::from(rng.random::<f64>() < truth));
        let direction = if line[0] == 1.0 { 1.0 } else { l };
        scores.push([
            direction * (label - prediction),
            direction * direction * prediction * (1.0 - prediction),
        ]);
        p.push(prediction);
        y.push(label as i64);
    }
    Stream {
        rows: events(&p, &y),
        scores,
    }
}

/// Rows with the score of the best single test, and the variance of the score of each.
struct Stream<P: Monitored> {
    rows: Labelled<P>,
    scores: Vec<[f64; 2]>,
}

fn plain<P: Monitored>(rows: Labelled<P>) -> Stream<P> {
    Stream {
        rows,
        scores: Vec::new(),
    }
}

/// Classes with labels drawn from `p`, of which one is predicted `factor` times as likely.
fn class_rows(
    n: usize,
    m: usize,
    spread: f64,
    factor: f64,
    rng: &mut StdRng,
) -> Stream<Categorical> {
    let (mut all, mut y, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let mut p: Vec<f64> = (0..m).map(|_| (spread * normal(rng)).exp()).collect();
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
        let mut u = rng.random::<f64>();
        let label = p.iter().position(|p| {
            u -= p;
            u < 0.0
        });
        let label = label.unwrap_or(m - 1);
        if factor != 1.0 {
            let first = (factor * p[0]).min(0.99);
            let rest = (1.0 - first) / (1.0 - p[0]);
            p.iter_mut().for_each(|p| *p *= rest);
            p[0] = first;
        }
        let hit = f64::from(u8::from(label == 0));
        scores.push([hit - p[0], p[0] * (1.0 - p[0])]);
        y.push(label as i64);
        all.extend(p);
    }
    Stream {
        rows: classes(&all, m, &y),
        scores,
    }
}

fn normal_rows(n: usize, scale: f64, rng: &mut StdRng) -> Stream<Normal> {
    let (mut mean, mut sd, mut y, mut scores) = (vec![], vec![], vec![], vec![]);
    for _ in 0..n {
        let (m, s, z) = (
            3.0 * normal(rng),
            (0.5 * normal(rng)).exp(),
            scale * normal(rng),
        );
        mean.push(m);
        sd.push(s);
        y.push(m + s * z);
        scores.push([z * z - 1.0, 2.0]);
    }
    Stream {
        rows: (Normal::new(rows(&mean, 1), rows(&sd, 1)), rows(&y, 1)),
        scores,
    }
}

fn drawn(
    n: usize,
    draws: usize,
    rng: &mut StdRng,
    draw: impl Fn(&mut StdRng, f64) -> f64,
) -> Stream<Samples> {
    let (mut all, mut y) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let x = normal(rng);
        all.extend((0..draws).map(|_| draw(rng, x)));
        y.push(draw(rng, x));
    }
    plain((
        Samples::new(rows(&all, draws).reshape([n, draws, 1])),
        rows(&y, 1),
    ))
}

fn quantiles(
    n: usize,
    rng: &mut StdRng,
    values: &[f64],
    levels: &[f64],
    draw: impl Fn(&mut StdRng) -> f64,
) -> Stream<QuantileForecasts> {
    let all = values.repeat(n);
    let y: Vec<f64> = (0..n).map(|_| draw(rng)).collect();
    let forecasts = QuantileForecasts::new(levels.to_vec(), rows(&all, levels.len()));
    plain((forecasts.expect("levels"), rows(&y, 1)))
}

struct Cells {
    scale: f64,
    only: String,
    first: u64,
    /// The rows of a stream of calibrated predictions.
    rows: usize,
}

impl Cells {
    fn has(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    fn streams(&self, usual: usize) -> u64 {
        (usual as f64 * self.scale).ceil() as u64
    }

    /// The shares of streams with wealth of 20 and 100 after any row, and with bounds of the mean error or the coverage
    /// that are wrong at the end; the mean rows between alarms of a detector for 500.
    fn level<P: Monitored>(
        &self,
        name: &str,
        streams: usize,
        feed: impl Fn(&mut StdRng) -> Stream<P>,
    ) {
        if !self.has(name) {
            return;
        }
        let (start, streams) = (Instant::now(), self.streams(streams));
        let (mut at_5, mut at_1, mut outside, mut alarms, mut total) = (0, 0, 0, 0, 0);
        for seed in self.first..self.first + streams {
            let monitor = CalibrationMonitor::new(0.05).expect("a level");
            let mut monitor = monitor.with_rows_between_alarms(500.0).expect("positive");
            let (p, y) = feed(&mut StdRng::seed_from_u64(seed)).rows;
            monitor.update(&p, &y).expect("valid rows");
            let state = monitor.state();
            at_5 += u64::from(state.max_wealth >= 20.0);
            at_1 += u64::from(state.max_wealth >= 100.0);
            alarms += state.alarms;
            total += state.rows;
            outside += u64::from(has_wrong_bounds(&monitor));
        }
        let percent = |count: u64| 100.0 * count as f64 / streams as f64;
        println!(
            "{name}: {streams} streams of {} rows: {:.2} % {:.2} %, bounds {:.2} %, {:.0} rows between alarms ({alarms}); {:.1?}",
            total / streams,
            percent(at_5),
            percent(at_1),
            percent(outside),
            total as f64 / alarms.max(1) as f64,
            start.elapsed()
        );
    }

    /// The rows that a monitor takes in a second of a processor: the most of five times.
    fn speed<P: Monitored>(&self, name: &str, feed: impl FnOnce() -> Stream<P>) {
        if !self.has(name) {
            return;
        }
        let (p, y) = feed().rows;
        let mut most: f64 = 0.0;
        for _ in 0..5 {
            let mut monitor = CalibrationMonitor::new(0.05).expect("a level");
            let before = processor_seconds();
            monitor.update(&p, &y).expect("valid rows");
            most = most.max(monitor.state().rows as f64 / (processor_seconds() - before));
        }
        println!("{name}: {most:.3e} rows a second of a processor");
    }
}

/// Whether bounds exclude the value of a calibrated model.
fn has_wrong_bounds(monitor: &CalibrationMonitor) -> bool {
    let error = monitor.mean_error();
    let mut ranges = monitor.coverage().into_iter();
    let is_wrong = |error: &Interval, value: f64| error.lower > value || error.upper < value;
    error.is_some_and(|error| is_wrong(&error, 0.0))
        || ranges
            .any(|(part, coverage)| part.level().is_some_and(|level| is_wrong(&coverage, level)))
}

/// The seconds that all threads of this process had a processor; 0 where Linux does not say.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let (_, numbers) = text.rsplit_once(')').unwrap_or_default();
    let ticks = numbers.split_whitespace().skip(11).take(2); // of the program and of the system, of 10 ms
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

pub fn main() {
    let mut arguments = std::env::args().skip(1);
    let scale = arguments.next().and_then(|scale| scale.parse().ok());
    let only = arguments.next().unwrap_or_default();
    let first = arguments.next().and_then(|first| first.parse().ok());
    let rows = arguments.next().and_then(|rows| rows.parse().ok());
    run(&Cells {
        scale: scale.unwrap_or(1.0),
        only,
        first: first.unwrap_or(0),
        rows: rows.unwrap_or(10_000),
    });
}

fn run(cells: &Cells) {
    monitor_evaluate::run(cells);
    let n = cells.rows;
    let calibrated = [1.0, 0.0];
    cells.level("level: events, independent", 10_000, |rng| {
        event_rows(n, 0.0, 0.0, calibrated, rng)
    });
    cells.level("level: events, autocorrelated", 10_000, |rng| {
        event_rows(n, 0.9, 0.0, calibrated, rng)
    });
    cells.level("level: rare events", 10_000, |rng| {
        event_rows(n, 0.9, -5.0, calibrated, rng)
    });
    cells.level("level: of past labels", 10_000, |rng| {
        let (mut p, mut y, mut ones) = (Vec::new(), Vec::new(), 1.0);
        for row in 0..n {
            p.push(0.05 + 0.9 * ones / (row as f64 + 2.0));
            y.push(i64::from(rng.random::<f64>() < p[row]));
            ones += y[row] as f64;
        }
        plain(events(&p, &y))
    });
    cells.level("level: drift of p", 10_000, |rng| {
        let (mut p, mut y) = (Vec::new(), Vec::new());
        for row in 0..n {
            p.push(sigmoid(-3.0 + 5.0 * row as f64 / n as f64 + normal(rng)));
            y.push(i64::from(rng.random::<f64>() < p[row]));
        }
        plain(events(&p, &y))
    });
    cells.level("level: 10 classes", 1000, |rng| {
        class_rows(n, 10, 2.0, 1.0, rng)
    });
    cells.level("level: 100 classes", 200, |rng| {
        class_rows(n, 100, 2.0, 1.0, rng)
    });
    cells.level("level: normal", 1000, |rng| normal_rows(n, 1.0, rng));
    cells.level("level: laplace", 500, |rng| {
        let y: Vec<f64> = (0..n)
            .map(|_| {
                let u: f64 = rng.random::<f64>() - 0.5;
                -u.signum() * (1.0 - 2.0 * u.abs()).ln()
            })
            .collect();
        let (zero, one) = (vec![0.0; n], vec![1.0; n]);
        plain((Laplace::new(rows(&zero, 1), rows(&one, 1)), rows(&y, 1)))
    });
    let student = StudentT::new(3.0).expect("degrees");
    cells.level("level: draws of t", 1000, |rng| {
        drawn(n, 20, rng, |rng, x| x + student.sample(rng))
    });
    let poisson = |x: f64| Poisson::new((0.5 * x).exp()).expect("a mean");
    cells.level("level: draws of counts", 1000, |rng| {
        drawn(n, 20, rng, |rng, x| poisson(x).sample(rng))
    });
    let levels = [0.05, 0.25, 0.5, 0.75, 0.95];
    let values = [
        -1.6448536269514722,
        -0.6744897501960817,
        0.0,
        0.6744897501960817,
        1.6448536269514722,
    ];
    cells.level("level: quantiles", 1000, |rng| {
        quantiles(n, rng, &values, &levels, normal)
    });
    let counts = [0.0, 1.0, 3.0]; // of Poisson(1.5)
    cells.level("level: quantiles of counts", 1000, |rng| {
        quantiles(n, rng, &counts, &[0.1, 0.5, 0.9], |rng| {
            Poisson::new(1.5).expect("a mean").sample(rng)
        })
    });
    let mut rng = StdRng::seed_from_u64(0);
    cells.speed("speed: an event", || {
        event_rows(1_000_000, 0.9, 0.0, calibrated, &mut rng)
    });
    cells.speed("speed: 100 classes", || {
        class_rows(100_000, 100, 2.0, 1.0, &mut rng)
    });
}
