//! The whole way once for regression: **train** a network that predicts normal distributions, with and
//! without a calibration penalty, **test** it, **recalibrate** it.
//!
//! ```sh
//! cargo run --release --example regression
//! ```
//!
//! The problem is Friedman 1: `Y = 10 sin(πX₁X₂) + 20 (X₃ − ½)² + 10 X₄ + 5 X₅ + ε`, `ε ∼ N(0, 1)`, and five
//! features that do not matter. From 200 samples the network learns some of the noise by heart, and is then
//! too sure of itself. The penalty lowers the CRPS here, and not the log score; the temperature lowers both.

use std::f64::consts::PI;

use burn::{
    module::Module,
    nn::{Linear, LinearConfig},
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Tensor, TensorData, activation::relu},
};
use burn_calibration::distribution::Normal;
use burn_calibration::{error::Result, hypothesis::OmnibusOutcome, prelude::*};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, StandardNormal};

const SEED: u64 = 0;
const ITERATIONS: usize = 1000;
/// The last weight of the penalty: an SKCE is small, a log score is not.
const LAMBDA: f64 = 10.0;

fn main() -> Result<()> {
    let device = Device::default();
    let mut rng = StdRng::seed_from_u64(SEED);
    let training = Data::sample(200, &device.clone().autodiff(), &mut rng);
    let validation = Data::sample(200, &device, &mut rng);
    let test = Data::sample(500, &device, &mut rng);

    println!("| trained by | recalibrated | log score | CRPS | SKCE | p-value |");
    println!("| --- | --- | ---: | ---: | ---: | ---: |");
    let mut answers = Vec::new();
    for lambda in [0.0, LAMBDA] {
        let network = train(&training, lambda);
        // One temperature, fitted to samples that training did not see, makes all variances larger.
        let of_validation = network.predict(&validation.inputs);
        let map = TemperatureScalingConfig::new().fit(of_validation, validation.targets.clone())?;

        // Is the model calibrated? A small p-value says that it is not, and the test says where it fails.
        let before = network.predict(&test.inputs);
        let temperature = format!("T = {:.2}", map.temperature());
        let after = map.forward(before.clone());
        for (how, predictions) in [("no", before), (temperature.as_str(), after)] {
            let (row, outcome) = evaluate(&predictions, &test)?;
            println!("| log score + {lambda} SKCE | {how} | {row} |");
            answers.push(format!("log score + {lambda} SKCE, {how}: {outcome}"));
        }
    }
    println!("\n{}", answers.join("\n\n"));
    Ok(())
}

/// The kernel on pairs of a prediction and a target: `exp(−W₂(P, P')/ν) exp(−(y − y')²/2ℓ²)`. The
/// bandwidth `ν` is the median distance of the predictions; `ℓ` is on the scale of the noise.
fn kernel() -> TensorKernel<RealKernel> {
    TensorKernel::wasserstein(RealKernel::gaussian(1.0))
}

/// Full-batch gradient descent on the log score, and `λ` times the squared kernel calibration error of
/// the batch. The weight grows over the first quarter of the steps: a penalty at full weight can hold a
/// network at predictions that say nothing, which are calibrated as well.
fn train(data: &Data, lambda: f64) -> Network {
    let device = data.inputs.device();
    device.seed(SEED); // of the weights
    let mut network = Network::new(&device);
    let mut optimiser = AdamConfig::new().init();
    let loss = PenalisedLoss::new(
        ScoreLoss::new(LogScore),
        SkceLoss::new(Skce::unbiased(kernel())),
        WeightSchedule::WarmUp {
            weight: lambda,
            steps: ITERATIONS / 4,
        },
    );
    for step in 0..ITERATIONS {
        let predictions = network.predict(&data.inputs);
        let loss = loss.forward(&predictions, &data.targets, step);
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        network = optimiser.step(1e-3, network, gradients);
    }
    network.valid()
}

/// A row of the table, and what the omnibus test found.
fn evaluate(predictions: &Normal, data: &Data) -> Result<(String, OmnibusOutcome)> {
    let targets = &data.targets;
    let log_score = LogScore.mean(predictions, targets)?.estimate;
    let crps = Crps.mean(predictions, targets)?.estimate;
    let skce = Skce::unbiased(kernel()).estimate(predictions, targets)?;
    let mut rng = StdRng::seed_from_u64(SEED);
    let outcome = OmnibusTest::new().outcome(predictions, targets, &mut rng)?;
    let p = outcome.p_value; // at least 0.001: 999 redraws say no more
    let row = format!("{log_score:.3} | {crps:.3} | {skce:.5} | {p:.3}");
    Ok((row, outcome))
}

/// A mean and a standard deviation for each input.
#[derive(Module, Debug)]
struct Network {
    first: Linear,
    second: Linear,
    output: Linear,
}

impl Network {
    fn new(device: &Device) -> Self {
        Self {
            first: LinearConfig::new(10, 200).init(device),
            second: LinearConfig::new(200, 50).init(device),
            output: LinearConfig::new(50, 2).init(device),
        }
    }

    /// `[n, 10]` to `n` predictions; no standard deviation is below 0.01.
    fn predict(&self, inputs: &Tensor<2>) -> Normal {
        let hidden = relu(self.first.forward(inputs.clone()));
        let hidden = relu(self.second.forward(hidden));
        Normal::from_raw(self.output.forward(hidden), 0.01)
    }
}

/// Inputs `[n, 10]` and targets `[n, 1]`.
struct Data {
    inputs: Tensor<2>,
    targets: Tensor<2>,
}

impl Data {
    fn sample(n: usize, device: &Device, rng: &mut StdRng) -> Self {
        let (mut inputs, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let x: [f64; 10] = rng.random();
            let noise: f64 = StandardNormal.sample(rng);
            let curved = 10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2);
            targets.push(curved + 10.0 * x[3] + 5.0 * x[4] + noise);
            inputs.extend(x);
        }
        Self {
            inputs: Tensor::from_data(TensorData::new(inputs, [n, 10]), device),
            targets: Tensor::from_data(TensorData::new(targets, [n, 1]), device),
        }
    }
}
