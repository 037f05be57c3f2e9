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
#[non_exhaustive]
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

    /// The name in a sentence, such as `total variation`.
    pub fn words(self) -> &'static str {
        match self {
            Self::TotalVariation => "total variation",
            Self::L1 => "L1",
            Self::Euclidean => "Euclidean",
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

    /// The sum over the coordinates.
    pub(crate) fn sum(self) -> CoordinateSum {
        match self {
            Self::TotalVariation | Self::L1 => CoordinateSum::Magnitudes,
            Self::Euclidean => CoordinateSum::Squares,
        }
    }

    /// The distance from its sum over the coordinates.
    pub(crate) fn of_sum(self, sum: f64) -> f64 {
        match self.sum() {
            CoordinateSum::Magnitudes => self.scale() * sum,
            CoordinateSum::Squares => sum.sqrt(),
        }
    }
}

/// The sum over the coordinates that a distance is a function of: passes over pairs know no more of a distance
/// than this and its scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoordinateSum {
    /// `Σ_c |p_c − q_c|`, of which the distance is a multiple.
    Magnitudes,
    /// `Σ_c (p_c − q_c)²`, of which the distance is the root.
    Squares,
}

impl CoordinateSum {
    /// The sum of differences of coordinates.
    pub fn of(self, differences: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::Magnitudes => differences.map(f64::abs).sum(),
            Self::Squares => differences.map(|difference| difference * difference).sum(),
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
