//! Weights from PyTorch: logits and gradients of the same weights, and files that do not fit.

use std::fs;

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use burn_calibration_models::{
    DenseNetConfig, LeNet5Config, Network, ResNet, ResNetConfig, Shortcut, WideResNetConfig,
    store::{LoadError, PyTorchWeights},
};

use crate::{
    reference::{Reference, Weight, fixture, image, write},
    visit::{assert_close, numbers},
};

/// Logits at inference, and the gradient through a frozen network.
#[track_caller]
fn check(name: &str, init: impl Fn(&Device) -> Network) {
    let reference = Reference::new(name);
    let (_folder, path) = write(&reference.weights());

    let device = Device::flex();
    let network = init(&device).load_safetensors(&path).unwrap();
    let logits = network.forward(reference.image(&device));
    assert_close(&numbers(logits), &reference.logits, 1e-4);

    let device = device.autodiff();
    let network = init(&device).load_safetensors(&path).unwrap().freeze();
    let images = reference.image(&device).require_grad();
    let logits = network.forward(images.clone());
    assert_close(&numbers(logits.clone()), &reference.logits, 1e-4);
    let gradients = logits.square().sum().backward();
    let gradient = numbers(images.grad(&gradients).unwrap());
    let part: Vec<f64> = gradient
        .into_iter()
        .step_by(3 * reference.side + 1)
        .collect();
    assert_close(&part, &reference.gradient, 1e-3);
}

#[test]
fn lenet() {
    check("lenet5", |device| {
        Network::LeNet5(LeNet5Config::new().init(device))
    });
}

fn resnet8() -> ResNetConfig {
    ResNetConfig::new(8).with_channels(4)
}

#[test]
fn resnet() {
    check("resnet8", |device| Network::ResNet(resnet8().init(device)));
}

#[test]
fn resnet_with_projections() {
    let config = resnet8().with_shortcut(Shortcut::Projection);
    check("resnet8b", |device| Network::ResNet(config.init(device)));
}

/// PyTorch scales the branch of block l of 6 by 1 − l/6 · (1 − 0.5).
#[test]
fn stochastic_depth() {
    let config = ResNetConfig::new(14).with_channels(4).with_survival(0.5);
    check("resnet14sd", |device| Network::ResNet(config.init(device)));
}

#[test]
fn wide_resnet() {
    for (name, widening) in [("wrn-10-1", 1), ("wrn-10-2", 2)] {
        let config = WideResNetConfig::new(10, widening).with_dropout(0.3);
        check(name, |device| Network::WideResNet(config.init(device)));
    }
}

#[test]
fn densenet() {
    let config = DenseNetConfig::new(10, 4).with_dropout(0.2);
    check("densenet10", |device| {
        Network::DenseNet(config.init(device))
    });
    let config = DenseNetConfig::bc(16, 4).with_dropout(0.2);
    check("densenet-bc-16", |device| {
        Network::DenseNet(config.init(device))
    });
}

/// A checkpoint that PyTorch wrote, nested and with the prefix of `DataParallel`, and the same
/// weights as safetensors in half precision; both have counts of batches.
#[test]
fn files_of_pytorch() {
    let text = fs::read_to_string(fixture("resnet8.json")).unwrap();
    let logits: Vec<f64> = serde_json::from_str(&text).unwrap();
    let device = Device::flex();
    let network = || resnet8().init(&device);
    let of = |network: ResNet| numbers(network.forward(image(16, &device)));

    let checkpoint = network().load_pytorch(fixture("resnet8.pt")).unwrap();
    assert_close(&of(checkpoint), &logits, 1e-4);
    let safetensors = network().load_safetensors(fixture("resnet8.safetensors"));
    assert_close(&of(safetensors.unwrap()), &logits, 1e-4);
}

/// What loading the weights of `resnet8` gives after a change.
fn after(change: impl Fn(&mut Vec<Weight>)) -> LoadError {
    let mut weights = Reference::new("resnet8").weights();
    change(&mut weights);
    let (_folder, path) = write(&weights);
    let network = resnet8().init(&Device::flex());
    network.load_safetensors(path).unwrap_err()
}

#[test]
fn missing_weights() {
    let error = after(|weights| weights.retain(|w| w.name != "layer2.0.bn1.running_var"));
    assert!(
        matches!(&error, LoadError::Missing { keys, .. } if keys == &["layer2.0.bn1.running_var"])
    );
    let text = error.to_string();
    assert!(
        text.starts_with("no weights layer2.0.bn1.running_var in "),
        "{text}"
    );
    assert!(text.ends_with("weights.safetensors"), "{text}");

    let error = after(|weights| weights.truncate(2));
    let text = error.to_string();
    let names = "bn1.bias, bn1.running_mean, bn1.running_var, layer1.0.conv1.weight";
    assert!(
        text.contains(names) && text.contains(" and 30 more in "),
        "{text}"
    );
}

#[test]
fn weights_of_a_deeper_network() {
    let error = after(|weights| {
        weights.push(Weight {
            name: "layer1.1.conv1.weight".to_string(),
            shape: vec![4, 4, 3, 3],
            values: vec![0.0; 144],
        });
    });
    let text = error.to_string();
    assert!(
        text.starts_with("unexpected weights layer1.1.conv1.weight in "),
        "{text}"
    );
}

/// The names that a Wide ResNet misses are those of the file, not of the module.
#[test]
fn missing_projection_of_a_wide_resnet() {
    let mut weights = Reference::new("wrn-10-2").weights();
    weights.retain(|w| w.name != "block1.layer.0.convShortcut.weight");
    let (_folder, path) = write(&weights);
    let network = WideResNetConfig::new(10, 2).init(&Device::flex());
    let text = network.load_safetensors(path).unwrap_err().to_string();
    assert!(
        text.starts_with("no weights block1.layer.0.convShortcut.weight in "),
        "{text}"
    );
}

#[test]
fn weights_of_another_shape() {
    let error = after(|weights| {
        let linear = weights
            .iter_mut()
            .find(|w| w.name == "linear.weight")
            .unwrap();
        assert_eq!(linear.shape, [10, 16]);
        linear.shape = vec![16, 10];
    });
    let text = error.to_string();
    assert!(
        text.starts_with("weights linear.weight of shape [16, 10] in "),
        "{text}"
    );
    assert!(text.ends_with("expected [10, 16]"), "{text}");
}

#[test]
fn weights_of_another_network() {
    let (_folder, path) = write(&Reference::new("resnet8").weights());
    let network = LeNet5Config::new().init(&Device::flex());
    let error = network.load_safetensors(path).unwrap_err();
    assert!(matches!(error, LoadError::Shape { key, .. } if key == "conv1.weight"));
}

/// A file cut short after any of its parts.
#[test]
fn truncated_files() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["resnet8.pt", "resnet8.safetensors"] {
        let bytes = fs::read(fixture(name)).unwrap();
        let path = folder.path().join(name);
        for length in [0, 4, 100, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..length]).unwrap();
            let network = resnet8().init(&Device::flex());
            let loaded = match name {
                "resnet8.pt" => network.load_pytorch(&path),
                _ => network.load_safetensors(&path),
            };
            let error = loaded.expect_err(&format!("{name}, {length} bytes"));
            let text = error.to_string();
            assert!(
                matches!(error, LoadError::Read { .. }),
                "{name}, {length} bytes: {text}"
            );
            assert!(text.contains(name), "{text}");
        }
    }
}

#[test]
fn no_file() {
    let network = LeNet5Config::new().init(&Device::flex());
    let error = network.load_pytorch("no/such/file.pt").unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("cannot read weights from no/such/file.pt: "),
        "{text}"
    );
}

/// Weights keep the precision of the network and stay trainable.
#[test]
fn loaded_weights_are_trained() {
    let device = Device::flex().autodiff();
    let network = resnet8().init(&device);
    let network = network
        .load_safetensors(fixture("resnet8.safetensors"))
        .unwrap();
    let logits: Tensor<2> = network.forward(image(16, &device));
    let gradients = logits.square().sum().backward();
    for (name, gradient) in crate::visit::gradients(&network, &gradients) {
        assert!(gradient.is_some(), "{name}");
    }
}
