//! Maps of normal and Laplace predictions, of a kind that is chosen at run time.

use std::{fmt, path::Path, str::FromStr};

use burn::tensor::{Device, Tensor};

use super::{
    file::{failure, read, restore},
    fitted::Form,
    *,
};
use crate::{
    distribution::{Component, Marginals, Mixture},
    error::{Error, Result},
};

/// A kind of map of normal and Laplace predictions, simple ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DistributionMethod {
    /// [`TemperatureScaling`].
    Temperature,
    /// [`VarianceScaling`].
    Variance,
    /// [`LocationScaleRecalibration`].
    LocationScale,
    /// [`QuantileRecalibration`].
    Quantile,
    /// [`LocalRecalibration`].
    Local,
}

impl DistributionMethod {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Temperature,
        Self::Variance,
        Self::LocationScale,
        Self::Quantile,
        Self::Local,
    ];

    /// Gives the name at the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::Variance => "variance",
            Self::LocationScale => "location-scale",
            Self::Quantile => "quantile",
            Self::Local => "local",
        }
    }

    /// Describes the map in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Temperature => "one factor of all scales",
            Self::Variance => "a factor of the scales of each coordinate",
            Self::LocationScale => "a shift, a factor and a power of the scales of each coordinate",
            Self::Quantile => "a curve of the levels of each coordinate",
            Self::Local => "the errors on predictions like it, as a mixture; one coordinate",
        }
    }

    /// Fits a map of this kind as it is by default.
    ///
    /// # Errors
    ///
    /// As of [`Fit::fit`] of the kind.
    pub fn fit<P: ScaleFamily + Component + Marginals>(
        self,
        predictions: P,
        targets: Tensor<2>,
    ) -> Result<DistributionMap> {
        Ok(match self {
            Self::Temperature => DistributionMap::Temperature(
                TemperatureScalingConfig::new().fit(predictions, targets)?,
            ),
            Self::Variance => {
                DistributionMap::Variance(VarianceScalingConfig::new().fit(predictions, targets)?)
            }
            Self::LocationScale => DistributionMap::LocationScale(
                LocationScaleRecalibrationConfig::new().fit(predictions, targets)?,
            ),
            Self::Quantile => DistributionMap::Quantile(
                QuantileRecalibrationConfig::new().fit(predictions, targets)?,
            ),
            Self::Local => {
                let map = LocalRecalibrationConfig::new().fit(predictions, targets)?;
                DistributionMap::Local(Box::new(map))
            }
        })
    }
}

impl fmt::Display for DistributionMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DistributionMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| Error::Unsupported {
            what: format!("no map of distributions is called {name}"),
            expected: "temperature, variance, location-scale, quantile or local",
        })
    }
}

/// A fitted map of normal or Laplace predictions, of any kind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DistributionMap {
    /// Scales every prediction by one factor.
    Temperature(TemperatureScaling),
    /// Scales each coordinate.
    Variance(VarianceScaling),
    /// Shifts and scales each coordinate.
    LocationScale(LocationScaleRecalibration),
    /// Maps the levels of each coordinate.
    Quantile(QuantileRecalibration),
    /// Takes the errors on predictions like each.
    Local(Box<LocalRecalibration>),
}

/// Recalibrated normal or Laplace predictions.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // one value holds all predictions
pub enum Recalibrated<P> {
    /// Predictions of the same family.
    Family(P),
    /// Mixtures of it.
    Mixture(Mixture<P>),
    /// Predictions with recalibrated levels.
    Quantiles(QuantileRecalibrated<P>),
}

/// Runs the same lines for the map of any kind.
macro_rules! each {
    ($any:expr, $map:ident => $body:expr) => {
        match $any {
            DistributionMap::Temperature($map) => $body,
            DistributionMap::Variance($map) => $body,
            DistributionMap::LocationScale($map) => $body,
            DistributionMap::Quantile($map) => $body,
            DistributionMap::Local($map) => $body,
        }
    };
}

impl DistributionMap {
    /// Recalibrates predictions.
    ///
    /// # Panics
    ///
    /// If the map was fitted to another number of coordinates.
    pub fn forward<P: ScaleFamily + Component + Marginals>(
        &self,
        predictions: P,
    ) -> Recalibrated<P> {
        match self {
            Self::Temperature(map) => Recalibrated::Family(map.forward(predictions)),
            Self::Variance(map) => Recalibrated::Family(map.forward(predictions)),
            Self::LocationScale(map) => Recalibrated::Family(map.forward(predictions)),
            Self::Quantile(map) => Recalibrated::Quantiles(map.forward(predictions)),
            Self::Local(map) => Recalibrated::Mixture(map.forward(predictions)),
        }
    }

    /// Names the kind of the map, as in a saved file: "variance scaling".
    pub fn kind(&self) -> &'static str {
        each!(self, map => map.kind())
    }

    /// Gives the number of coordinates that the map was fitted to; none if it takes any.
    pub fn width(&self) -> Option<usize> {
        each!(self, map => map.width())
    }

    /// Tells what the map keeps.
    pub fn guarantees(&self) -> Guarantees {
        each!(self, map => map.guarantees())
    }

    /// Tells how the fit went.
    pub fn report(&self) -> Option<&FitReport> {
        each!(self, map => map.report())
    }

    /// Tells what the map was fitted to; empty unless [`set_fitted_to`](Self::set_fitted_to) said it.
    pub fn fitted_to(&self) -> &FittedTo {
        each!(self, map => map.fitted_to())
    }

    /// Says what the map was fitted to, which a saved file keeps.
    pub fn set_fitted_to(&mut self, to: FittedTo) {
        each!(self, map => map.set_fitted_to(to));
    }

    /// Gives the parameters by their names.
    pub fn named_parameters(&self) -> Vec<NamedParameter> {
        each!(self, map => map.named_parameters())
    }

    /// Saves the map as one of its own type.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        each!(self, map => map.save(path))
    }

    /// Loads a saved map of any kind, which the file names.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the file cannot be read, is not a saved map of distributions, is truncated, or holds
    /// parameters that no map of its kind has.
    pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<Self> {
        let path = path.as_ref();
        let reject = |reason: String| failure(path, format!("not a saved map: {reason}"));
        let (kind, parts) = read(path, device).map_err(reject)?;
        macro_rules! of {
            ($($variant:ident: $form:ty),*) => {
                match kind.as_str() {
                    $(<$form as Form>::KIND => restore(parts).map(Self::$variant).map_err(reject),)*
                    <local::Residuals as Form>::KIND => {
                        restore(parts).map(|map| Self::Local(Box::new(map))).map_err(reject)
                    }
                    _ => Err(failure(path, format!("a {kind} is a map of classes, expected one of normal or Laplace predictions: apply it with --family categorical"))),
                }
            };
        }
        of!(
            Temperature: temperature::Temperature,
            Variance: variance::Factors,
            LocationScale: location_scale::LocationScales,
            Quantile: quantile::Quantiles
        )
    }
}
