//! The whole way once, on real handwritten digits: **train** a classifier with and without a
//! calibration penalty, **recalibrate** it, **test** it.
//!
//! ```sh
//! cargo run --release --example digits
//! ```
//!
//! A small network sees the upper half of 500 digits, learns them by heart, and is then far too
//! sure of itself on digits that it has not seen. It is trained with cross-entropy alone, with the
//! squared kernel calibration error (SKCE) as a penalty, and with the maximum mean calibration error
//! (MMCE), from the same weights and on the same batches. A temperature fitted to validation digits
//! is the usual cure. The table says what each of them gains on test digits, and the p-values of the
//! omnibus test whether what is left can be chance.

mod arguments;
mod data;
mod evaluation;
mod network;
mod seeds;
mod table;
mod training;

use std::error::Error;

use arguments::Arguments;
use burn_calibration::prelude::*;
use clap::Parser;
use data::Digits;
use evaluation::Evaluation;
use indicatif::{ProgressBar, ProgressStyle};
use seeds::for_each_seed;
use table::Runs;
use training::{Objective, objectives, train};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let device = arguments.device();
    let digits = Digits::load()?;
    let objectives = objectives(&arguments, &device);

    let epochs = arguments.seeds as u64 * objectives.len() as u64 * arguments.epochs as u64;
    let progress = ProgressBar::new(epochs) // drawn on a terminal only
        .with_style(ProgressStyle::with_template("{bar:40} {percent}%")?);

    let run =
        |seed: u64| -> Result<Vec<(Evaluation, Evaluation, f64)>, burn_calibration::error::Error> {
            // The seed decides on everything: the split, the weights, the batches, the labels that the
            // tests draw. The objectives share them, so that they can be compared seed by seed.
            let split = digits.split(seed, &device);
            let held_out = match arguments.validation {
                true => &split.validation,
                false => &split.test,
            };
            let run = |objective: &Objective| {
                let network = train(objective, &split, seed, &arguments, &device, &progress);

                // Recalibrate: one temperature, fitted to digits that training did not see.
                let validation = &split.validation;
                let logits = network.forward(validation.images.clone());
                let map = TemperatureScalingConfig::new().fit(logits, validation.labels.clone())?;

                // Evaluate and test, before and after, on digits that nothing has seen.
                let logits = network.forward(held_out.images.clone());
                let before = Evaluation::of(logits.clone(), &held_out.labels, seed)?;
                let after = Evaluation::of(map.forward(logits), &held_out.labels, seed)?;
                Ok((before, after, map.temperature()))
            };
            objectives.iter().map(run).collect()
        };
    let mut runs: Vec<Runs> = objectives.iter().map(|o| Runs::new(&o.name)).collect();
    for of_seed in for_each_seed(arguments.seed_range(), run) {
        for (runs, (before, after, temperature)) in runs.iter_mut().zip(of_seed?) {
            runs.push(before, after, temperature);
        }
    }
    progress.finish_and_clear();

    println!("{}", data::description(&digits, arguments.validation));
    println!(
        "Mean ± standard error over {} seeds, {} epochs.\n",
        arguments.seeds, arguments.epochs
    );
    table::print(&runs);
    println!(
        "\nOne of these tests: cross-entropy as trained, seed {}.",
        arguments.seed
    );
    println!("{}\n", runs[0].first_test());
    table::print_findings(&runs);
    Ok(())
}
