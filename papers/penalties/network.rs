use std::sync::Mutex;

use burn::{
    module::Module,
    nn::{Linear, LinearConfig},
    tensor::{Device, Tensor, activation::relu},
};

const HIDDEN: usize = 128;

/// Three layers, as in Marx, Zalouk, Ermon 2023.
#[derive(Module, Debug)]
pub struct Network {
    first: Linear,
    second: Linear,
    output: Linear,
}

/// The seed belongs to the device, and so to all threads.
static SEED: Mutex<()> = Mutex::new(());

impl Network {
    /// Random weights, drawn when they are first used, which is here; those of the output layer times
    /// `start`.
    pub fn new(widths: [usize; 2], start: f64, seed: u64, device: &Device) -> Self {
        let _alone = SEED.lock();
        device.seed(seed);
        let [inputs, outputs] = widths;
        let mut network = Self {
            first: LinearConfig::new(inputs, HIDDEN).init(device),
            second: LinearConfig::new(HIDDEN, HIDDEN).init(device),
            output: LinearConfig::new(HIDDEN, outputs).init(device),
        };
        network.forward(Tensor::zeros([1, inputs], device));
        if start != 1.0 {
            let scaled = |w: Tensor<2>| (w * start).detach().require_grad();
            network.output.weight = network.output.weight.map(scaled);
            let bias = network.output.bias.take();
            network.output.bias =
                bias.map(|b| b.map(|b: Tensor<1>| (b * start).detach().require_grad()));
        }
        network
    }

    /// Inputs `[n, inputs]` to `[n, outputs]`.
    pub fn forward(&self, inputs: Tensor<2>) -> Tensor<2> {
        let hidden = relu(self.first.forward(inputs));
        self.output.forward(relu(self.second.forward(hidden)))
    }
}
