use burn::{
    module::{Module, Param},
    nn::Linear,
    tensor::{Device, Tensor, TensorData, activation::relu},
};
use rand::{RngExt, rngs::StdRng};

use super::data::{DTYPE, FEATURES};

/// Two hidden layers of 200 and 50 units.
#[derive(Module, Debug)]
pub struct Network {
    first: Linear,
    second: Linear,
    output: Linear,
}

impl Network {
    /// Uniform Glorot weights and no bias.
    pub fn new(outputs: usize, device: &Device, rng: &mut StdRng) -> Self {
        Self {
            first: glorot(FEATURES, 200, device, rng),
            second: glorot(200, 50, device, rng),
            output: glorot(50, outputs, device, rng),
        }
    }

    /// `[n, 10] → [n, outputs]`.
    pub fn forward(&self, inputs: Tensor<2>) -> Tensor<2> {
        let hidden = relu(self.first.forward(inputs));
        self.output.forward(relu(self.second.forward(hidden)))
    }
}

/// `W ∼ U(−b, b)`, `b = √(6/(inputs + outputs))`.
fn glorot(inputs: usize, outputs: usize, device: &Device, rng: &mut StdRng) -> Linear {
    let bound = (6.0 / (inputs + outputs) as f64).sqrt();
    let weights: Vec<f64> = (0..inputs * outputs)
        .map(|_| rng.random_range(-bound..bound))
        .collect();
    let weights = TensorData::new(weights, [inputs, outputs]);
    let options = (device, DTYPE);
    Linear {
        weight: Param::from_tensor(Tensor::from_data(weights, options)),
        bias: Some(Param::from_tensor(Tensor::zeros([outputs], options))),
    }
}
