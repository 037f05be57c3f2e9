use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The radial profile `κ` of a kernel, with `κ(0) = 1` and values in `(0, 1]`.
///
/// Which profiles are positive definite depends on the distance and on the kind of predictions, see
/// [`Kernel::is_positive_definite_on`](super::Kernel::is_positive_definite_on).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Profile {
    /// `κ(r) = exp(−r)`: the exponential or Laplacian kernel.
    Exponential,
    /// `κ(r) = exp(−r²/2)`: the Gaussian or squared exponential kernel.
    Gaussian,
    /// `κ(r) = exp(−r^a)`, between the two. Subgradient 0 at `r = 0`, where it has a cusp for
    /// `a < 1`.
    GeneralisedExponential {
        /// The exponent `a`, `0 < a ≤ 2`.
        exponent: f64,
    },
    /// `κ(r) = (1 + √3 r) exp(−√3 r)`: the Matérn kernel of smoothness 3/2.
    Matern32,
    /// `κ(r) = (1 + √5 r + 5r²/3) exp(−√5 r)`: the Matérn kernel of smoothness 5/2.
    Matern52,
    /// `κ(r) = (1 + r²/(2α))^{−α}`: a mixture of Gaussian kernels of all bandwidths, the Gaussian
    /// one for `α → ∞`.
    RationalQuadratic {
        /// The shape `α > 0`.
        alpha: f64,
    },
}

impl Profile {
    /// `κ(r)`, elementwise for `r ≥ 0`, with a finite gradient everywhere.
    pub fn of<const D: usize>(self, r: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Exponential => r.neg().exp(),
            Self::Gaussian | Self::RationalQuadratic { .. } => self.of_squared(r.square()),
            Self::GeneralisedExponential { exponent } => power(r, exponent).neg().exp(),
            Self::Matern32 => {
                let r = r * 3f64.sqrt();
                (r.clone() + 1.0) * r.neg().exp()
            }
            Self::Matern52 => {
                let r = r * 5f64.sqrt();
                (r.clone().square() * 3f64.recip() + r.clone() + 1.0) * r.neg().exp()
            }
        }
    }

    /// `κ(√s)`, elementwise; smooth at 0 for the Gaussian and the rational quadratic.
    pub fn of_squared<const D: usize>(self, s: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Gaussian => (s * -0.5).exp(),
            Self::RationalQuadratic { alpha } => {
                ((s * (2.0 * alpha).recip()).log1p() * -alpha).exp()
            }
            _ => self.of(s.sqrt()),
        }
    }

    /// Whether `κ` is a smooth function of `r²`.
    pub(super) fn is_smooth(self) -> bool {
        matches!(self, Self::Gaussian | Self::RationalQuadratic { .. })
    }

    /// Whether the parameters are valid.
    ///
    /// # Errors
    ///
    /// An exponent outside `(0, 2]`, or a shape that is not a positive finite number.
    pub fn validate(self) -> Result<()> {
        match self {
            Self::GeneralisedExponential { exponent: value } if !(value > 0.0 && value <= 2.0) => {
                Err(Error::Parameter {
                    name: "the exponent of the generalised exponential kernel",
                    value,
                    expected: "a number in (0, 2]",
                })
            }
            Self::RationalQuadratic { alpha: value } if !(value.is_finite() && value > 0.0) => {
                Err(Error::Parameter {
                    name: "the shape of the rational quadratic kernel",
                    value,
                    expected: "a positive finite number",
                })
            }
            _ => Ok(()),
        }
    }
}

/// `r^a` for `a > 0`, with gradient 0 where `r = 0` (or subnormal, where `1/r` may overflow).
fn power<const D: usize>(r: Tensor<D>, a: f64) -> Tensor<D> {
    let least = r.dtype().finfo().expect("a float tensor").min_positive;
    let zero = r.clone().lower_scalar(least);
    let positive = r.mask_fill(zero.clone(), 1.0);
    // in Burn 0.22.1 the logarithm and a product keep f64 in the backward pass
    (positive.log() * a).exp().mask_fill(zero, 0.0)
}
