//! Gradients reach every parameter, and dropout is on in training alone.

use burn::{
    module::Module,
    tensor::{Device, Distribution, Tensor},
};
use burn_calibration_models::{
    DenseNetConfig, LeNet5Config, ResNetConfig, Shortcut, WideResNetConfig,
};

use crate::visit::{gradients, largest, numbers};

fn images(side: usize, device: &Device) -> Tensor<4> {
    Tensor::random([4, 3, side, side], Distribution::Normal(0.0, 1.0), device)
}

#[track_caller]
fn check<M: Module>(
    side: usize,
    init: impl Fn(&Device) -> M,
    forward: impl Fn(&M, Tensor<4>) -> Tensor<2>,
) {
    let device = Device::flex().autodiff();
    device.seed(21);
    let network = init(&device);
    let logits = forward(&network, images(side, &device));
    let found = gradients(&network, &logits.square().sum().backward());
    assert!(!found.is_empty());
    for (name, gradient) in found {
        let size = largest(&gradient.unwrap_or_else(|| panic!("{name} has no gradient")));
        assert!(size.is_finite() && size > 0.0, "{name}: {size}");
    }
}

#[test]
fn lenet() {
    check(
        32,
        |device| LeNet5Config::new().init(device),
        |network, x| network.forward(x),
    );
}

#[test]
fn resnet() {
    for shortcut in [Shortcut::Padding, Shortcut::Projection] {
        let config = ResNetConfig::new(14)
            .with_channels(4)
            .with_shortcut(shortcut);
        check(
            8,
            |device| config.init(device),
            |network, x| network.forward(x),
        );
    }
}

#[test]
fn wide_resnet() {
    let config = WideResNetConfig::new(10, 1).with_dropout(0.1);
    check(
        8,
        |device| config.init(device),
        |network, x| network.forward(x),
    );
}

#[test]
fn densenet() {
    for config in [DenseNetConfig::new(10, 4), DenseNetConfig::bc(16, 4)] {
        let config = config.with_dropout(0.1);
        check(
            8,
            |device| config.init(device),
            |network, x| network.forward(x),
        );
    }
}

/// Two passes of the same images differ in training and agree at inference.
#[track_caller]
fn check_dropout<M: Module>(
    init: impl Fn(&Device) -> M,
    forward: impl Fn(&M, Tensor<4>) -> Tensor<2>,
    random: bool,
) {
    let device = Device::flex().autodiff();
    device.seed(22);
    let network = init(&device);
    let x = images(8, &device);
    let twice = |network: &M, x: Tensor<4>| [0; 2].map(|_| numbers(forward(network, x.clone())));
    let [a, b] = twice(&network, x.clone());
    assert_eq!(a != b, random);
    let [a, b] = twice(&network.valid(), x.inner());
    assert_eq!(a, b);
}

#[test]
fn dropout() {
    for dropout in [0.0, 0.3] {
        let random = dropout > 0.0;
        let config = WideResNetConfig::new(10, 1).with_dropout(dropout);
        check_dropout(
            |device| config.init(device),
            |network, x| network.forward(x),
            random,
        );
        let config = DenseNetConfig::new(7, 4).with_dropout(dropout);
        check_dropout(
            |device| config.init(device),
            |network, x| network.forward(x),
            random,
        );
    }
}
