//! The whole way once, on real handwritten digits: **train** a classifier with and without a
//! calibration penalty, **recalibrate** it, **test** it.
//!
//! ```sh
//! cargo run --release --example digits
//! ```
//!
//! A small network learns 300 digits by heart, and is too sure of itself on digits that it has not
//! seen. On the digits that it knows by heart there is nothing left to calibrate, so the penalty —
//! the squared kernel calibration error (SKCE) or the maximum mean calibration error (MMCE) — is
//! that of other digits, held out for it. A temperature fitted afterwards is the usual cure. The
//! table says what each of them gains, and the p-values whether what is left can be chance.

mod arguments;
mod data;
mod evaluation;
mod network;
mod table;

use std::error::Error;

use arguments::{Arguments, Penalise};
use burn::{
    module::Module,
    nn::loss::CrossEntropyLossConfig,
    optim::{AdamWConfig, GradientsParams},
    tensor::Device,
};
use burn_calibration::{loss::Criterion, prelude::*};
use clap::Parser;
use data::{Digits, Split};
use evaluation::Evaluation;
use indicatif::{ProgressBar, ProgressStyle};
use network::Network;
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use table::Training;

const BATCH: usize = 100;
const LEARNING_RATE: f64 = 5e-3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let device = arguments.device.open()?;
    let digits = Digits::load()?;

    // Two penalties: like cross-entropy they take logits and labels.
    let skce = SkceLossConfig::new().init(); // exponential kernel over total variation, unbiased
    let mmce = MmceLossConfig::new().init();
    let losses: [Loss; 3] = [
        Loss {
            name: "cross-entropy".into(),
            penalty: None,
            weight: 0.0,
        },
        Loss {
            name: format!("+ {} SKCE", arguments.lambda),
            penalty: Some(&skce),
            weight: arguments.lambda,
        },
        Loss {
            name: format!("+ {} MMCE", arguments.lambda_mmce),
            penalty: Some(&mmce),
            weight: arguments.lambda_mmce,
        },
    ];

    let steps = losses.len() * arguments.seeds * arguments.epochs;
    let progress = ProgressBar::new(steps as u64)
        .with_style(ProgressStyle::with_template("{bar:40} {percent}% {msg}")?);
    let mut trainings: Vec<Training> = losses
        .iter()
        .map(|loss| Training::new(&loss.name))
        .collect();
    let mut first_outcome = None;
    for seed in arguments.seed..arguments.seed + arguments.seeds as u64 {
        let split = digits.split(seed, &device);
        for (loss, training) in losses.iter().zip(&mut trainings) {
            progress.set_message(format!("seed {seed}: {}", loss.name));
            let network = train(&split, loss, seed, &arguments, &device, &progress);

            // Recalibrate: one temperature, fitted to digits that no training saw.
            let validation = &split.validation;
            let map = TemperatureScalingConfig::new().fit(
                network.forward(validation.images.clone()),
                validation.labels.clone(),
            )?;

            // Evaluate and test, before and after, on digits that nothing saw.
            let logits = network.forward(split.test.images.clone());
            let before = Evaluation::of(logits.clone(), &split.test.labels, seed)?;
            let after = Evaluation::of(map.forward(logits), &split.test.labels, seed)?;
            first_outcome.get_or_insert_with(|| before.test.clone());
            training.add(before, after, map.temperature());
        }
    }
    progress.finish_and_clear();

    println!("{}", split_sizes(&digits, arguments.seeds));
    table::print(&trainings);
    if let Some(outcome) = first_outcome {
        println!(
            "\nThe first of these tests, cross-entropy with seed {}:\n{outcome}",
            arguments.seed
        );
    }
    Ok(())
}

/// Cross-entropy, and perhaps a penalty.
struct Loss<'a> {
    name: String,
    penalty: Option<&'a dyn Criterion>,
    /// Of the penalty.
    weight: f64,
}

/// Trains a network from its seed; what comes back computes without gradients.
fn train(
    split: &Split,
    loss: &Loss,
    seed: u64,
    arguments: &Arguments,
    device: &Device,
    progress: &ProgressBar,
) -> Network {
    let device = device.clone().autodiff();
    device.seed(seed); // the weights
    let mut rng = StdRng::seed_from_u64(seed); // the order of the batches
    let cross_entropy = CrossEntropyLossConfig::new().init(&device);
    let mut network = Network::new(&device);
    let mut optimiser = AdamWConfig::new().with_weight_decay(0.0).init();
    let mut rows = split.training_rows.clone();
    let mut penalised_rows = match arguments.penalise {
        Penalise::HeldOut => split.held_out_rows.clone(),
        Penalise::Training => split.training_rows.clone(),
    };
    for _ in 0..arguments.epochs {
        rows.shuffle(&mut rng);
        penalised_rows.shuffle(&mut rng);
        for (rows, penalised) in rows.chunks(BATCH).zip(penalised_rows.chunks(BATCH)) {
            let batch = split.digits.select(rows, &device);
            let mut total = cross_entropy.forward(network.forward(batch.images), batch.labels);
            if let Some(penalty) = loss.penalty {
                let batch = split.digits.select(penalised, &device);
                let logits = network.forward(batch.images);
                total = total + penalty.forward(logits, batch.labels) * loss.weight;
            }
            let gradients = GradientsParams::from_grads(total.backward(), &network);
            network = optimiser.step(LEARNING_RATE, network, gradients);
        }
        progress.inc(1);
    }
    network.valid()
}

fn split_sizes(digits: &Digits, seeds: usize) -> String {
    let (training, held_out, validation) = (data::TRAINING, data::HELD_OUT, data::VALIDATION);
    let test = digits.len() - training - held_out - validation;
    format!(
        "{} digits: {training} to train, {held_out} for the penalty, {validation} for the \
         temperature, {test} to test; {seeds} seeds",
        digits.len(),
    )
}
