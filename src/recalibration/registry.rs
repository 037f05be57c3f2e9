//! The kinds of maps, of logits and of distributions: one list of each for files, choices and the
//! command line. A new map is added to its list.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    str::FromStr,
};

use burn::tensor::{Int, Tensor};

use super::{
    file::SavedMap,
    task::{ClassPredictions, LogitFit, Task, fit_task},
    *,
};
use crate::{
    distribution::{Categorical, Component, Marginals, Mixture},
    error::{Error, Result},
};

/// Makes the kinds of maps and the map of any kind from lists: each kind with its map, its name at the command line
/// and a few words about it; and all maps, of which some are of no kind: they are not fitted by themselves.
macro_rules! maps {
    (
        $(#[$kinds_doc:meta])* $Kinds:ident, unknown: $unknown:literal;
        $(#[$maps_doc:meta])* $Maps:ident is $target:ty;
        { $($kind:ident: $of_kind:ident, $name:expr, $about:expr;)* }
        { $($variant:ident: $map:ident;)* }
    ) => {
        $(#[$kinds_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $Kinds {
            $(#[doc = concat!("[`", stringify!($of_kind), "`].")] $kind,)*
        }

        impl $Kinds {
            /// All of them, simple ones first.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns a short name without spaces, as at the command line.
            pub fn name(self) -> &'static str {
                self.words().0
            }

            /// Describes the map in a few words.
            pub fn about(self) -> &'static str {
                self.words().1
            }

            /// Names the kind as in a saved file.
            pub fn kind(self) -> &'static str {
                self.words().2
            }

            fn words(self) -> (&'static str, &'static str, &'static str) {
                match self {
                    $(Self::$kind => ($name, $about, $of_kind::KIND),)*
                }
            }
        }

        impl fmt::Display for $Kinds {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $Kinds {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                let found = Self::ALL.iter().find(|kind| kind.name() == name);
                found.copied().ok_or_else(|| {
                    let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
                    Error::Unsupported {
                        what: format!("{} {name}: the names are {}", $unknown, names.join(", ")),
                        expected: "one of them",
                    }
                })
            }
        }

        $(#[$maps_doc])*
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub enum $Maps {
            $(#[doc = concat!("[`", stringify!($map), "`].")] $variant(Box<$map>),)*
        }

        impl $Maps {
            /// The kind of the map; None for maps that are not fitted by themselves.
            pub fn method(&self) -> Option<$Kinds> {
                match self {
                    $(Self::$kind(_) => Some($Kinds::$kind),)*
                    #[allow(unreachable_patterns)] // where each map is of a kind
                    _ => None,
                }
            }

            /// The map of a kind with saved parameters; none if no map is of the kind.
            pub(super) fn restore(
                kind: &str,
                saved: SavedMap,
            ) -> Option<Result<Self, String>> {
                $(if kind == $map::KIND {
                    return Some($map::restore(saved).map(Self::from));
                })*
                None
            }
        }

        $(impl From<$map> for $Maps {
            fn from(map: $map) -> Self {
                Self::$variant(Box::new(map))
            }
        })*

        impl Deref for $Maps {
            type Target = $target;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$variant(map) => map.as_ref(),)*
                }
            }
        }

        impl DerefMut for $Maps {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Self::$variant(map) => map.as_mut(),)*
                }
            }
        }
    };
}

/// Makes the maps of logits from a list of kinds with their maps, configurations and words.
macro_rules! logit_maps {
    ($($kind:ident: $map:ident by $config:ident, $name:literal, $about:literal;)*) => {
        maps! {
            /// A kind of map of logits.
            MapKind, unknown: "no map of logits is called";
            /// A fitted map of logits, of any kind: a [`Recalibration`] by [`Deref`].
            LogitMap is dyn Recalibration;
            { $($kind: $map, $name, $about;)* }
            { $($kind: $map;)* Prior: PriorCorrection; }
        }

        impl MapKind {
            /// Fits a map of this kind with its default configuration; see [`Fit::fit_with_progress`].
            ///
            /// # Errors
            ///
            /// As of [`Fit::fit_by`].
            pub fn fit(
                self,
                seed: u64,
                criterion: Option<&dyn Objective>,
                logits: Tensor<2>,
                labels: Tensor<1, Int>,
                progress: Progress<'_>,
            ) -> Result<LogitMap> {
                Ok(self.fit_task(seed, logits.task(&labels, criterion, progress)?)?.0)
            }

            /// Fits a map of this kind to predictions with their weights, by the log loss.
            ///
            /// # Errors
            ///
            /// As [`Fit::fit`].
            pub fn fit_weighted(
                self,
                seed: u64,
                predictions: &Categorical,
                labels: &Tensor<1, Int>,
                progress: Progress<'_>,
            ) -> Result<LogitMap> {
                Ok(self.fit_task(seed, predictions.task(labels, None, progress)?)?.0)
            }

            /// As [`fit_weighted`](Self::fit_weighted), without the rows that would rule the fit; see [`Robust`].
            ///
            /// # Errors
            ///
            /// As [`Fit::fit`].
            pub fn fit_robust(
                self,
                seed: u64,
                predictions: &Categorical,
                labels: &Tensor<1, Int>,
                progress: Progress<'_>,
            ) -> Result<LogitMap> {
                let task = predictions.task(labels, None, progress)?;
                match self {
                    $(Self::$kind => {
                        let config = Robust($config::new()).seeded(seed);
                        Ok(fit_task(&config, task)?.0.into())
                    })*
                }
            }

            /// As [`fit_task`] of this kind as it is by default.
            pub(super) fn fit_task(
                self,
                seed: u64,
                task: Task,
            ) -> Result<(LogitMap, Option<Vec<f64>>)> {
                match self {
                    $(Self::$kind => {
                        let found = fit_task(&$config::new().seeded(seed), task);
                        found.map(|(map, left_out)| (map.into(), left_out))
                    })*
                }
            }
        }
    };
}

logit_maps! {
    Temperature: TemperatureScaling by TemperatureScalingConfig,
    "temperature", "One temperature";
    Shift: LogitShift by LogitShiftConfig,
    "shift", "A shift of the logits of each class, shrunk towards 0";
    Ensemble: EnsembleTemperatureScaling by EnsembleTemperatureScalingConfig,
    "ensemble-temperature", "A temperature mixed with the original and the uniform prediction";
    Diagonal: DiagonalScaling by DiagonalScalingConfig,
    "diagonal", "One increasing function of each logit (DIAG)";
    OrderPreserving: OrderPreserving by OrderPreservingConfig,
    "order-preserving", "Order-preserving network (OP)";
    OrderInvariant: OrderInvariant by OrderInvariantConfig,
    "order-invariant", "Order-preserving network that treats classes alike (OI)";
    Vector: VectorScaling by VectorScalingConfig,
    "vector", "A scale and an intercept for each class";
    Matrix: MatrixScaling by MatrixScalingConfig,
    "matrix", "A matrix and intercepts, regularised";
    Dirichlet: DirichletCalibration by DirichletCalibrationConfig,
    "dirichlet", "A matrix and intercepts of log-probabilities, regularised";
    StructuredVector: StructuredVectorScaling by StructuredVectorScalingConfig,
    "structured-vector", "Vector scaling after a temperature, shrunk towards it (SVS)";
    StructuredMatrix: StructuredMatrixScaling by StructuredMatrixScalingConfig,
    "structured-matrix", "Matrix scaling after a temperature, shrunk towards it (SMS)";
    Platt: PlattScaling by PlattScalingConfig,
    "platt", "Platt scaling of each class (log loss only)";
    Beta: BetaCalibration by BetaCalibrationConfig,
    "beta", "Beta calibration of each class (log loss only)";
    Quadratic: QuadraticScaling by QuadraticScalingConfig,
    "quadratic", "Quadratic scaling of each class (log loss only)";
    Isotonic: IsotonicRegression by IsotonicRegressionConfig,
    "isotonic", "Isotonic regression of each class (log loss only)";
    VennAbers: VennAbers by VennAbersConfig,
    "venn-abers", "Venn–Abers predictor of each class (log loss only)";
    Histogram: HistogramBinning by HistogramBinningConfig,
    "histogram", "Histogram binning of each class (log loss only)";
    Spline: SplineCalibration by SplineCalibrationConfig,
    "spline", "A spline through the cumulative frequencies of each class (log loss only)";
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

/// Makes the maps of distributions from a list of kinds with their maps, configurations and what they give.
macro_rules! distribution_maps {
    ($(
        $kind:ident: $map:ident by $config:ident gives $output:ident, $name:literal, $about:literal;
    )*) => {
        maps! {
            /// A kind of map of normal and Laplace predictions.
            DistributionMethod, unknown: "no map of distributions is called";
            /// A fitted map of normal or Laplace predictions, of any kind: a [`FittedMap`] by [`Deref`].
            DistributionMap is dyn FittedMap;
            { $($kind: $map, $name, $about;)* }
            { $($kind: $map;)* }
        }

        impl DistributionMethod {
            /// Fits a map of this kind with its default configuration.
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
                    $(Self::$kind => $config::new().fit(predictions, targets)?.into(),)*
                })
            }

            /// As [`fit`](Self::fit), without the rows that would rule the fit; see [`Robust`].
            ///
            /// # Errors
            ///
            /// As of [`Fit::fit`] of the kind.
            pub fn fit_robust<P: ScaleFamily + Component + Marginals>(
                self,
                predictions: P,
                targets: Tensor<2>,
            ) -> Result<DistributionMap> {
                Ok(match self {
                    $(Self::$kind => Robust($config::new()).fit(predictions, targets)?.into(),)*
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
        }
    };
}

distribution_maps! {
    Temperature: TemperatureScaling by TemperatureScalingConfig gives Family,
    "temperature", "One factor for all scales";
    Variance: VarianceScaling by VarianceScalingConfig gives Family,
    "variance", "A factor for the scales of each coordinate";
    LocationScale: LocationScaleRecalibration by LocationScaleRecalibrationConfig gives Family,
    "location-scale", "A shift for each coordinate, and a factor and a power for its scales";
    Quantile: QuantileRecalibration by QuantileRecalibrationConfig gives Quantiles,
    "quantile", "A curve of levels for each coordinate";
    Local: LocalRecalibration by LocalRecalibrationConfig gives Mixture,
    "local", "The errors of similar predictions, as a mixture; one coordinate only";
}
