//! What the networks share: convolutions, normalisation, pooling and classifiers, with the
//! initialisation of He et al. 2015.

use burn::{
    nn::{
        BatchNorm, BatchNormConfig, Initializer, Linear, LinearConfig, PaddingConfig2d,
        conv::{Conv2d, Conv2dConfig},
    },
    tensor::{Device, Tensor, activation::relu},
};

/// Normal with variance `2 / fan_in`: activations behind a ReLU keep their size through the layers.
///
/// K. He, X. Zhang, S. Ren, J. Sun, *Delving deep into rectifiers*, ICCV 2015, equation 10.
pub(crate) fn he_normal() -> Initializer {
    Initializer::KaimingNormal {
        gain: 2f64.sqrt(),
        fan_out_only: false,
    }
}

/// `size × size` convolution from `channels[0]` to `channels[1]` without bias, for odd sizes:
/// `[n, channels[0], h, w]` to `[n, channels[1], h / stride, w / stride]`.
pub(crate) fn convolution(
    channels: [usize; 2],
    size: usize,
    stride: usize,
    device: &Device,
) -> Conv2d {
    let pad = size / 2;
    Conv2dConfig::new(channels, [size, size])
        .with_stride([stride, stride])
        .with_padding(PaddingConfig2d::Explicit(pad, pad, pad, pad))
        .with_bias(false)
        .with_initializer(he_normal())
        .init(device)
}

/// Batch normalisation, ε = 1e-5 and momentum 0.1.
pub(crate) fn normalisation(channels: usize, device: &Device) -> BatchNorm {
    BatchNormConfig::new(channels).init(device)
}

/// Normalisation and ReLU.
pub(crate) fn activated(normalisation: &BatchNorm, x: Tensor<4>) -> Tensor<4> {
    relu(normalisation.forward(x))
}

/// The last layer: weights uniform on `± 1/√features`, bias 0.
pub(crate) fn classifier(features: usize, classes: usize, device: &Device) -> Linear {
    assert!(classes >= 2, "{classes} classes, expected at least 2");
    with_zero_bias(LinearConfig::new(features, classes), device)
}

/// A layer in front of a ReLU: weights by He et al., bias 0.
pub(crate) fn hidden(features: [usize; 2], device: &Device) -> Linear {
    let config = LinearConfig::new(features[0], features[1]).with_initializer(he_normal());
    with_zero_bias(config, device)
}

fn with_zero_bias(config: LinearConfig, device: &Device) -> Linear {
    Linear {
        bias: Some(Initializer::Zeros.init([config.d_output], device)),
        ..config.init(device)
    }
}

/// Mean over the positions: `[n, channels, h, w]` to `[n, channels]`.
pub(crate) fn global_average(x: Tensor<4>) -> Tensor<2> {
    let [n, channels, height, width] = x.dims();
    x.reshape([n, channels, height * width]) // [n, channels, h·w]
        .mean_dim(2) // [n, channels, 1]
        .reshape([n, channels])
}
