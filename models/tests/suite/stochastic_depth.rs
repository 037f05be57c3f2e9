//! Blocks dropped in training; inference is compared with PyTorch in `load`.

use std::thread;

use burn::{
    module::Module,
    tensor::{Device, Distribution, Tensor},
};
use burn_calibration_models::{ResNet, ResNetConfig, store::PyTorchWeights};

use crate::{
    reference::{Reference, write},
    visit::{assert_close, gradients, numbers},
};

const BLOCKS: [&str; 6] = [
    "layer1.0.",
    "layer1.1.",
    "layer2.0.",
    "layer2.1.",
    "layer3.0.",
    "layer3.1.",
];

fn config() -> ResNetConfig {
    ResNetConfig::new(14).with_channels(4)
}

fn images(device: &Device) -> Tensor<4> {
    Tensor::random([2, 3, 8, 8], Distribution::Normal(0.0, 1.0), device)
}

/// With the weights of the reference, where the branches of some blocks end in a normalisation with
/// scale and shift 0.
fn loaded(config: &ResNetConfig, closed: &[&str], device: &Device) -> ResNet {
    let mut weights = Reference::new("resnet14sd").weights();
    for weight in &mut weights {
        let last = |block: &&str| {
            let name = weight.name.strip_prefix(block);
            matches!(name, Some("bn2.weight" | "bn2.bias"))
        };
        if closed.iter().any(last) {
            weight.values.fill(0.0);
        }
    }
    let (_folder, path) = write(&weights);
    config.init(device).load_safetensors(path).unwrap()
}

/// The logits of a step of training, and the blocks that took no part in it: those whose parameters
/// have no gradient.
fn step(network: &ResNet, images: Tensor<4>) -> (Vec<f64>, Vec<&'static str>) {
    let logits = network.forward(images);
    let found = gradients(network, &logits.clone().square().sum().backward());
    let dropped = BLOCKS.into_iter().filter(|block| {
        let of_block = || found.iter().filter(|(name, _)| name.starts_with(block));
        let reached = of_block()
            .filter(|(_, gradient)| gradient.is_some())
            .count();
        assert!(
            reached == 0 || reached == of_block().count(),
            "part of {block}"
        );
        reached == 0
    });
    let dropped = dropped.collect();
    (numbers(logits), dropped)
}

/// Which blocks are dropped in some steps.
fn history(config: &ResNetConfig, steps: usize) -> Vec<Vec<&'static str>> {
    let device = Device::flex().autodiff();
    let network = config.init(&device);
    let images = Tensor::random([1, 3, 4, 4], Distribution::Default, &device);
    (0..steps)
        .map(|_| step(&network, images.clone()).1)
        .collect()
}

/// A branch that ends in zeros adds nothing to the shortcut.
#[test]
fn dropped_blocks_are_their_shortcuts() {
    let device = Device::flex().autodiff();
    let images = images(&device);
    let network = loaded(&config().with_survival(0.3), &[], &device);
    let mut counts = vec![];
    for _ in 0..6 {
        let (logits, dropped) = step(&network, images.clone());
        let closed = loaded(&config(), &dropped, &device);
        assert_close(&logits, &numbers(closed.forward(images.clone())), 1e-5);
        counts.push(dropped.len());
    }
    assert!(counts.iter().any(|&count| count > 0));
}

/// 400 steps, within 4.5 standard errors of the survival `1 − l/6 · 0.6` of block l.
#[test]
fn survival_decays_linearly() {
    let steps = 400;
    let history = history(&config().with_survival(0.4).with_seed(3), steps);
    for (l, block) in BLOCKS.iter().enumerate() {
        let survived = history.iter().filter(|step| !step.contains(block)).count();
        let p = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4][l];
        let error = survived as f64 / steps as f64 - p;
        let standard = (p * (1.0 - p) / steps as f64).sqrt();
        assert!(
            error.abs() < 4.5 * standard,
            "{block} survived {survived} of {steps}"
        );
    }
}

#[test]
fn without_dropped_blocks_it_is_the_plain_network() {
    for device in [Device::flex(), Device::flex().autodiff()] {
        let x = images(&device);
        let plain = loaded(&config(), &[], &device).forward(x.clone());
        for survival in [1.0, 1.0 - 1e-12] {
            let network = loaded(&config().with_survival(survival), &[], &device);
            assert_close(
                &numbers(network.forward(x.clone())),
                &numbers(plain.clone()),
                1e-6,
            );
        }
    }
}

/// Nothing is random at inference, nor in a frozen network where gradients are possible.
#[test]
fn inference_is_not_random() {
    let device = Device::flex().autodiff();
    let x = images(&device);
    let network = loaded(&config().with_survival(0.3), &[], &device);
    let once = numbers(network.valid().forward(x.clone().inner()));
    assert_eq!(numbers(network.valid().forward(x.clone().inner())), once);
    let frozen = network.freeze();
    for _ in 0..5 {
        assert_close(&numbers(frozen.forward(x.clone())), &once, 1e-6);
    }
}

#[test]
fn the_seed_chooses_the_blocks() {
    let config = config().with_survival(0.5);
    let first = history(&config.clone().with_seed(7), 20);
    assert_eq!(history(&config.clone().with_seed(7), 20), first);
    assert_ne!(history(&config.with_seed(8), 20), first);
}

/// Devices that train together have threads of their own and must drop the same blocks; a clone on
/// the same thread goes on. Each thread has parameters of its own, as in Burn's trainer: Burn 0.22.1
/// can lock up where one thread uses parameters in whose backward pass another is.
#[test]
fn threads_drop_the_same_blocks() {
    let device = Device::flex().autodiff();
    let network = config().with_survival(0.5).init(&device);
    let images = Tensor::random([1, 3, 4, 4], Distribution::Default, &device);
    let steps = |network: ResNet, images: Tensor<4>| -> Vec<_> {
        (0..10).map(|_| step(&network, images.clone()).1).collect()
    };
    let workers = [0; 2].map(|_| {
        let (network, images) = (network.clone().fork(&device), images.clone());
        thread::spawn(move || steps(network, images))
    });
    let [a, b] = workers.map(|worker| worker.join().unwrap());
    assert_eq!(a, b);

    let mut here = steps(network.clone(), images.clone());
    assert_eq!(here, a);
    here.extend(steps(network.clone(), images));
    assert_eq!(here, history(&config().with_survival(0.5), 20));
}
