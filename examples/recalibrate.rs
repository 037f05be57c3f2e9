//! Recalibrate a model from a file of its predictions, start to end.
//!
//! ```sh
//! cargo run --release --example recalibrate                     # simulated predictions
//! cargo run --release --example recalibrate -- --predictions p.csv --labels y.csv -o best.map
//! ```
//!
//! `p.csv` has one row per sample and one column per class, of probabilities, or with `--logits` of logits;
//! `y.csv` has a column of labels, which count from 0. Both are of samples that the model was not trained
//! on, without headers. One half chooses and fits the map, the other tells what it gained.

use std::{error::Error, path::PathBuf};

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_calibration::prelude::*;
use clap::Parser;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, StandardNormal};

#[derive(Debug, Parser)]
struct Arguments {
    /// Predictions, CSV
    #[arg(long, value_name = "FILE", requires = "labels")]
    predictions: Option<PathBuf>,

    /// Labels, CSV
    #[arg(long, value_name = "FILE", requires = "predictions")]
    labels: Option<PathBuf>,

    /// The predictions are logits, not probabilities
    #[arg(long)]
    logits: bool,

    /// Where to save the map
    #[arg(short, long, value_name = "MAP")]
    output: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let device = Device::default();
    let (rows, labels) = match (&arguments.predictions, &arguments.labels) {
        (Some(predictions), Some(labels)) => (read(predictions)?, read(labels)?.concat()),
        _ => simulated(2000),
    };
    let (n, m) = (rows.len(), rows.first().map_or(0, Vec::len));
    let rows: Tensor<2> = Tensor::from_data(TensorData::new(rows.concat(), [n, m]), &device);
    // the logits of probabilities are their logarithms
    let logits = match arguments.logits || arguments.predictions.is_none() {
        true => rows,
        false => rows.log(),
    };
    let size = labels.len();
    let labels: Vec<i64> = labels.into_iter().map(|label| label as i64).collect();
    let labels: Tensor<1, Int> = Tensor::from_data(TensorData::new(labels, [size]), &device);
    if size != n {
        return Err(format!("{n} predictions and {size} labels").into());
    }

    let halves = [0..n / 2, n / 2..n];
    let [fit, test] = halves.map(|rows| {
        (
            logits.clone().slice(rows.clone()),
            labels.clone().slice(rows),
        )
    });
    let map = AutoRecalibrationConfig::new().fit(fit.0, fit.1)?;
    println!("{}", map.choice());

    let before = Categorical::from_logits(test.0.clone())?;
    let after = Categorical::from_logits(map.forward(test.0))?;
    let gain = LogScore.improvement(&before, &after, &test.1)?.difference;
    let interval = gain.interval(0.95)?;
    println!(
        "Log loss on {} other samples: {:+.4} [{:+.4}, {:+.4}]\n",
        n - n / 2,
        gain.estimate,
        interval.lower,
        interval.upper
    );
    for (name, predictions) in [("Before", &before), ("After", &after)] {
        let mut rng = StdRng::seed_from_u64(0);
        let outcome = OmnibusTest::new().outcome(predictions, &test.1, &mut rng)?;
        println!("{name}: {outcome}\n");
    }
    if let Some(path) = arguments.output {
        map.save(&path)?;
        println!("Saved to {}; load_map reads it.", path.display());
    }
    Ok(())
}

fn read(path: &PathBuf) -> csv::Result<Vec<Vec<f64>>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_path(path)?;
    reader.deserialize().collect()
}

/// Logits of a model that is too sure by a factor of two, with labels.
fn simulated(n: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rng = StdRng::seed_from_u64(0);
    let sample = |_| {
        let true_logits: [f64; 3] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
        let weights = true_logits.map(f64::exp);
        let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
        let drawn = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        let logits = true_logits.iter().map(|z| 2.0 * z).collect();
        (logits, drawn.unwrap_or(2) as f64)
    };
    (0..n).map(sample).unzip()
}
