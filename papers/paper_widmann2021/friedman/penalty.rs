//! What the authors imagined: training with the calibration error.
//!
//! The network of the paper with a second output, the standard deviation, learns 100 samples by the
//! log score, alone or with the SKCE as a penalty: of the same samples, or of a quarter of them that is held
//! out from the log score. The usual cures take that quarter to stop in time, or to scale the variance.

use burn::tensor::{Device, Tensor};
use burn_calibration::{
    distribution::{Density, Normal},
    estimator::Skce,
    recalibration::{Fit, Recalibration, VarianceScalingConfig},
};
use rand::{Rng, SeedableRng, rngs::StdRng};
use statrs::statistics::Statistics;

use super::{
    data::Data,
    network::Network,
    scores::{SCORES, scores},
    training,
};
use crate::{Result, arguments::Arguments, kernel::kernel, output::csv, parallel};

const TRAINING: usize = 100;
const TEST: usize = 200;
/// The first sample that may be held out.
const HELD_OUT: usize = 75;
/// The least standard deviation.
const FLOOR: f64 = 1e-2;

/// What is done beside minimising the log score.
#[derive(Clone, Copy)]
enum Remedy {
    Nothing,
    /// The SKCE of all samples, with a weight.
    Penalty(f64),
    /// The SKCE of the samples that are held out, with a weight.
    HeldOutPenalty(f64),
    /// The network with the best log score of the samples that are held out.
    Stopping,
    /// A factor for the standard deviation, fitted to the samples that are held out.
    Scaling,
}

fn remedies(lambda: f64) -> [(String, Remedy); 5] {
    [
        ("log score".into(), Remedy::Nothing),
        (
            format!("log score + {lambda} SKCE"),
            Remedy::Penalty(lambda),
        ),
        (
            format!("log score of 75 + {lambda} SKCE of 25"),
            Remedy::HeldOutPenalty(lambda),
        ),
        ("log score of 75, stopped by 25".into(), Remedy::Stopping),
        ("log score of 75, scaled on 25".into(), Remedy::Scaling),
    ]
}

/// The test scores of an objective, one a run.
pub struct Results {
    name: String,
    scores: Vec<[f64; 6]>,
}

pub fn run(arguments: &Arguments) -> Result<Vec<Results>> {
    let remedies = remedies(arguments.lambda);
    let mut rng = StdRng::seed_from_u64(arguments.seed);
    let seeds: Vec<u64> = (0..arguments.networks).map(|_| rng.next_u64()).collect();
    // Every run has its own data and weights, which the remedies share.
    let runs = parallel::map("penalty", seeds.len() * remedies.len(), |index| {
        let seed = seeds[index / remedies.len()];
        let (_, remedy) = remedies[index % remedies.len()];
        evaluate(remedy, seed, arguments.penalised as usize)
    })?;
    let of = |(place, (name, _)): (usize, &(String, Remedy))| Results {
        name: name.clone(),
        scores: runs
            .iter()
            .skip(place)
            .step_by(remedies.len())
            .copied()
            .collect(),
    };
    Ok(remedies.iter().enumerate().map(of).collect())
}

/// Trains a network and scores it on test data.
fn evaluate(remedy: Remedy, seed: u64, iterations: usize) -> Result<[f64; 6]> {
    let mut rng = StdRng::seed_from_u64(seed);
    let device = Device::default();
    let [data, test] = [TRAINING, TEST].map(|n| Data::sample(n, &device, &mut rng));
    let network = train(remedy, &data, iterations, seed);

    let mut predictions = predict(&network, &test);
    if let Remedy::Scaling = remedy {
        let held_out = data.slice(HELD_OUT..TRAINING);
        let of_held_out = predict(&network, &held_out);
        let map = VarianceScalingConfig::new().fit(of_held_out, held_out.targets.clone())?;
        predictions = map.forward(predictions);
    }
    scores(&predictions, &test.targets, seed)
}

fn train(remedy: Remedy, data: &Data, iterations: usize, seed: u64) -> Network {
    let recording = data.to_device(&Device::default().autodiff());
    let fitted = recording.slice(match remedy {
        Remedy::Nothing | Remedy::Penalty(_) => 0..TRAINING,
        _ => 0..HELD_OUT,
    });
    let penalty = match remedy {
        Remedy::Penalty(lambda) => Some((lambda, recording)),
        Remedy::HeldOutPenalty(lambda) => Some((lambda, recording.slice(HELD_OUT..TRAINING))),
        _ => None,
    };
    let skce = Skce::unbiased(kernel());
    let loss = |network: &Network| match &penalty {
        None => log_score(network, &fitted),
        Some((lambda, of)) => {
            let error = skce.value(&predict(network, of), &of.targets);
            log_score(network, &fitted) + error * *lambda
        }
    };
    let every: Vec<usize> = (1..=iterations)
        .filter(|i| i % 10 == 0 || *i == iterations)
        .collect();
    let held_out = data.slice(HELD_OUT..TRAINING);
    let mut best = (f64::INFINITY, None);
    training::train(2, &every, seed, loss, |_, network| {
        let score = match remedy {
            Remedy::Stopping => log_score(&network, &held_out).into_scalar::<f64>(),
            _ => f64::NEG_INFINITY, // the last is the best
        };
        if score <= best.0 {
            best = (score, Some(network));
        }
    });
    best.1.expect("a log score that is a number")
}

/// The mean over samples.
fn log_score(network: &Network, data: &Data) -> Tensor<1> {
    predict(network, data)
        .log_density(&data.targets)
        .mean()
        .neg()
}

fn predict(network: &Network, data: &Data) -> Normal {
    Normal::from_raw(network.forward(data.inputs.clone()), FLOOR)
}

/// Everything.
pub fn table(results: &[Results]) -> Result<Vec<u8>> {
    let mut rows = Vec::new();
    for results in results {
        for (run, scores) in results.scores.iter().enumerate() {
            for (score, value) in SCORES.iter().zip(scores) {
                rows.push((results.name.as_str(), run, *score, *value));
            }
        }
    }
    csv(&["objective", "run", "score", "value"], rows)
}

/// Means over the runs with their standard errors, and those of the differences from the first.
pub fn markdown(results: &[Results], arguments: &Arguments) -> String {
    let mut text = format!(
        "Friedman 1 with a penalty: {} runs of {} iterations, test scores as mean ± standard error, and \
         differences from the first.\n\n| |",
        arguments.networks, arguments.penalised
    );
    for score in SCORES {
        text += &format!(" {score} |");
    }
    let columns = " ---: |".repeat(SCORES.len());
    text += &format!("\n| --- |{columns}\n");
    let of = |results: &Results, score: usize| -> Vec<f64> {
        results.scores.iter().map(|of| of[score]).collect()
    };
    let mut row = |name: &str, values: &dyn Fn(usize) -> Vec<f64>| {
        text += &format!("| {name} |");
        for score in 0..SCORES.len() {
            let values = values(score);
            let mean = values.as_slice().mean();
            let error = values.as_slice().std_dev() / (values.len() as f64).sqrt();
            text += &format!(" {mean:.4} ± {error:.4} |");
        }
        text += "\n";
    };
    for results in results {
        row(&results.name, &|score| of(results, score));
    }
    for other in &results[1..] {
        let difference = |score| {
            let (ours, first) = (of(other, score), of(&results[0], score));
            ours.iter().zip(first).map(|(x, y)| x - y).collect()
        };
        row(
            &format!("{} − {}", other.name, results[0].name),
            &difference,
        );
    }
    text
}
