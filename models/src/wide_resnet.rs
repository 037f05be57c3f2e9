//! Wide residual networks for images of 32 × 32 pixels.
//!
//! S. Zagoruyko, N. Komodakis, *Wide residual networks*, BMVC 2016.
//!
//! ```
//! use burn::tensor::Device;
//! use burn_calibration_models::{WideResNetConfig, parameter_count};
//!
//! let network = WideResNetConfig::new(28, 10).init(&Device::flex());
//! assert_eq!(parameter_count(&network), 36_479_194);
//! ```
//!
//! Depth `6 n + 4` and widening factor `k`: one convolution, three stages of `n` blocks of two
//! convolutions, three 1 × 1 convolutions as shortcuts (these are counted in the depth, the
//! classifier is not).
//!
//! | layer | output |
//! | --- | --- |
//! | image | `3 × 32 × 32` |
//! | `conv1`: 3 × 3 | `16 × 32 × 32` |
//! | `block1`: `n` blocks | `16 k × 32 × 32` |
//! | `block2`: `n` blocks, the first with stride 2 | `32 k × 16 × 16` |
//! | `block3`: `n` blocks, the first with stride 2 | `64 k × 8 × 8` |
//! | normalisation, ReLU, mean over the positions | `64 k` |
//! | `fc` | classes |
//!
//! A block activates before it convolves: normalisation, ReLU, 3 × 3 convolution, normalisation,
//! ReLU, dropout (none by default), 3 × 3 convolution. Where the shape changes, the shortcut is a
//! 1 × 1 convolution of the activated input.
//!
//! | network | parameters, 10 classes | 100 classes | multiply-adds an image |
//! | --- | ---: | ---: | ---: |
//! | WRN-16-8 | 10,961,370 | 11,007,540 | 1.55 G |
//! | WRN-28-10 | 36,479,194 | 36,536,884 | 5.24 G |
//! | WRN-34-10 | 46,160,474 | 46,218,164 | 6.66 G |
//!
//! The "Wide ResNet 32" of Guo et al. (2017, *On calibration of modern neural networks*), who do not
//! give its width, and the 32-10 of Kull et al. (2019, *Beyond temperature scaling*; its logits are
//! those of Widmann et al. 2019) count layers as He et al. do: without the three shortcuts and with
//! the classifier, `6 n + 2`. In the count of this paper that is depth 34; the code of Kull et al.
//! says so too.

use burn::{
    config::Config,
    module::Module,
    nn::{BatchNorm, Dropout, DropoutConfig, Linear, conv::Conv2d},
    tensor::{Device, Tensor},
};

use crate::layers::{activated, classifier, convolution, global_average, normalisation};

/// Configuration of [`WideResNet`].
#[derive(Config, Debug)]
pub struct WideResNetConfig {
    /// Number of convolutions: `6 n + 4`.
    pub depth: usize,
    /// How many times as wide as a [`ResNet`](crate::ResNet).
    pub widening: usize,
    /// Number of classes. Default: 10.
    #[config(default = 10)]
    pub classes: usize,
    /// Probability of dropout between the convolutions of a block. Default: 0; published with 0.3
    /// on CIFAR.
    #[config(default = 0.0)]
    pub dropout: f64,
}

impl WideResNetConfig {
    /// A network with random weights.
    ///
    /// # Panics
    ///
    /// If the depth is not `6 n + 4` with `n ≥ 1`, the widening factor is 0, there are fewer than
    /// two classes, or the probability of dropout is not in [0, 1).
    pub fn init(&self, device: &Device) -> WideResNet {
        let depth = self.depth;
        assert!(
            depth >= 10 && (depth - 4).is_multiple_of(6),
            "a Wide ResNet of depth {depth}, expected 6 n + 4 with n ≥ 1"
        );
        assert!(self.widening > 0, "a Wide ResNet of width 0");
        let (n, c) = ((depth - 4) / 6, 16 * self.widening);
        let stage = |channels: [usize; 2], stride| Stage {
            layer: (0..n)
                .map(|k| match k {
                    0 => Block::new(channels, stride, self.dropout, device),
                    _ => Block::new([channels[1]; 2], 1, self.dropout, device),
                })
                .collect(),
        };
        WideResNet {
            conv1: convolution([3, 16], 3, 1, device),
            block1: stage([16, c], 1),
            block2: stage([c, 2 * c], 2),
            block3: stage([2 * c, 4 * c], 2),
            bn1: normalisation(4 * c, device),
            fc: classifier(4 * c, self.classes, device),
        }
    }
}

/// A wide residual network for CIFAR: see the [module](self). Create it with [`WideResNetConfig`].
#[derive(Module, Debug)]
pub struct WideResNet {
    conv1: Conv2d,
    block1: Stage,
    block2: Stage,
    block3: Stage,
    bn1: BatchNorm,
    fc: Linear,
}

impl WideResNet {
    /// Logits of images.
    ///
    /// # Shapes
    ///
    /// - images: `[n, 3, 32, 32]`; other sizes work too
    /// - output: `[n, classes]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let x = self.conv1.forward(images); // [n, 16, 32, 32]
        let x = self.block1.forward(x); // [n, 16 k, 32, 32]
        let x = self.block2.forward(x); // [n, 32 k, 16, 16]
        let x = self.block3.forward(x); // [n, 64 k, 8, 8]
        self.fc.forward(global_average(activated(&self.bn1, x)))
    }
}

/// Blocks of one resolution.
#[derive(Module, Debug)]
struct Stage {
    layer: Vec<Block>,
}

impl Stage {
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        self.layer.iter().fold(x, |x, block| block.forward(x))
    }
}

/// Two convolutions, activated before, and a shortcut.
#[derive(Module, Debug)]
struct Block {
    bn1: BatchNorm,
    conv1: Conv2d,
    bn2: BatchNorm,
    dropout: Dropout,
    conv2: Conv2d,
    shortcut: Option<Conv2d>,
}

impl Block {
    fn new(channels: [usize; 2], stride: usize, dropout: f64, device: &Device) -> Self {
        let [from, to] = channels;
        Self {
            bn1: normalisation(from, device),
            conv1: convolution(channels, 3, stride, device),
            bn2: normalisation(to, device),
            dropout: DropoutConfig::new(dropout).init(),
            conv2: convolution([to, to], 3, 1, device),
            shortcut: (from != to).then(|| convolution(channels, 1, stride, device)),
        }
    }

    /// `[n, c, h, w]` to `[n, c', h / stride, w / stride]`.
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let active = activated(&self.bn1, x.clone());
        let shortcut = match &self.shortcut {
            Some(projection) => projection.forward(active.clone()),
            None => x,
        };
        let inner = activated(&self.bn2, self.conv1.forward(active));
        self.conv2.forward(self.dropout.forward(inner)) + shortcut
    }
}
