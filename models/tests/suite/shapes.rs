//! Shapes of logits, for 10 and 100 classes.

use burn::tensor::{Device, Tensor};
use burn_calibration_models::{
    Architecture, DenseNetConfig, LeNet5Config, ResNetConfig, Shortcut, WideResNetConfig,
};

use crate::visit::numbers;

fn images(n: usize, device: &Device) -> Tensor<4> {
    crate::reference::image(32, device).repeat_dim(0, n)
}

#[track_caller]
fn check(n: usize, forward: impl Fn(usize, Tensor<4>) -> Tensor<2>) {
    for classes in [10, 100] {
        let logits = forward(classes, images(n, &Device::flex()));
        assert_eq!(logits.dims(), [n, classes]);
        assert!(numbers(logits).iter().all(|z| z.is_finite()));
    }
}

#[test]
fn lenet() {
    check(2, |classes, images| {
        let config = LeNet5Config::new().with_classes(classes);
        config.init(&images.device()).forward(images)
    });
}

#[test]
fn resnet() {
    for shortcut in [Shortcut::Padding, Shortcut::Projection] {
        check(1, |classes, images| {
            let config = ResNetConfig::new(8)
                .with_shortcut(shortcut)
                .with_classes(classes);
            config.init(&images.device()).forward(images)
        });
    }
}

#[test]
fn wide_resnet() {
    check(1, |classes, images| {
        let config = WideResNetConfig::new(10, 1).with_classes(classes);
        config.init(&images.device()).forward(images)
    });
}

#[test]
fn densenet() {
    for config in [DenseNetConfig::new(10, 12), DenseNetConfig::bc(10, 12)] {
        check(1, |classes, images| {
            let config = config.clone().with_classes(classes);
            config.init(&images.device()).forward(images)
        });
    }
}

/// A published network of the enum, as it is.
#[test]
fn resnet20() {
    let device = Device::flex();
    let network = Architecture::ResNet20.init(100, &device);
    assert_eq!(network.forward(images(1, &device)).dims(), [1, 100]);
}
