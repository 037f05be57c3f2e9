//! Residual networks for images of 32 × 32 pixels.
//!
//! K. He, X. Zhang, S. Ren, J. Sun, *Deep residual learning for image recognition*, CVPR 2016,
//! section 4.2; with the [stochastic depth](crate::stochastic_depth) of Huang et al. 2016.
//!
//! ```
//! use burn::tensor::Device;
//! use burn_calibration_models::{ResNetConfig, parameter_count};
//!
//! let network = ResNetConfig::new(20).init(&Device::flex());
//! assert_eq!(parameter_count(&network), 269_722);
//!
//! // 110 layers, of which every batch of a training sees about three quarters
//! let network = ResNetConfig::new(110).with_survival(0.5).init(&Device::flex());
//! assert_eq!(parameter_count(&network), 1_727_962);
//! ```
//!
//! Depth `6 n + 2`: one convolution, three stages of `n` blocks of two convolutions, a classifier.
//!
//! | layer | output |
//! | --- | --- |
//! | image | `3 × 32 × 32` |
//! | `conv1`: 3 × 3, normalisation, ReLU | `16 × 32 × 32` |
//! | `layer1`: `n` blocks | `16 × 32 × 32` |
//! | `layer2`: `n` blocks, the first with stride 2 | `32 × 16 × 16` |
//! | `layer3`: `n` blocks, the first with stride 2 | `64 × 8 × 8` |
//! | mean over the positions | 64 |
//! | `linear` | classes |
//!
//! A block is `relu(f(x) + shortcut(x))` with `f` a 3 × 3 convolution, normalisation, ReLU, another
//! convolution and normalisation. Where the shape changes, the shortcut of option A takes every
//! second pixel and pads the channels with zeros, half of them in front; it has no parameters and
//! is the published one on CIFAR. Option B is a 1 × 1 convolution with normalisation.
//!
//! | depth | parameters, 10 classes | 100 classes | multiply-adds an image |
//! | ---: | ---: | ---: | ---: |
//! | 20 | 269,722 | 275,572 | 40.6 M |
//! | 32 | 464,154 | 470,004 | 68.9 M |
//! | 44 | 658,586 | 664,436 | 97.2 M |
//! | 56 | 853,018 | 858,868 | 125.5 M |
//! | 110 | 1,727,962 | 1,733,812 | 252.9 M |
//!
//! Option B has 2,752 parameters more. The code of Huang et al. for stochastic depth differs from this
//! in the shortcut, which takes means of 2 × 2 pixels and puts all new channels behind, and has
//! biases in the convolutions.

use burn::{
    config::Config,
    module::Module,
    nn::{BatchNorm, Linear, conv::Conv2d},
    tensor::{Device, Tensor, activation::relu, ops::PadMode, s},
};

use crate::{
    layers::{activated, classifier, convolution, global_average, normalisation},
    stochastic_depth::StochasticDepth,
};

/// What a block adds to its residual branch where the shape changes.
#[derive(Config, Copy, Debug, PartialEq, Eq)]
pub enum Shortcut {
    /// Option A: every second pixel, and channels of zeros. No parameters.
    Padding,
    /// Option B: a 1 × 1 convolution with normalisation.
    Projection,
}

/// Configuration of [`ResNet`].
#[derive(Config, Debug)]
pub struct ResNetConfig {
    /// Number of layers with weights: `6 n + 2`, published with 20, 32, 44, 56 and 110.
    pub depth: usize,
    /// Number of classes. Default: 10.
    #[config(default = 10)]
    pub classes: usize,
    /// Channels of the first stage; the second has twice, the third four times as many. Default: 16.
    #[config(default = 16)]
    pub channels: usize,
    /// The shortcut where the shape changes. Default: option A.
    #[config(default = "Shortcut::Padding")]
    pub shortcut: Shortcut,
    /// Probability that the last block survives in training. Default: 1, no stochastic depth;
    /// published with 0.5.
    #[config(default = 1.0)]
    pub survival: f64,
    /// Seed of the blocks that are dropped. Default: 0.
    #[config(default = 0)]
    pub seed: u64,
}

impl ResNetConfig {
    /// A network with random weights.
    ///
    /// # Panics
    ///
    /// If the depth is not `6 n + 2` with `n ≥ 1`, there are fewer than two classes or no channels,
    /// or the probability of survival is not in (0, 1].
    pub fn init(&self, device: &Device) -> ResNet {
        assert!(
            self.depth >= 8 && (self.depth - 2).is_multiple_of(6),
            "a ResNet of depth {}, expected 6 n + 2 with n ≥ 1",
            self.depth
        );
        assert!(self.channels > 0, "a ResNet without channels");
        let (n, c) = ((self.depth - 2) / 6, self.channels);
        let depth = StochasticDepth::new(3 * n, self.survival, self.seed);
        let stage = |channels, stride| -> Vec<Block> {
            (0..n)
                .map(|k| match k {
                    0 => Block::new(channels, stride, self.shortcut, device),
                    _ => Block::new([channels[1]; 2], 1, self.shortcut, device),
                })
                .collect()
        };
        ResNet {
            conv1: convolution([3, c], 3, 1, device),
            bn1: normalisation(c, device),
            layer1: stage([c, c], 1),
            layer2: stage([c, 2 * c], 2),
            layer3: stage([2 * c, 4 * c], 2),
            linear: classifier(4 * c, self.classes, device),
            depth: (self.survival < 1.0).then_some(depth),
        }
    }
}

/// A residual network for CIFAR: see the [module](self). Create it with [`ResNetConfig`].
#[derive(Module, Debug)]
pub struct ResNet {
    conv1: Conv2d,
    bn1: BatchNorm,
    layer1: Vec<Block>,
    layer2: Vec<Block>,
    layer3: Vec<Block>,
    linear: Linear,
    depth: Option<StochasticDepth>,
}

impl ResNet {
    /// Logits of images.
    ///
    /// With stochastic depth, on a device with gradients, blocks are dropped at random.
    ///
    /// # Shapes
    ///
    /// - images: `[n, 3, 32, 32]`; other sizes work too
    /// - output: `[n, classes]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let weights = self.weights(&images.device());
        let x = activated(&self.bn1, self.conv1.forward(images)); // [n, 16, 32, 32]
        let blocks = [&self.layer1, &self.layer2, &self.layer3];
        let x = blocks
            .into_iter()
            .flatten()
            .zip(weights)
            .fold(x, |x, (block, weight)| block.forward(x, weight)); // [n, 64, 8, 8]
        self.linear.forward(global_average(x))
    }

    /// What the residual branches are multiplied by.
    fn weights(&self, device: &Device) -> Vec<f64> {
        match &self.depth {
            Some(depth) => depth.weights(device.is_autodiff()),
            None => vec![1.0; 3 * self.layer1.len()],
        }
    }
}

/// Two convolutions and a shortcut.
#[derive(Module, Debug)]
struct Block {
    conv1: Conv2d,
    bn1: BatchNorm,
    conv2: Conv2d,
    bn2: BatchNorm,
    shortcut: Option<(Conv2d, BatchNorm)>,
    stride: usize,
}

impl Block {
    fn new(channels: [usize; 2], stride: usize, shortcut: Shortcut, device: &Device) -> Self {
        let [from, to] = channels;
        let projected = from != to && shortcut == Shortcut::Projection;
        Self {
            conv1: convolution(channels, 3, stride, device),
            bn1: normalisation(to, device),
            conv2: convolution([to, to], 3, 1, device),
            bn2: normalisation(to, device),
            shortcut: projected.then(|| {
                let projection = convolution(channels, 1, stride, device);
                (projection, normalisation(to, device))
            }),
            stride,
        }
    }

    /// `relu(weight · f(x) + shortcut(x))`, without computing `f` for weight 0:
    /// `[n, c, h, w]` to `[n, c', h / stride, w / stride]`.
    fn forward(&self, x: Tensor<4>, weight: f64) -> Tensor<4> {
        let shortcut = self.shortcut(x.clone());
        relu(if weight == 0.0 {
            shortcut
        } else if weight == 1.0 {
            self.residual(x) + shortcut
        } else {
            self.residual(x) * weight + shortcut
        })
    }

    fn residual(&self, x: Tensor<4>) -> Tensor<4> {
        let x = activated(&self.bn1, self.conv1.forward(x));
        self.bn2.forward(self.conv2.forward(x))
    }

    fn shortcut(&self, x: Tensor<4>) -> Tensor<4> {
        if let Some((projection, normalisation)) = &self.shortcut {
            return normalisation.forward(projection.forward(x));
        }
        let [from, to] = [x.dims()[1], self.bn2.gamma.dims()[0]];
        if from == to {
            return x;
        }
        let front = (to - from) / 2;
        let stride = self.stride as isize;
        x.slice(s![.., .., ..;stride, ..;stride]).pad(
            [(front, to - from - front), (0, 0), (0, 0)],
            PadMode::Constant(0.0),
        )
    }
}
