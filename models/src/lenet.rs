//! LeNet-5 for colour images of 32 × 32 pixels.
//!
//! Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, *Gradient-based learning applied to document
//! recognition*, Proceedings of the IEEE 86(11), 1998.
//!
//! This is the modern variant that calibration papers mean by "LeNet-5" (and the tutorial of PyTorch
//! trains on CIFAR-10): ReLU instead of scaled tanh, maximum pooling instead of trained subsampling,
//! every map of the second convolution connected to every one of the first, and a linear classifier
//! instead of Gaussian connections.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration_models::{LeNet5Config, parameter_count};
//!
//! let device = Device::flex();
//! let network = LeNet5Config::new().init(&device);
//! assert_eq!(parameter_count(&network), 62_006);
//!
//! let images = Tensor::<4>::zeros([2, 3, 32, 32], &device);
//! assert_eq!(network.forward(images).dims(), [2, 10]);
//! ```
//!
//! | layer | output | parameters |
//! | --- | --- | ---: |
//! | image | `3 × 32 × 32` | |
//! | `conv1`: 5 × 5, ReLU | `6 × 28 × 28` | 456 |
//! | maximum pooling 2 × 2 | `6 × 14 × 14` | |
//! | `conv2`: 5 × 5, ReLU | `16 × 10 × 10` | 2,416 |
//! | maximum pooling 2 × 2 | `16 × 5 × 5` | |
//! | `fc1`, ReLU | 120 | 48,120 |
//! | `fc2`, ReLU | 84 | 10,164 |
//! | `fc3` | classes | 85 · classes |
//!
//! 62,006 parameters for 10 classes, 69,656 for 100; 0.65 million multiply-adds an image.

use burn::{
    config::Config,
    module::Module,
    nn::{
        Initializer, Linear,
        conv::{Conv2d, Conv2dConfig},
        pool::MaxPool2dConfig,
    },
    tensor::{Device, Tensor, activation::relu},
};

use crate::layers::{classifier, he_normal, hidden};

/// Configuration of [`LeNet5`].
#[derive(Config, Debug)]
pub struct LeNet5Config {
    /// Number of classes. Default: 10.
    #[config(default = 10)]
    pub classes: usize,
}

impl LeNet5Config {
    /// A network with random weights.
    ///
    /// # Panics
    ///
    /// If there are fewer than two classes.
    pub fn init(&self, device: &Device) -> LeNet5 {
        LeNet5 {
            conv1: convolution([3, 6], device),
            conv2: convolution([6, 16], device),
            fc1: hidden([16 * 5 * 5, 120], device),
            fc2: hidden([120, 84], device),
            fc3: classifier(84, self.classes, device),
        }
    }
}

/// 5 × 5 without padding, with bias.
fn convolution(channels: [usize; 2], device: &Device) -> Conv2d {
    Conv2d {
        bias: Some(Initializer::Zeros.init([channels[1]], device)),
        ..Conv2dConfig::new(channels, [5, 5])
            .with_initializer(he_normal())
            .init(device)
    }
}

/// LeNet-5 with ReLU and maximum pooling: see the [module](self). Create it with [`LeNet5Config`].
#[derive(Module, Debug)]
pub struct LeNet5 {
    conv1: Conv2d,
    conv2: Conv2d,
    fc1: Linear,
    fc2: Linear,
    fc3: Linear,
}

impl LeNet5 {
    /// Logits of images.
    ///
    /// # Shapes
    ///
    /// - images: `[n, 3, 32, 32]`
    /// - output: `[n, classes]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let x = halved(relu(self.conv1.forward(images))); // [n, 6, 14, 14]
        let x = halved(relu(self.conv2.forward(x))); // [n, 16, 5, 5]
        let x = x.flatten::<2>(1, 3); // [n, 400]
        let x = relu(self.fc1.forward(x)); // [n, 120]
        let x = relu(self.fc2.forward(x)); // [n, 84]
        self.fc3.forward(x)
    }
}

/// Maxima of squares of 2 × 2.
fn halved(x: Tensor<4>) -> Tensor<4> {
    MaxPool2dConfig::new([2, 2]).init().forward(x)
}
