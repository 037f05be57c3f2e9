//! A training step of a network (forward and backward pass, no optimiser) with and without the SKCE
//! penalty: `cargo bench -p burn-calibration-benches --bench training_step [-- NETWORK DEVICE BATCH STEPS]`,
//! the network lenet5, resnet20 and so on, the device flex, or ndarray, wgpu, cuda with the feature of
//! that name.

#![allow(deprecated)] // upstream deprecates the NdArray backend; it stays a supported feature here

use std::time::Instant;

use burn::{
    nn::loss::CrossEntropyLossConfig,
    tensor::{Device, Distribution, Int, Tensor},
};
use burn_calibration::prelude::*;
use burn_calibration_benches::{data, value_and_gradient};
use burn_calibration_models::Architecture;

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

fn device(name: &str) -> Device {
    match name {
        "flex" => Device::flex(),
        #[cfg(feature = "ndarray")]
        "ndarray" => Device::ndarray(),
        #[cfg(feature = "wgpu")]
        "wgpu" => Device::wgpu(Default::default()),
        #[cfg(feature = "cuda")]
        "cuda" => Device::cuda(0),
        other => panic!("no device {other}, or its feature is not compiled in"),
    }
}

fn measure(network: &str, device_name: &str, batch: usize, steps: usize) {
    let device = device(device_name);
    let training = device.clone().autodiff();
    let architecture: Architecture = network.parse().expect("a network");
    let model = architecture.init(10, &training);
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
            let logits = model.forward(images.clone());
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
            "{network} on {device_name}, batch {batch}, {name}, median bandwidth: step {without:.1} ms, \
             with the penalty {with:.1} ms; the penalty alone {alone:.3} ms, {:.3} % of a step",
            100.0 * alone / without
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    match &arguments[..] {
        [network, device, batch, steps] => {
            let number = |text: &str| text.parse().expect("a number");
            measure(network, device, number(batch), number(steps));
        }
        [] => {
            measure("resnet20", "flex", 128, 7);
            measure("resnet20", "flex", 1024, 2);
        }
        _ => panic!("expected NETWORK DEVICE BATCH STEPS, or nothing"),
    }
}
