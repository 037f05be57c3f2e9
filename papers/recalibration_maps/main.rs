//! Recalibrate a trained model from a file of its predictions, start to end.
//!
//! ```sh
//! cargo run --release -p burn-calibration-papers --example recalibration_maps -- --predictions DIR
//! ```
//!
//! `DIR` holds predictions on one test set, `NAME.csv.gz` for each network with a row a sample and a
//! column a class, and `labels.csv`, counted from 1. The first half fits every map by the log loss, the
//! second half tells what it gained. What came out on four CIFAR-10 networks is in
//! `docs/recalibration.md`.

mod arguments;
mod reading;
mod table;

use std::{error::Error, fs, time::Instant};

use arguments::Arguments;
use burn::tensor::Device;
use burn_calibration::{
    prelude::*,
    recalibration::{AutoRecalibrationConfig, Fit, MapKind, load_map},
};
use clap::Parser;
use reading::Predictions;
use table::{Row, table};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let device = Device::flex();
    for name in &arguments.networks {
        // The logits of a model that gives probabilities are their logarithms.
        let all = Predictions::read(&arguments.predictions, name, &device)?;
        let (fit, held_out) = all.halves();

        // One kernel for all rows of a table, or they could not be compared: the median distance of the
        // predictions as they came.
        let before = Categorical::from_logits(held_out.logits.clone())?;
        let kernel = Kernel::exponential().with_bandwidth_of(&before.probabilities())?;
        let mut rows = vec![Row::evaluate(
            "none", None, &before, &before, &held_out, kernel,
        )?];

        // Every map, and last the one that cross-validation chooses.
        for kind in MapKind::ALL.iter().copied().map(Some).chain([None]) {
            let (method, start) = (kind.map_or("auto", MapKind::name), Instant::now());
            let (logits, labels) = (fit.logits.clone(), fit.labels.clone());
            let map = match kind {
                Some(kind) => kind.config(0).fit(logits, labels)?,
                None => {
                    let chosen = AutoRecalibrationConfig::new().fit(logits, labels)?;
                    eprint!("{}", chosen.choice());
                    chosen.into_map()
                }
            };
            let seconds = start.elapsed().as_secs_f64();
            if let Some(report) = map.report() {
                eprintln!("{name}, {method}: {report}");
            }

            // A saved map gives the same numbers, bit for bit, wherever it is loaded.
            let file = std::env::temp_dir().join(format!("{name}-{method}.map"));
            map.save(&file)?;
            let map = load_map(&file, &device)?;
            fs::remove_file(file)?;

            let after = Categorical::from_logits(map.forward(held_out.logits.clone()))?;
            let fitted = Some((map.guarantees(), seconds));
            rows.push(Row::evaluate(
                method, fitted, &before, &after, &held_out, kernel,
            )?);
        }
        println!("{}", table(name, held_out.samples(), &rows));
    }
    Ok(())
}
