//! Densely connected networks for images of 32 × 32 pixels.
//!
//! G. Huang, Z. Liu, L. van der Maaten, K. Weinberger, *Densely connected convolutional networks*,
//! CVPR 2017.
//!
//! ```
//! use burn::tensor::Device;
//! use burn_calibration_models::{DenseNetConfig, parameter_count};
//!
//! let network = DenseNetConfig::new(40, 12).init(&Device::flex());
//! assert_eq!(parameter_count(&network), 1_019_722);
//!
//! let network = DenseNetConfig::bc(100, 12).init(&Device::flex());
//! assert_eq!(parameter_count(&network), 769_162);
//! ```
//!
//! Depth `3 n + 4` and growth `k`: one convolution, three dense blocks of `n` layers, two
//! transitions, a classifier. Every layer sees the channels of all layers before it in its block and
//! adds `k`.
//!
//! | layer | output of DenseNet-40 (`k` = 12) | of DenseNet-BC-100 (`k` = 12) |
//! | --- | --- | --- |
//! | image | `3 × 32 × 32` | `3 × 32 × 32` |
//! | `conv1`: 3 × 3 | `16 × 32 × 32` | `24 × 32 × 32` |
//! | `block1` | `160 × 32 × 32` | `216 × 32 × 32` |
//! | `trans1`: normalisation, ReLU, 1 × 1, means of 2 × 2 | `160 × 16 × 16` | `108 × 16 × 16` |
//! | `block2` | `304 × 16 × 16` | `300 × 16 × 16` |
//! | `trans2` | `304 × 8 × 8` | `150 × 8 × 8` |
//! | `block3` | `448 × 8 × 8` | `342 × 8 × 8` |
//! | normalisation, ReLU, mean over the positions | 448 | 342 |
//! | `fc` | classes | classes |
//!
//! A layer is normalisation, ReLU and a 3 × 3 convolution to `k` channels. With bottlenecks (the B
//! of BC) a normalisation, ReLU and 1 × 1 convolution to `4 k` channels come before it, and `n`
//! halves; with compression `θ` (the C) a transition keeps `⌊θ c⌋` of `c` channels. The first
//! convolution has 16 channels, `2 k` with bottlenecks. Dropout, none by default, follows every
//! convolution but the first.
//!
//! | network | parameters, 10 classes | 100 classes | multiply-adds an image |
//! | --- | ---: | ---: | ---: |
//! | DenseNet-40, `k` = 12 | 1,019,722 | 1,060,132 | 265 M |
//! | DenseNet-BC-100, `k` = 12 | 769,162 | 800,032 | 288 M |
//!
//! Memory for the backward pass grows with the square of `n`: every layer keeps its concatenated
//! input.

use burn::{
    config::Config,
    module::Module,
    nn::{BatchNorm, Dropout, DropoutConfig, Linear, conv::Conv2d, pool::AvgPool2dConfig},
    tensor::{Device, Tensor},
};

use crate::layers::{activated, classifier, convolution, global_average, normalisation};

/// Configuration of [`DenseNet`].
#[derive(Config, Debug)]
pub struct DenseNetConfig {
    /// Number of layers with weights: `3 n + 4`, `6 n + 4` with bottlenecks.
    pub depth: usize,
    /// Channels that every layer adds.
    pub growth: usize,
    /// Number of classes. Default: 10.
    #[config(default = 10)]
    pub classes: usize,
    /// Whether a 1 × 1 convolution precedes every 3 × 3 one. Default: no.
    #[config(default = false)]
    pub bottleneck: bool,
    /// The share of channels that a transition keeps. Default: 1; published with 0.5 where there
    /// are bottlenecks.
    #[config(default = 1.0)]
    pub compression: f64,
    /// Channels of the first convolution. Default: 16, or twice the growth with bottlenecks.
    #[config(default = "None")]
    pub stem: Option<usize>,
    /// Probability of dropout after every convolution but the first. Default: 0; published with 0.2
    /// where images are not augmented.
    #[config(default = 0.0)]
    pub dropout: f64,
}

impl DenseNetConfig {
    /// DenseNet-BC: bottlenecks and compression 0.5.
    pub fn bc(depth: usize, growth: usize) -> Self {
        Self::new(depth, growth)
            .with_bottleneck(true)
            .with_compression(0.5)
    }

    /// A network with random weights.
    ///
    /// # Panics
    ///
    /// If the depth is not `3 n + 4` (`6 n + 4` with bottlenecks) with `n ≥ 1`, growth or channels
    /// of the first convolution are 0, the compression is not in (0, 1] or leaves no channel, there
    /// are fewer than two classes, or the probability of dropout is not in [0, 1).
    pub fn init(&self, device: &Device) -> DenseNet {
        let (depth, k) = (self.depth, self.growth);
        let convolutions = if self.bottleneck { 6 } else { 3 };
        assert!(
            depth >= 4 + convolutions && (depth - 4).is_multiple_of(convolutions),
            "a DenseNet of depth {depth}, expected {convolutions} n + 4 with n ≥ 1"
        );
        let theta = self.compression;
        assert!(
            theta > 0.0 && theta <= 1.0,
            "compression {theta}, expected one in (0, 1]"
        );
        let stem = self
            .stem
            .unwrap_or(if self.bottleneck { 2 * k } else { 16 });
        assert!(
            k > 0 && stem > 0,
            "growth {k} from {stem} channels, expected at least 1"
        );

        let n = (depth - 4) / convolutions;
        let mut channels = stem;
        let block = |channels: &mut usize| DenseBlock {
            layer: (0..n)
                .map(|_| {
                    *channels += k;
                    Layer::new(*channels - k, self, device)
                })
                .collect(),
        };
        let transition = |channels: &mut usize| {
            let from = *channels;
            *channels = (theta * from as f64) as usize;
            assert!(
                *channels > 0,
                "compression {theta} leaves none of {from} channels"
            );
            Transition::new([from, *channels], self.dropout, device)
        };
        DenseNet {
            conv1: convolution([3, stem], 3, 1, device),
            block1: block(&mut channels),
            trans1: transition(&mut channels),
            block2: block(&mut channels),
            trans2: transition(&mut channels),
            block3: block(&mut channels),
            bn1: normalisation(channels, device),
            fc: classifier(channels, self.classes, device),
        }
    }
}

/// A densely connected network for CIFAR: see the [module](self). Create it with
/// [`DenseNetConfig`].
#[derive(Module, Debug)]
pub struct DenseNet {
    conv1: Conv2d,
    block1: DenseBlock,
    trans1: Transition,
    block2: DenseBlock,
    trans2: Transition,
    block3: DenseBlock,
    bn1: BatchNorm,
    fc: Linear,
}

impl DenseNet {
    /// Logits of images.
    ///
    /// # Shapes
    ///
    /// - images: `[n, 3, 32, 32]`; other multiples of 4 work too
    /// - output: `[n, classes]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let x = self.conv1.forward(images); // [n, c, 32, 32]
        let x = self.trans1.forward(self.block1.forward(x)); // [n, c', 16, 16]
        let x = self.trans2.forward(self.block2.forward(x)); // [n, c'', 8, 8]
        let x = self.block3.forward(x); // [n, c''', 8, 8]
        self.fc.forward(global_average(activated(&self.bn1, x)))
    }
}

/// Layers of one resolution.
#[derive(Module, Debug)]
struct DenseBlock {
    layer: Vec<Layer>,
}

impl DenseBlock {
    /// `[n, c, h, w]` to `[n, c + k · layers, h, w]`.
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        self.layer.iter().fold(x, |x, layer| {
            let new = layer.forward(x.clone()); // [n, k, h, w]
            Tensor::cat(vec![x, new], 1)
        })
    }
}

/// What adds `k` channels: one convolution, or two with a bottleneck between.
#[derive(Module, Debug)]
struct Layer {
    bn1: BatchNorm,
    conv1: Conv2d,
    bn2: Option<BatchNorm>,
    conv2: Option<Conv2d>,
    dropout: Dropout,
}

impl Layer {
    fn new(channels: usize, config: &DenseNetConfig, device: &Device) -> Self {
        let (k, inner) = (config.growth, 4 * config.growth);
        let bn1 = normalisation(channels, device);
        let dropout = DropoutConfig::new(config.dropout).init();
        if config.bottleneck {
            Self {
                bn1,
                conv1: convolution([channels, inner], 1, 1, device),
                bn2: Some(normalisation(inner, device)),
                conv2: Some(convolution([inner, k], 3, 1, device)),
                dropout,
            }
        } else {
            Self {
                bn1,
                conv1: convolution([channels, k], 3, 1, device),
                bn2: None,
                conv2: None,
                dropout,
            }
        }
    }

    /// The new channels alone: `[n, c, h, w]` to `[n, k, h, w]`.
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let x = self.conv1.forward(activated(&self.bn1, x));
        let x = self.dropout.forward(x);
        match (&self.bn2, &self.conv2) {
            (Some(normalisation), Some(convolution)) => {
                let x = convolution.forward(activated(normalisation, x));
                self.dropout.forward(x)
            }
            _ => x,
        }
    }
}

/// To fewer channels and a quarter of the positions.
#[derive(Module, Debug)]
struct Transition {
    bn1: BatchNorm,
    conv1: Conv2d,
    dropout: Dropout,
}

impl Transition {
    fn new(channels: [usize; 2], dropout: f64, device: &Device) -> Self {
        Self {
            bn1: normalisation(channels[0], device),
            conv1: convolution(channels, 1, 1, device),
            dropout: DropoutConfig::new(dropout).init(),
        }
    }

    /// `[n, c, h, w]` to `[n, c', h / 2, w / 2]`.
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let x = self.conv1.forward(activated(&self.bn1, x));
        let x = self.dropout.forward(x);
        AvgPool2dConfig::new([2, 2]).init().forward(x)
    }
}
