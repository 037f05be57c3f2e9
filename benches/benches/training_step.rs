//! A training step of ResNet-20 (forward and backward pass, no optimiser) with and without the SKCE
//! penalty: `cargo bench -p burn-calibration-benches --bench training_step [-- BATCH STEPS]`.

use std::time::Instant;

use burn::{
    nn::loss::CrossEntropyLossConfig,
    tensor::{Device, Distribution, Int, Tensor},
};
use burn_calibration::prelude::*;
use burn_calibration_benches::{data, value_and_gradient};
use burn_calibration_models::ResNetConfig;

/// The middle of some durations in milliseconds.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn milliseconds<T>(f: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64() * 1e3
}

fn measure(batch: usize, steps: usize) {
    let device = Device::default();
    let training = device.clone().autodiff();
    let network = ResNetConfig::new(20).init(&training);
    let cross_entropy = CrossEntropyLossConfig::new().init(&training);
    let images = Tensor::<4>::random([batch, 3, 32, 32], Distribution::Default, &training);
    let (logits, labels) = data(batch, 10, &device);
    let labels_in_training: Tensor<1, Int> = labels.clone().autodiff();
    for (name, kernel) in [
        ("Gaussian", Kernel::gaussian()),
        ("exponential TV", Kernel::exponential()),
    ] {
        let penalty = SkceLossConfig::new().with_kernel(kernel).init();
        let step = |penalised: bool| {
            let logits = network.forward(images.clone());
            let mut loss = cross_entropy.forward(logits.clone(), labels_in_training.clone());
            if penalised {
                loss = loss + penalty.forward(logits, labels_in_training.clone());
            }
            let gradients = loss.backward();
            device.sync().expect("the device finishes");
            gradients
        };
        step(true); // warm
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..steps {
            for penalised in [false, true] {
                times[usize::from(penalised)].push(milliseconds(|| step(penalised)));
            }
        }
        let alone =
            (0..20).map(|_| milliseconds(|| value_and_gradient(&penalty, &logits, &labels)));
        let alone = median(alone.collect());
        let [without, with] = times.map(median);
        println!(
            "batch {batch}, {name}, median bandwidth: step {without:.1} ms, with the penalty {with:.1} ms; \
             the penalty alone {alone:.3} ms, {:.3} % of a step",
            100.0 * alone / without
        );
    }
}

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    match numbers[..] {
        [batch, steps] => measure(batch, steps),
        _ => {
            measure(128, 7);
            measure(1024, 2);
        }
    }
}
