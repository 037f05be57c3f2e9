use std::{
    fmt::{self, Display, Formatter},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A distance between predictions.
///
/// Its name is that of [`Display`] and [`FromStr`]: `total-variation`, `l1` or `euclidean`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Distance {
    /// `½ Σ_c |p_c − q_c|`, between 0 and 1 for probabilities.
    TotalVariation,
    /// `Σ_c |p_c − q_c|`.
    L1,
    /// `(Σ_c (p_c − q_c)²)^½`.
    Euclidean,
}

impl Distance {
    /// Every distance.
    pub const ALL: [Self; 3] = [Self::TotalVariation, Self::L1, Self::Euclidean];

    /// The name, such as `total-variation`.
    pub fn name(self) -> &'static str {
        match self {
            Self::TotalVariation => "total-variation",
            Self::L1 => "l1",
            Self::Euclidean => "euclidean",
        }
    }

    /// The names of all distances.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Self::name)
    }

    /// The factor of the sum over the coordinates, or of its root.
    pub(crate) fn scale(self) -> f64 {
        match self {
            Self::TotalVariation => 0.5,
            Self::L1 | Self::Euclidean => 1.0,
        }
    }

    /// Whether the distance is the root of a sum of squares, and not a sum of magnitudes.
    pub(crate) fn is_euclidean(self) -> bool {
        match self {
            Self::TotalVariation | Self::L1 => false,
            Self::Euclidean => true,
        }
    }
}

impl Display for Distance {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Distance {
    type Err = Error;

    /// # Errors
    ///
    /// [`Error::UnknownName`] if no distance has this name.
    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL
            .into_iter()
            .find(|distance| distance.name() == name);
        found.ok_or_else(|| Error::UnknownName {
            what: "distance",
            name: name.into(),
            expected: Self::names().collect::<Vec<_>>().join(", "),
        })
    }
}
