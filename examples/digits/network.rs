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

impl Network {
    pub fn new(device: &Device) -> Self {
        Self {
            hidden: LinearConfig::new(PIXELS, 256).init(device),
            output: LinearConfig::new(256, 10).init(device),
        }
    }

    /// Images `[n, PIXELS]` to logits `[n, 10]`.
    pub fn forward(&self, images: Tensor<2>) -> Tensor<2> {
        self.output.forward(relu(self.hidden.forward(images)))
    }
}
