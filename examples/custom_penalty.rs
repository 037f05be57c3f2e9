//! A penalty of your own: any differentiable function of predictions and labels.
//!
//! ```sh
//! cargo run --release --example custom_penalty
//! ```
//!
//! The penalty here is the difference between mean confidence and accuracy of a batch, squared (after Liang
//! et al. 2020, *Improved trainable calibration method for neural networks*). It is a `Module` with a
//! `Criterion`: so `PenalisedLoss` takes it, a `Lens` can look at a part of the prediction, and recalibration
//! maps can be fitted by it. A closure is a `Criterion` too, where no module is needed. It gains little here: the
//! samples that it sees are those that the network learns by heart.

use std::error::Error;

use burn::{
    module::Module,
    nn::{Linear, LinearConfig, loss::CrossEntropyLossConfig},
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Int, Tensor, TensorData, activation::relu},
};
use burn_calibration::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, StandardNormal};

/// `(mean confidence − accuracy)²`.
#[derive(Module, Debug)]
struct ConfidenceGap;

impl Criterion for ConfidenceGap {
    fn value(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Tensor<1> {
        let probabilities = predictions.probabilities(); // [n, m]
        let (confidence, class) = probabilities.max_dim_with_indices(1); // [n, 1] each
        let right = class.equal(labels.clone().unsqueeze_dim(1)).float();
        (confidence - right.cast(predictions.dtype()))
            .mean()
            .square()
    }
}

#[derive(Module, Debug)]
struct Network {
    hidden: Linear,
    output: Linear,
}

impl Network {
    fn forward(&self, inputs: Tensor<2>) -> Tensor<2> {
        self.output.forward(relu(self.hidden.forward(inputs)))
    }
}

const STEPS: usize = 400;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::default();
    let mut rng = StdRng::seed_from_u64(0);
    let training = Data::sample(300, &device.clone().autodiff(), &mut rng);
    let test = Data::sample(2000, &device, &mut rng);
    for weight in [0.0, 4.0] {
        let network = train(&training, weight);
        let predictions = Categorical::from_logits(network.forward(test.inputs.clone()))?;
        let log_loss = LogScore.mean(&predictions, &test.labels)?.estimate;
        let interval = Overconfidence::default()
            .size(&predictions, &test.labels)?
            .interval(0.95)?;
        println!(
            "weight {weight}: log loss {log_loss:.3}, overconfident by {:.1} points [{:.1}, {:.1}]",
            100.0 * interval.estimate,
            100.0 * interval.lower,
            100.0 * interval.upper
        );
    }
    Ok(())
}

fn train(data: &Data, weight: f64) -> Network {
    let device = data.inputs.device();
    device.seed(0);
    let mut network = Network {
        hidden: LinearConfig::new(2, 128).init(&device),
        output: LinearConfig::new(128, 2).init(&device),
    };
    let loss = PenalisedLoss::new(
        CrossEntropyLossConfig::new().init(&device),
        ConfidenceGap,
        WeightSchedule::WarmUp {
            weight,
            steps: STEPS / 4,
        },
    );
    let mut optimiser = AdamConfig::new().init();
    for step in 0..STEPS {
        let logits = network.forward(data.inputs.clone());
        let value = loss.forward(logits, data.labels.clone(), step);
        let gradients = GradientsParams::from_grads(value.backward(), &network);
        network = optimiser.step(1e-2, network, gradients);
    }
    network.valid()
}

/// Two classes that overlap: inputs `[n, 2]`, standard normal, and labels `[n]`.
struct Data {
    inputs: Tensor<2>,
    labels: Tensor<1, Int>,
}

impl Data {
    fn sample(n: usize, device: &Device, rng: &mut StdRng) -> Self {
        let (mut inputs, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let [x, y]: [f32; 2] = std::array::from_fn(|_| StandardNormal.sample(rng));
            let probability = 1.0 / (1.0 + (-3.0 * x * y).exp());
            labels.push(i64::from(rng.random::<f32>() < probability));
            inputs.extend([x, y]);
        }
        Self {
            inputs: Tensor::from_data(TensorData::new(inputs, [n, 2]), device),
            labels: Tensor::from_data(TensorData::new(labels, [n]), device),
        }
    }
}
