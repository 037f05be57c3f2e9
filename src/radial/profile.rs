use std::{
    fmt::{self, Display, Formatter},
    mem::discriminant,
    str::FromStr,
};

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{CoordinateSum, Distance};
use crate::error::{Error, Result};

/// The radial profile `κ` of a kernel, with `κ(0) = 1` and values in `(0, 1]`.
///
/// Which profiles are positive definite depends on the distance and on the kind of predictions, see
/// [`Kernel::is_positive_definite_on`](crate::kernel::Kernel::is_positive_definite_on).
///
/// The name of a profile is that of [`Display`] and [`FromStr`], with its parameter after a colon:
/// `exponential`, `gaussian`, `generalised-exponential:EXPONENT`, `matern32`, `matern52` or
/// `rational-quadratic:ALPHA`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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

/// A profile from its parameter.
type Make = fn(f64) -> Profile;

/// The name of each profile, and its value with this parameter if it has one: the one list that a new
/// profile must join.
const PROFILES: [(&str, Make); 6] = [
    ("exponential", |_| Profile::Exponential),
    ("gaussian", |_| Profile::Gaussian),
    ("generalised-exponential:EXPONENT", |exponent| {
        Profile::GeneralisedExponential { exponent }
    }),
    ("matern32", |_| Profile::Matern32),
    ("matern52", |_| Profile::Matern52),
    ("rational-quadratic:ALPHA", |alpha| {
        Profile::RationalQuadratic { alpha }
    }),
];

/// Calls a macro with what it is given and the patterns of all profiles: for code that is compiled for each.
macro_rules! for_each_profile {
    ($name:ident!($($given:tt)*)) => {
        $name!($($given)*
            Exponential, Gaussian, GeneralisedExponential { exponent }, Matern32, Matern52,
            RationalQuadratic { alpha }
        )
    };
}
pub(crate) use for_each_profile;

impl Profile {
    /// One profile of each kind, with parameter 1 where it has one.
    pub fn all() -> impl Iterator<Item = Self> {
        PROFILES.into_iter().map(|(_, make)| make(1.0))
    }

    /// The names of all profiles as a user writes them, with the parameter in capitals.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.into_iter().map(|(name, _)| name)
    }

    fn parameter(self) -> Option<f64> {
        match self {
            Self::GeneralisedExponential { exponent } => Some(exponent),
            Self::RationalQuadratic { alpha } => Some(alpha),
            _ => None,
        }
    }

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
    pub(crate) fn is_smooth(self) -> bool {
        matches!(self, Self::Gaussian | Self::RationalQuadratic { .. })
    }

    /// The greatest `−κ'(r)/r`, infinite where `κ` has a kink at 0.
    pub(crate) fn steepness(self) -> f64 {
        match self {
            Self::Gaussian | Self::RationalQuadratic { .. } => 1.0,
            Self::Matern32 => 3.0,
            Self::Matern52 => 5.0 / 3.0,
            Self::Exponential | Self::GeneralisedExponential { .. } => f64::INFINITY,
        }
    }

    /// Whether `κ` over the distance is known to be positive definite between the points of any `ℝ^d`.
    pub(crate) fn is_positive_definite_over(self, distance: Distance) -> bool {
        match self {
            Self::Exponential => true,
            Self::GeneralisedExponential { exponent } if exponent <= 1.0 => true,
            _ => distance.sum() == CoordinateSum::Squares,
        }
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

impl Display for Profile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (name, _) = PROFILES
            .iter()
            .find(|(_, make)| discriminant(&make(1.0)) == discriminant(self))
            .expect("a list of all profiles");
        match (name.split_once(':'), self.parameter()) {
            (Some((name, _)), Some(parameter)) => f.pad(&format!("{name}:{parameter}")),
            _ => f.pad(name),
        }
    }
}

impl FromStr for Profile {
    type Err = Error;

    /// # Errors
    ///
    /// [`Error::UnknownName`] if no profile has this name, or its parameter is missing, superfluous or
    /// not a number; a profile that is not [valid](Self::validate).
    fn from_str(text: &str) -> Result<Self> {
        let unknown = || Error::UnknownName {
            what: "profile",
            name: text.into(),
            expected: Self::names().collect::<Vec<_>>().join(", "),
        };
        let parts = |text: &'static str| {
            text.split_once(':')
                .map_or((text, false), |(name, _)| (name, true))
        };
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter.parse().map_err(|_| unknown())?)),
            None => (text, None),
        };
        let wanted = (name, parameter.is_some());
        let found = PROFILES.iter().find(|(name, _)| parts(name) == wanted);
        let (_, make) = found.ok_or_else(unknown)?;
        let profile = make(parameter.unwrap_or(1.0));
        profile.validate().map(|()| profile)
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
