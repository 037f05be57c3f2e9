//! Draws the picture of README: what a temperature does for a network, and what the omnibus test says before
//! and after.
//!
//! ```sh
//! cargo run --release -p burn-calibration-papers --example readme # writes docs/before_after.svg
//! ```
//!
//! The network of the example `digits`, trained by cross-entropy alone. Which seed is shown is no choice:
//! it is the first.

#[path = "../../examples/digits/data.rs"]
#[allow(dead_code)] // the description of the example's table
mod data;
#[path = "../../examples/digits/network.rs"]
mod network;

use std::{error::Error, fmt::Write, path::Path};

use burn::{
    module::Module,
    nn::loss::CrossEntropyLossConfig,
    optim::{AdamWConfig, GradientsParams},
    tensor::{Device, Int, Tensor},
};
use burn_calibration::{file, prelude::*};
use burn_calibration_report::Draw;
use data::{Digits, Split};
use network::Network;
use rand::{SeedableRng, rngs::StdRng};

const SEED: u64 = 0;
const EPOCHS: usize = 200;
/// Findings that are shown; the test gives more.
const FINDINGS: usize = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::default();
    let split = Digits::load()?.split(SEED, &device);
    let network = train(&split, &device);
    let logits = network.forward(split.validation.images.clone());
    let map = TemperatureScalingConfig::new().fit(logits, split.validation.labels.clone())?;

    let logits = network.forward(split.test.images.clone());
    let labels = &split.test.labels;
    let before = Side::of("As trained", logits.clone(), labels)?;
    let title = format!("After a temperature of {:.2}", map.temperature());
    let after = Side::of(&title, map.forward(logits), labels)?;

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/before_after.svg");
    file::write(&path, beside_each_other(&before, &after).as_bytes())?;
    println!("{}", path.display());
    Ok(())
}

/// Trains a network by cross-entropy alone.
fn train(split: &Split, device: &Device) -> Network {
    let device = device.clone().autodiff();
    let cross_entropy = CrossEntropyLossConfig::new().init(&device);
    let mut network = Network::from_seed(SEED, &device);
    let mut rng = StdRng::seed_from_u64(SEED);
    let mut optimiser = AdamWConfig::new().with_weight_decay(0.0).init();
    let mut digits = split.training.clone();
    for _ in 0..EPOCHS {
        digits.shuffle(&mut rng);
        for batch in digits.batches(100, &device) {
            let loss = cross_entropy.forward(network.forward(batch.images), batch.labels);
            let gradients = GradientsParams::from_grads(loss.backward(), &network);
            network = optimiser.step(5e-3, network, gradients);
        }
    }
    network.valid()
}

/// Predictions: their diagram, and what the test says of them.
struct Side {
    title: String,
    verdict: String,
    details: Vec<String>,
    diagram: String,
}

impl Side {
    fn of(
        title: &str,
        logits: Tensor<2>,
        labels: &Tensor<1, Int>,
    ) -> burn_calibration::error::Result<Self> {
        let predictions = Categorical::from_logits(logits)?;
        let mut rng = StdRng::seed_from_u64(SEED);
        let outcome = OmnibusTest::new().outcome(&predictions, labels, &mut rng)?;
        let ece = Ece::top_label(15).estimate(&predictions, labels)?;
        let log_loss = LogScore.mean(&predictions, labels)?.estimate;
        let found = outcome.failing(0.05).into_iter().take(FINDINGS);
        let mut details: Vec<_> = found.map(|aspect| aspect.finding.to_string()).collect();
        details.push(format!("log loss {log_loss:.3}, ECE {:.1} %", 100.0 * ece));
        Ok(Self {
            title: title.to_owned(),
            verdict: outcome.verdict().to_string(),
            details,
            diagram: Reliability::default()
                .diagram(&predictions, labels)?
                .to_svg(),
        })
    }
}

/// Draws two diagrams in one file of SVG, with words above each.
fn beside_each_other(before: &Side, after: &Side) -> String {
    const WIDTH: usize = 500;
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"740\" viewBox=\"0 0 1000 740\" \
         font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\">\n\
         <rect width=\"1000\" height=\"740\" fill=\"#ffffff\"/>\n",
    );
    for (side, x) in [(before, 0), (after, WIDTH)] {
        let lines = [(&side.title, 17, "bold"), (&side.verdict, 15, "bold")];
        let details = side.details.iter().map(|line| (line, 13, "normal"));
        let mut y = 12;
        for (line, size, weight) in lines.into_iter().chain(details) {
            y += size + 8;
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{y}\" font-size=\"{size}\" font-weight=\"{weight}\" fill=\"#1a1a1a\">{line}</text>",
                x + 16
            );
        }
        let place = format!("<svg x=\"{}\" y=\"130\"", x + 8);
        svg += &side.diagram.replacen("<svg", &place, 1);
    }
    svg + "</svg>\n"
}
