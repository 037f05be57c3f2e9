//! Distributions of initial weights.

use burn::{module::Module, tensor::Device};
use burn_calibration_models::{DenseNetConfig, LeNet5Config, ResNetConfig, WideResNetConfig};

use crate::visit::{Parameter, largest, parameters};

/// Mean and variance of numbers.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|x| (x - mean).powi(2));
    (mean, squares.sum::<f64>() / (n - 1.0))
}

/// Normal with variance 2 / fan_in: the mean of N numbers has standard deviation σ/√N, their
/// variance σ²√(2/N), and among them is one beyond 2 σ (but with probability 1e-12 for N = 600, and
/// never for a uniform distribution of this variance).
fn assert_he(weight: &Parameter, fan_in: usize) {
    let n = weight.values.len() as f64;
    let variance = 2.0 / fan_in as f64;
    let (mean, found) = moments(&weight.values);
    let name = &weight.name;
    assert!(
        mean.abs() < 6.0 * (variance / n).sqrt(),
        "{name}: mean {mean}"
    );
    let relative = found / variance - 1.0;
    assert!(
        relative.abs() < 6.0 * (2.0 / n).sqrt(),
        "{name}: {found}, expected {variance}"
    );
    if n >= 600.0 {
        assert!(
            largest(&weight.values) > 2.0 * variance.sqrt(),
            "{name} is not normal"
        );
    }
}

/// Uniform on ± 1/√fan_in, of variance 1 / (3 fan_in).
fn assert_classifier(weight: &Parameter) {
    let fan_in = weight.shape[0] as f64;
    assert!(largest(&weight.values) <= 1.0 / fan_in.sqrt());
    let (_, variance) = moments(&weight.values);
    let relative = variance * 3.0 * fan_in - 1.0;
    // the variance of N uniform numbers has relative standard deviation √(4/5 / N)
    assert!(relative.abs() < 6.0 * (0.8 / weight.values.len() as f64).sqrt());
}

fn check<M: Module>(network: &M, classifier: &str) {
    let mut convolutions = 0;
    for parameter in parameters(network) {
        let (name, shape) = (&parameter.name, &parameter.shape);
        let constant = |value: f64| {
            assert!(parameter.values.iter().all(|&x| x == value), "{name}");
        };
        match shape.len() {
            4 => {
                convolutions += 1;
                assert_he(&parameter, shape[1] * shape[2] * shape[3]);
            }
            2 if name == classifier => assert_classifier(&parameter),
            2 => assert_he(&parameter, shape[0]),
            _ if name.ends_with("gamma") || name.ends_with("running_var") => constant(1.0),
            _ => constant(0.0),
        }
    }
    assert!(convolutions > 0);
}

#[test]
fn weights() {
    let device = Device::flex();
    device.seed(20);
    check(&LeNet5Config::new().init(&device), "fc3.weight");
    check(&ResNetConfig::new(14).init(&device), "linear.weight");
    check(&WideResNetConfig::new(10, 2).init(&device), "fc.weight");
    check(&DenseNetConfig::bc(16, 12).init(&device), "fc.weight");
}
