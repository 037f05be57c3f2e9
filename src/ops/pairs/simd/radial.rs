//! Kernels as functions of the separation that the tiles compute.

use pulp::Scalar;

use super::{PairKernel, lanes::Lanes};
use crate::radial::{
    Distance, Profile,
    curve::{Numbers, Value},
};

/// A kernel at a bandwidth.
#[derive(Clone, Copy)]
pub(super) struct Radial {
    pub profile: Profile,
    /// The distance in bandwidths, over the separation or its root.
    pub rate: f64,
    pub separation: Separation,
}

/// What a kernel is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separation {
    /// `Σ|Δ|`
    Magnitudes,
    /// `ΣΔ²`
    Squares,
    /// `x·y − ½|x|² − ½|y|² = −½ ΣΔ²`: half of the work of the squares, but digits cancel where points are
    /// longer than they are apart.
    Exponents,
}

/// A kernel at a separation.
pub(super) struct At<N> {
    /// The distance, or its square: `−ν ∂κ/∂ν` is its product with the slope.
    pub separation: N,
    pub value: Value<N>,
}

impl Radial {
    /// Takes sums over coordinates.
    pub fn new(kernel: PairKernel, bandwidth: f64) -> Self {
        Self {
            profile: kernel.profile(),
            rate: kernel.distance().scale() / bandwidth,
            separation: match kernel.distance() {
                Distance::TotalVariation | Distance::L1 => Separation::Magnitudes,
                Distance::Euclidean => Separation::Squares,
            },
        }
    }

    #[inline(always)]
    pub fn of<N: Numbers>(self, n: N, separation: N::Number) -> At<N::Number> {
        let square = match self.separation {
            Separation::Magnitudes => {
                let value = self.profile.of_distance(n, separation.clone(), self.rate);
                return At { separation, value };
            }
            Separation::Squares => separation,
            Separation::Exponents => n.not_negative(n.scaled(separation, -2.0)),
        };
        At {
            separation: square.clone(),
            value: self.profile.of_square(n, square, self.rate),
        }
    }

    /// The kernel of one pair.
    pub fn of_pair(self, separation: f64) -> At<f64> {
        let At { separation, value } = self.of(Lanes::<_, f64, 1>::new(Scalar), [separation]);
        At {
            separation: separation[0],
            value: Value {
                kernel: value.kernel[0],
                slope: value.slope[0],
            },
        }
    }
}
