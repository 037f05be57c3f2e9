//! CIFAR-10 with Burn's `Learner`: train networks of the literature with a calibration penalty,
//! recalibrate them, and test whether they are calibrated.
//!
//! ```sh
//! cargo run --release -p cifar10 -- --data DIR --model lenet5 --limit 10000
//! ```
//!
//! `DIR` holds `train` and `test`, each with a folder a class. Of every loss and seed that is asked
//! for a network is trained; metrics of whole epochs are on the dashboard (feature `dashboard`) or in
//! files, checkpoints beside them. Then a temperature is fitted to validation images, and test images
//! say what the network, and the recalibrated one, are worth: a table on standard output, in each run's
//! folder `results.json`, `report.html` and the temperature. A study is one command with `--seeds 3` and
//! several losses; it can be stopped, and goes on with the runs that are missing.

mod arguments;
mod batch;
mod classifier;
mod data;
mod evaluation;
mod held_out;
mod held_out_loader;
mod images;
mod objective;
mod plain;
mod run;
mod table;
mod training;
mod write;

use std::{error::Error, process::ExitCode};

use arguments::Arguments;
use clap::Parser;
use data::Data;
use evaluation::{Results, evaluate};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    match study() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn study() -> Result<()> {
    let arguments = Arguments::parse();
    let data = Data::read(&arguments)?;
    let runs = arguments.runs(data.training.images.len());
    if arguments.resume.is_some() && runs.len() != 1 {
        return Err("--resume: expected one loss and one seed".into());
    }
    let mut all = Vec::new();
    for run in runs {
        let folder = arguments.out.join(run.name());
        let results = match Results::load(&folder)? {
            Some(results) if results.run == run => results,
            Some(_) => {
                let place = folder.display();
                return Err(
                    format!("{place}: results of other settings; choose another --out").into(),
                );
            }
            None => {
                let trained = training::train(&run, &data, &folder, &arguments)?;
                let evaluation = evaluate(
                    &run,
                    &data.training.classes,
                    trained.outputs(&data.validation),
                    trained.outputs(&data.test),
                    &folder,
                    &arguments,
                )?;
                let results = Results {
                    run,
                    parameters: trained.parameters(),
                    epochs_trained: trained.epochs,
                    steps: trained.steps(),
                    training_seconds: trained.seconds,
                    evaluation,
                };
                results.save(&folder)?;
                results
            }
        };
        eprintln!("{}: {:.0} s", results.run.name(), results.training_seconds);
        all.push(results);
    }
    print!("{}", table::table(&all));
    Ok(())
}
