//! Maps of normal and Laplace predictions, of a kind that is chosen at run time.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    path::Path,
    str::FromStr,
};

use burn::tensor::{Device, Tensor};

use super::{
    file::{failure, read, restore},
    *,
};
use crate::{
    distribution::{Component, Marginals, Mixture},
    error::{Error, Result},
};

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

/// Makes the kinds of maps, and the map of any kind, of one list: what each does to predictions, its type, its
/// configuration, what it gives, its name at the command line and a few words about it.
macro_rules! distribution_maps {
    ($(
        $(#[$doc:meta])*
        $kind:ident: $map:ident by $config:ident gives $output:ident, $name:literal, $about:literal;
    )*) => {
        /// A kind of map of normal and Laplace predictions, simple ones first.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DistributionMethod {
            $(#[doc = concat!("[`", stringify!($map), "`].")] $kind,)*
        }

        /// A fitted map of normal or Laplace predictions, of any kind: a [`FittedMap`] by [`Deref`].
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub enum DistributionMap {
            $($(#[$doc])* $kind(Box<$map>),)*
        }

        impl DistributionMethod {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Gives the name at the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Describes the map in a few words.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$kind => $about,)*
                }
            }

            /// Names the kind as in a saved file: "variance scaling".
            pub fn kind(self) -> &'static str {
                match self {
                    $(Self::$kind => $map::KIND,)*
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
                    $(Self::$kind => {
                        let map = $config::new().fit(predictions, targets)?;
                        DistributionMap::$kind(Box::new(map))
                    })*
                })
            }
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
                    $(Self::$kind(map) => Recalibrated::$output(map.forward(predictions)),)*
                }
            }

            /// Loads a saved map of any kind, which the file names.
            ///
            /// # Errors
            ///
            /// [`Error::File`] if the file cannot be read, is not a saved map of distributions, is truncated, or
            /// holds parameters that no map of its kind has.
            pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<Self> {
                let path = path.as_ref();
                let reject = |reason: String| failure(path, format!("not a saved map: {reason}"));
                let (kind, parts) = read(path, device).map_err(reject)?;
                $(if kind == $map::KIND {
                    let map = restore(parts).map_err(reject)?;
                    return Ok(Self::$kind(Box::new(map)));
                })*
                Err(failure(
                    path,
                    format!(
                        "a {kind} is a map of classes, expected one of normal or Laplace predictions: apply it \
                         with --family categorical"
                    ),
                ))
            }
        }

        impl Deref for DistributionMap {
            type Target = dyn FittedMap;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$kind(map) => map.as_ref(),)*
                }
            }
        }

        impl DerefMut for DistributionMap {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Self::$kind(map) => map.as_mut(),)*
                }
            }
        }
    };
}

distribution_maps! {
    /// Scales every prediction by one factor.
    Temperature: TemperatureScaling by TemperatureScalingConfig gives Family,
    "temperature", "one factor of all scales";
    /// Scales each coordinate.
    Variance: VarianceScaling by VarianceScalingConfig gives Family,
    "variance", "a factor of the scales of each coordinate";
    /// Shifts and scales each coordinate.
    LocationScale: LocationScaleRecalibration by LocationScaleRecalibrationConfig gives Family,
    "location-scale", "a shift, a factor and a power of the scales of each coordinate";
    /// Maps the levels of each coordinate.
    Quantile: QuantileRecalibration by QuantileRecalibrationConfig gives Quantiles,
    "quantile", "a curve of the levels of each coordinate";
    /// Takes the errors on predictions like each.
    Local: LocalRecalibration by LocalRecalibrationConfig gives Mixture,
    "local", "the errors on predictions like it, as a mixture; one coordinate";
}

impl fmt::Display for DistributionMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DistributionMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|method| method.name() == name);
        found.copied().ok_or_else(|| Error::Unsupported {
            what: format!("no map of distributions is called {name}"),
            expected: "temperature, variance, location-scale, quantile or local",
        })
    }
}
