//! The image classifiers of the calibration literature, for images of 3 × 32 × 32 as in CIFAR-10 and
//! CIFAR-100, in [Burn](https://burn.dev): LeNet-5, residual networks with and without stochastic
//! depth, wide residual networks and densely connected networks.
//!
//! They map images to logits and know nothing of calibration.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration_models::{Architecture, LeNet5Config};
//!
//! let device = Device::flex();
//! let images = Tensor::<4>::zeros([1, 3, 32, 32], &device);
//!
//! // a network by its configuration
//! let network = LeNet5Config::new().with_classes(100).init(&device);
//! assert_eq!(network.forward(images.clone()).dims(), [1, 100]);
//!
//! // a published one by its name
//! let network = "lenet5".parse::<Architecture>()?.init(10, &device);
//! assert_eq!(network.forward(images).dims(), [1, 10]);
//! # Ok::<(), burn_calibration_models::UnknownArchitecture>(())
//! ```
//!
//! # Map
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`lenet`] | LeNet-5 |
//! | [`resnet`] | ResNet of 20, 32, 44, 56, 110 layers |
//! | [`stochastic_depth`] | blocks of a ResNet dropped at random |
//! | [`wide_resnet`] | WRN-16-8, WRN-28-10, WRN-34-10 |
//! | [`densenet`] | DenseNet and DenseNet-BC |
//! | [`architecture`] | the published networks by name |
//! | `store` | weights from PyTorch and safetensors (feature `store`, on by default) |
//!
//! Weights in front of a ReLU are normal with variance `2 / fan_in` (He et al. 2015), those of the
//! classifier uniform on `± 1/√fan_in`, all biases 0. A network trains (statistics of the batch,
//! dropout, stochastic depth) where its images are on a device with gradients,
//! `device.autodiff()`, and it is not frozen. Random numbers of weights and dropout are those of the
//! device (`device.seed`; weights are drawn at their first use), those of stochastic depth have a
//! seed of their own.

#![warn(missing_docs)]

pub mod architecture;
pub mod densenet;
mod layers;
pub mod lenet;
mod parameters;
pub mod resnet;
pub mod stochastic_depth;
#[cfg(feature = "store")]
pub mod store;
pub mod wide_resnet;

pub use architecture::{Architecture, Network, UnknownArchitecture};
pub use densenet::{DenseNet, DenseNetConfig};
pub use lenet::{LeNet5, LeNet5Config};
pub use parameters::parameter_count;
pub use resnet::{ResNet, ResNetConfig, Shortcut};
pub use wide_resnet::{WideResNet, WideResNetConfig};
