use std::sync::Mutex;

use burn::{
    module::Module,
    nn::{Linear, LinearConfig},
    tensor::{Device, Tensor, activation::relu},
};

use crate::data::PIXELS;

/// One hidden layer, wide enough to learn the training digits by heart.
#[derive(Module, Debug)]
pub struct Network {
    hidden: Linear,
    output: Linear,
}

/// The seed belongs to the device, and so to all threads.
static SEED: Mutex<()> = Mutex::new(());

impl Network {
    /// Random weights: drawn when they are first used, which is here.
    pub fn from_seed(seed: u64, device: &Device) -> Self {
        let _alone = SEED.lock();
        device.seed(seed);
        let network = Self {
            hidden: LinearConfig::new(PIXELS, 256).init(device),
            output: LinearConfig::new(256, 10).init(device),
        };
        network.forward(Tensor::zeros([1, PIXELS], device));
        network
    }

    /// Images `[n, PIXELS]` to logits `[n, 10]`.
    pub fn forward(&self, images: Tensor<2>) -> Tensor<2> {
        self.output.forward(relu(self.hidden.forward(images)))
    }
}
