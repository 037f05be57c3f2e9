//! ResNet-20 for 32 × 32 images (He et al. 2016, section 4.2), with projections as shortcuts.

use burn::{
    module::Module,
    nn::{
        BatchNorm, BatchNormConfig, Linear, LinearConfig, PaddingConfig2d,
        conv::{Conv2d, Conv2dConfig},
    },
    tensor::{Device, Tensor, activation::relu},
};

/// Convolution and normalisation.
#[derive(Module, Debug)]
struct Convolution {
    convolution: Conv2d,
    normalisation: BatchNorm,
}

impl Convolution {
    fn new(channels: [usize; 2], size: usize, stride: usize, device: &Device) -> Self {
        let pad = size / 2;
        Self {
            convolution: Conv2dConfig::new(channels, [size, size])
                .with_stride([stride, stride])
                .with_padding(PaddingConfig2d::Explicit(pad, pad, pad, pad))
                .with_bias(false)
                .init(device),
            normalisation: BatchNormConfig::new(channels[1]).init(device),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        self.normalisation.forward(self.convolution.forward(x))
    }
}

#[derive(Module, Debug)]
struct Block {
    first: Convolution,
    second: Convolution,
    shortcut: Option<Convolution>,
}

impl Block {
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let y = self.second.forward(relu(self.first.forward(x.clone())));
        let shortcut = match &self.shortcut {
            Some(projection) => projection.forward(x),
            None => x,
        };
        relu(y + shortcut)
    }
}

/// Three stages of three blocks of two convolutions.
#[derive(Module, Debug)]
pub struct ResNet20 {
    stem: Convolution,
    blocks: Vec<Block>,
    head: Linear,
}

impl ResNet20 {
    /// With random weights.
    pub fn new(device: &Device) -> Self {
        let mut channels = 16;
        let mut blocks = Vec::new();
        for k in 0..9 {
            let (from, stride) = match k {
                3 | 6 => (channels, 2),
                _ => (channels, 1),
            };
            channels = from * stride;
            let new = |channels, size, stride| Convolution::new(channels, size, stride, device);
            blocks.push(Block {
                first: new([from, channels], 3, stride),
                second: new([channels, channels], 3, 1),
                shortcut: (stride > 1).then(|| new([from, channels], 1, stride)),
            });
        }
        Self {
            stem: Convolution::new([3, 16], 3, 1, device),
            blocks,
            head: LinearConfig::new(64, 10).init(device),
        }
    }

    /// Logits `[n, 10]` of images `[n, 3, 32, 32]`.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let mut x = relu(self.stem.forward(images));
        for block in &self.blocks {
            x = block.forward(x);
        }
        let [n, channels, height, width] = x.dims();
        let pooled = x.reshape([n, channels, height * width]).mean_dim(2);
        self.head.forward(pooled.reshape([n, channels]))
    }
}
