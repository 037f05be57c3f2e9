//! The published networks by name, for programs that take one as an argument.
//!
//! ```
//! use burn::tensor::Device;
//! use burn_calibration_models::Architecture;
//!
//! let architecture: Architecture = "resnet20".parse()?;
//! let network = architecture.init(100, &Device::flex());
//! assert_eq!(network.parameter_count(), 275_572);
//!
//! let error = "resnet21".parse::<Architecture>().unwrap_err();
//! assert!(error.to_string().starts_with("no network \"resnet21\", expected one of lenet5, resnet20,"));
//! # Ok::<(), burn_calibration_models::UnknownArchitecture>(())
//! ```

use std::{fmt, str::FromStr};

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use serde::{Deserialize, Serialize};

use crate::{
    DenseNet, DenseNetConfig, LeNet5, LeNet5Config, ResNet, ResNetConfig, WideResNet,
    WideResNetConfig, parameter_count,
};

/// A published network, displayed, parsed and serialised as its [name](Self::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Architecture {
    /// `lenet5`: [`LeNet5`].
    LeNet5,
    /// `resnet20`: [`ResNet`] of 20 layers.
    ResNet20,
    /// `resnet32`: [`ResNet`] of 32 layers.
    ResNet32,
    /// `resnet44`: [`ResNet`] of 44 layers.
    ResNet44,
    /// `resnet56`: [`ResNet`] of 56 layers.
    ResNet56,
    /// `resnet110`: [`ResNet`] of 110 layers.
    ResNet110,
    /// `resnet110-sd`: [`ResNet`] of 110 layers with stochastic depth, the last block surviving
    /// with probability 0.5.
    ResNet110Sd,
    /// `wrn-16-8`: [`WideResNet`] of depth 16, 8 times as wide.
    WideResNet16,
    /// `wrn-28-10`: [`WideResNet`] of depth 28, 10 times as wide.
    WideResNet28,
    /// `wrn-34-10`: [`WideResNet`] of depth 34, 10 times as wide; the "Wide ResNet 32" of
    /// calibration papers, see [`wide_resnet`](crate::wide_resnet).
    WideResNet34,
    /// `densenet40`: [`DenseNet`] of 40 layers and growth 12.
    DenseNet40,
    /// `densenet-bc-100`: [`DenseNet`] of 100 layers and growth 12, with bottlenecks and
    /// compression.
    DenseNetBc100,
}

impl Architecture {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::LeNet5,
        Self::ResNet20,
        Self::ResNet32,
        Self::ResNet44,
        Self::ResNet56,
        Self::ResNet110,
        Self::ResNet110Sd,
        Self::WideResNet16,
        Self::WideResNet28,
        Self::WideResNet34,
        Self::DenseNet40,
        Self::DenseNetBc100,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LeNet5 => "lenet5",
            Self::ResNet20 => "resnet20",
            Self::ResNet32 => "resnet32",
            Self::ResNet44 => "resnet44",
            Self::ResNet56 => "resnet56",
            Self::ResNet110 => "resnet110",
            Self::ResNet110Sd => "resnet110-sd",
            Self::WideResNet16 => "wrn-16-8",
            Self::WideResNet28 => "wrn-28-10",
            Self::WideResNet34 => "wrn-34-10",
            Self::DenseNet40 => "densenet40",
            Self::DenseNetBc100 => "densenet-bc-100",
        }
    }

    /// A network with random weights.
    ///
    /// # Panics
    ///
    /// If there are fewer than two classes.
    pub fn init(self, classes: usize, device: &Device) -> Network {
        let resnet = |depth| ResNetConfig::new(depth).with_classes(classes);
        let wide = |depth, widening| {
            let config = WideResNetConfig::new(depth, widening).with_classes(classes);
            Network::WideResNet(config.init(device))
        };
        let dense =
            |config: DenseNetConfig| Network::DenseNet(config.with_classes(classes).init(device));
        match self {
            Self::LeNet5 => Network::LeNet5(LeNet5Config::new().with_classes(classes).init(device)),
            Self::ResNet20 => Network::ResNet(resnet(20).init(device)),
            Self::ResNet32 => Network::ResNet(resnet(32).init(device)),
            Self::ResNet44 => Network::ResNet(resnet(44).init(device)),
            Self::ResNet56 => Network::ResNet(resnet(56).init(device)),
            Self::ResNet110 => Network::ResNet(resnet(110).init(device)),
            Self::ResNet110Sd => Network::ResNet(resnet(110).with_survival(0.5).init(device)),
            Self::WideResNet16 => wide(16, 8),
            Self::WideResNet28 => wide(28, 10),
            Self::WideResNet34 => wide(34, 10),
            Self::DenseNet40 => dense(DenseNetConfig::new(40, 12)),
            Self::DenseNetBc100 => dense(DenseNetConfig::bc(100, 12)),
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no [`Architecture`] has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no network {name:?}, expected one of {}", Architecture::ALL.map(Architecture::name).join(", "))]
pub struct UnknownArchitecture {
    /// The name.
    pub name: String,
}

impl FromStr for Architecture {
    type Err = UnknownArchitecture;

    fn from_str(name: &str) -> Result<Self, UnknownArchitecture> {
        let named = Self::ALL.into_iter().find(|a| a.name() == name);
        named.ok_or_else(|| UnknownArchitecture {
            name: name.to_string(),
        })
    }
}

impl TryFrom<String> for Architecture {
    type Error = UnknownArchitecture;

    fn try_from(name: String) -> Result<Self, UnknownArchitecture> {
        name.parse()
    }
}

impl From<Architecture> for &'static str {
    fn from(architecture: Architecture) -> Self {
        architecture.name()
    }
}

/// Any of the networks. Create it with [`Architecture::init`], or from a network.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Network {
    /// LeNet-5.
    LeNet5(LeNet5),
    /// A residual network.
    ResNet(ResNet),
    /// A wide residual network.
    WideResNet(WideResNet),
    /// A densely connected network.
    DenseNet(DenseNet),
}

impl Network {
    /// Logits of images.
    ///
    /// # Shapes
    ///
    /// - images: `[n, 3, 32, 32]`
    /// - output: `[n, classes]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        match self {
            Self::LeNet5(network) => network.forward(images),
            Self::ResNet(network) => network.forward(images),
            Self::WideResNet(network) => network.forward(images),
            Self::DenseNet(network) => network.forward(images),
        }
    }

    /// Number of trainable parameters, see [`parameter_count`].
    pub fn parameter_count(&self) -> usize {
        parameter_count(self)
    }
}
