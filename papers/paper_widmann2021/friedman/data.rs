use std::{f64::consts::PI, ops::Range};

use burn::tensor::{DType, Device, Tensor, TensorData};
use rand::{RngExt, rngs::StdRng};
use rand_distr::{Distribution, StandardNormal};

/// Features of an input, of which five matter.
pub const FEATURES: usize = 10;

/// Everything is in f64, as in the paper.
pub const DTYPE: DType = DType::F64;

/// Friedman 1: `Y = 10 sin(πX₁X₂) + 20 (X₃ − ½)² + 10 X₄ + 5 X₅ + ε` with `X` uniform in the unit cube and
/// `ε ∼ N(0, 1)`.
#[derive(Clone)]
pub struct Data {
    /// `[n, 10]`.
    pub inputs: Tensor<2>,
    /// `[n, 1]`.
    pub targets: Tensor<2>,
}

impl Data {
    pub fn sample(n: usize, device: &Device, rng: &mut StdRng) -> Self {
        let (mut inputs, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let x: [f64; FEATURES] = rng.random();
            let noise: f64 = StandardNormal.sample(rng);
            let curved = 10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2);
            targets.push(curved + 10.0 * x[3] + 5.0 * x[4] + noise);
            inputs.extend(x);
        }
        let tensor = |values, columns| {
            Tensor::from_data(TensorData::new(values, [n, columns]), (device, DTYPE))
        };
        Self {
            inputs: tensor(inputs, FEATURES),
            targets: tensor(targets, 1),
        }
    }

    pub fn slice(&self, rows: Range<usize>) -> Self {
        Self {
            inputs: self.inputs.clone().slice(rows.clone()),
            targets: self.targets.clone().slice(rows),
        }
    }

    /// On another device.
    pub fn to_device(&self, device: &Device) -> Self {
        Self {
            inputs: self.inputs.clone().to_device(device),
            targets: self.targets.clone().to_device(device),
        }
    }
}
