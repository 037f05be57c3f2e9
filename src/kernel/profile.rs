use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The radial profile `κ` of a kernel, with `κ(0) = 1` and values in `(0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Profile {
    /// `κ(r) = exp(−r)`: the exponential or Laplacian kernel.
    Exponential,
    /// `κ(r) = exp(−r²/2)`: the Gaussian or squared exponential kernel.
    Gaussian,
}

impl Profile {
    /// `κ(r)`, elementwise.
    pub fn of<const D: usize>(self, r: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Exponential => r.neg().exp(),
            Self::Gaussian => self.of_squared(r.square()),
        }
    }

    /// `κ(√s)`, elementwise; smooth at 0 for the Gaussian.
    pub fn of_squared<const D: usize>(self, s: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Exponential => s.sqrt().neg().exp(),
            Self::Gaussian => (s * -0.5).exp(),
        }
    }
}
