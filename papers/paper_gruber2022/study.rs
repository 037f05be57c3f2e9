//! Estimates on test sets of growing size.

use std::fmt::Write;

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_calibration::recalibration::{DiagonalScalingConfig, EnsembleTemperatureScalingConfig};
use burn_calibration::{distribution::Categorical, prelude::*};
use rand::{SeedableRng, rngs::StdRng, seq::index};
use rayon::prelude::*;
use serde::Serialize;

use crate::{Result, arguments::Arguments, estimators::ESTIMATORS, output, reading::Predictions};

/// Sizes of test sets, but for the largest: all.
const SIZES: [usize; 6] = [100, 200, 400, 800, 1600, 3200];
/// Before recalibration, and the maps.
pub const STAGES: [&str; 4] = ["before", "TS", "ETS", "DIAG"];

/// The mean of an estimate over test sets of one size: of the calibration error before recalibration, or
/// of its change by a map.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    pub network: String,
    pub stage: &'static str,
    pub estimator: &'static str,
    pub size: usize,
    pub repeats: usize,
    pub mean: f64,
    pub standard_deviation: f64,
}

/// All points of a network.
pub fn run(network: &str, arguments: &Arguments) -> Result<Vec<Point>> {
    let device = Device::flex();
    let (fit, test) = Predictions::read(&arguments.predictions, network, &device)?.halves();
    let data = || (fit.logits.clone(), fit.labels.clone());
    let ((a, b), (c, d), (e, f)) = (data(), data(), data());
    let maps: [Box<dyn Recalibration>; 3] = [
        Box::new(TemperatureScalingConfig::new().fit(a, b)?),
        Box::new(EnsembleTemperatureScalingConfig::new().fit(c, d)?),
        Box::new(DiagonalScalingConfig::new().fit(e, f)?),
    ];
    let mut stages = vec![test.logits.clone()];
    stages.extend(maps.iter().map(|map| map.forward(test.logits.clone())));

    let n = test.samples();
    let mut points = Vec::new();
    for (k, size) in SIZES.into_iter().chain([n]).enumerate() {
        let repeats = if size == n {
            1
        } else {
            arguments.repeats as usize
        };
        // [test set][stage][estimator]
        let estimates = (0..repeats)
            .into_par_iter()
            .map(|repeat| {
                let seed = arguments.seed + 1_000_003 * (k * repeats + repeat) as u64;
                let rows = index::sample(&mut StdRng::seed_from_u64(seed), n, size);
                let rows: Vec<i64> = rows.into_iter().map(|row| row as i64).collect();
                let rows = Tensor::from_data(TensorData::new(rows, [size]), &device);
                stages
                    .iter()
                    .map(|logits| estimate(logits, &test.labels, &rows))
                    .collect()
            })
            .collect::<Result<Vec<Vec<Vec<f64>>>>>()?;
        for (s, stage) in STAGES.into_iter().enumerate() {
            for (e, estimator) in ESTIMATORS.iter().enumerate() {
                let value = |of: &Vec<Vec<f64>>| match s {
                    0 => of[0][e],
                    _ => of[s][e] - of[0][e],
                };
                let values: Vec<f64> = estimates.iter().map(value).collect();
                let (mean, standard_deviation) = moments(&values);
                points.push(Point {
                    network: network.into(),
                    stage,
                    estimator: estimator.name,
                    size,
                    repeats,
                    mean,
                    standard_deviation,
                });
            }
        }
        eprintln!("{network}: {size} samples");
    }
    Ok(points)
}

/// Every estimator on some of the rows.
fn estimate(
    logits: &Tensor<2>,
    labels: &Tensor<1, Int>,
    rows: &Tensor<1, Int>,
) -> Result<Vec<f64>> {
    let predictions = Categorical::from_logits(logits.clone().select(0, rows.clone()))?;
    let labels = labels.clone().select(0, rows.clone());
    let all = ESTIMATORS
        .iter()
        .map(|of| (of.estimate)(&predictions, &labels));
    Ok(all.collect::<std::result::Result<_, _>>()?)
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}

pub fn csv(points: &[Point]) -> Result<Vec<u8>> {
    let header = [
        "network",
        "stage",
        "estimator",
        "size",
        "repeats",
        "mean",
        "standard_deviation",
    ];
    let row = |p: &Point| {
        (
            p.network.clone(),
            p.stage,
            p.estimator,
            p.size,
            p.repeats,
            p.mean,
            p.standard_deviation,
        )
    };
    output::csv(&header, points.iter().map(row))
}

/// For each network the change by each map at the smallest and the largest test sets.
pub fn markdown(points: &[Point]) -> String {
    let mut text = String::from(
        "Change of the estimate by the map, × 10³, in means over test sets of 100 and of all samples.\n\n",
    );
    let networks: Vec<&str> = (points.iter())
        .filter(|p| p.stage == STAGES[0] && p.estimator == ESTIMATORS[0].name && p.size == SIZES[0])
        .map(|p| p.network.as_str())
        .collect();
    for network in networks {
        write!(text, "| {network} |").expect("a string takes all");
        STAGES[1..]
            .iter()
            .for_each(|stage| text += &format!(" {stage}: 100 | all |"));
        text += "\n| --- |";
        text += &" ---: |".repeat(2 * (STAGES.len() - 1));
        text += "\n";
        for estimator in &ESTIMATORS {
            text += &format!("| {} |", estimator.name);
            for stage in &STAGES[1..] {
                let of = |p: &&Point| {
                    p.network == network && p.stage == *stage && p.estimator == estimator.name
                };
                let of: Vec<&Point> = points.iter().filter(of).collect();
                let (first, last) = (of[0], of[of.len() - 1]);
                let error = 1e3 * first.standard_deviation / (first.repeats as f64).sqrt();
                let (first, last) = (1e3 * first.mean, 1e3 * last.mean);
                text += &format!(" {first:.1} ± {error:.1} | {last:.1} |");
            }
            text += "\n";
        }
        text += "\n";
    }
    text
}
