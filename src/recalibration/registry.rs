//! The kinds of maps, of logits and of distributions: one list of each for files, choices and the
//! command line. A new map is added to its list.

use std::{fmt, str::FromStr};

use burn::tensor::Tensor;

use super::{file::SavedMap, map::by_inner_map, *};
use crate::{
    distribution::{Component, Marginals, Mixture},
    error::{Error, Result},
};

/// The kinds of maps of a list and the map of any kind: each kind with its map, its name at the command line and a few
/// words about it; after them a map that is not fitted by itself.
macro_rules! maps {
    (
        $(#[$kinds_doc:meta])* $Kinds:ident, unknown: $unknown:literal;
        $(#[$maps_doc:meta])* $Maps:ident is dyn $Trait:ident $(, with $other:ident: $Other:ident)?;
        $($kind:ident: $Map:ident, $name:literal, $about:literal;)*
    ) => {
        $(#[$kinds_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $Kinds {
            $(#[doc = concat!("[`", stringify!($Map), "`].")] $kind,)*
        }

        impl $Kinds {
            /// All of them, simple ones first.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns a short name without spaces, as at the command line.
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

            /// Names the kind as in a saved file.
            pub fn kind(self) -> &'static str {
                match self {
                    $(Self::$kind => $Map::KIND,)*
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
            $(#[doc = concat!("[`", stringify!($Map), "`].")] $kind(Box<$Map>),)*
            $(#[doc = concat!("[`", stringify!($Other), "`].")] $other(Box<$Other>),)?
        }

        impl $Maps {
            /// The kind of the map; None for maps that are not fitted by themselves.
            pub fn method(&self) -> Option<$Kinds> {
                match self {
                    $(Self::$kind(_) => Some($Kinds::$kind),)*
                    $(Self::$other(_) => None,)?
                }
            }

            /// The map of a kind with saved parameters; none if no map is of the kind.
            pub(super) fn restore(kind: &str, saved: SavedMap) -> Option<Result<Self, String>> {
                match kind {
                    $($Map::KIND => Some($Map::restore(saved).map(Self::from)),)*
                    $($Other::KIND => Some($Other::restore(saved).map(Self::from)),)?
                    _ => None,
                }
            }

            fn inner(&self) -> &dyn $Trait {
                match self {
                    $(Self::$kind(map) => map.as_ref(),)*
                    $(Self::$other(map) => map.as_ref(),)?
                }
            }

            fn inner_mut(&mut self) -> &mut dyn $Trait {
                match self {
                    $(Self::$kind(map) => map.as_mut(),)*
                    $(Self::$other(map) => map.as_mut(),)?
                }
            }
        }

        impl FittedMap for $Maps {
            by_inner_map!(
                self,
                self.inner(),
                self.inner_mut(),
                Self::of_predictions(self.inner().guarantees())
            );
        }

        $(impl From<$Map> for $Maps {
            fn from(map: $Map) -> Self {
                Self::$kind(Box::new(map))
            }
        })*

        $(impl From<$Other> for $Maps {
            fn from(map: $Other) -> Self {
                Self::$other(Box::new(map))
            }
        })?
    };
}

maps! {
    /// A kind of map of logits.
    MapKind, unknown: "no map of logits is called";
    /// A fitted map of logits, of any kind.
    LogitMap is dyn Recalibration, with Prior: PriorCorrection;
    Temperature: TemperatureScaling, "temperature", "One temperature";
    Shift: LogitShift, "shift", "A shift of the logits of each class, shrunk towards 0";
    Ensemble: EnsembleTemperatureScaling, "ensemble-temperature", "A temperature mixed with the original and the uniform prediction";
    Diagonal: DiagonalScaling, "diagonal", "One increasing function of each logit (DIAG)";
    OrderPreserving: OrderPreserving, "order-preserving", "Order-preserving network (OP)";
    OrderInvariant: OrderInvariant, "order-invariant", "Order-preserving network that treats classes alike (OI)";
    Vector: VectorScaling, "vector", "A scale and an intercept for each class";
    Matrix: MatrixScaling, "matrix", "A matrix and intercepts, regularised";
    Dirichlet: DirichletCalibration, "dirichlet", "A matrix and intercepts of log-probabilities, regularised";
    StructuredVector: StructuredVectorScaling, "structured-vector", "Vector scaling after a temperature, shrunk towards it (SVS)";
    StructuredMatrix: StructuredMatrixScaling, "structured-matrix", "Matrix scaling after a temperature, shrunk towards it (SMS)";
    Platt: PlattScaling, "platt", "Platt scaling of each class (log loss only)";
    Beta: BetaCalibration, "beta", "Beta calibration of each class (log loss only)";
    Quadratic: QuadraticScaling, "quadratic", "Quadratic scaling of each class (log loss only)";
    Isotonic: IsotonicRegression, "isotonic", "Isotonic regression of each class (log loss only)";
    VennAbers: VennAbers, "venn-abers", "Venn–Abers predictor of each class (log loss only)";
    Histogram: HistogramBinning, "histogram", "Histogram binning of each class (log loss only)";
    Spline: SplineCalibration, "spline", "The slope of a spline of the cumulative frequencies of each class, which may fall where risks rise (log loss only)";
}

impl LogitMap {
    /// The guarantees for predictions of classes. A temperature keeps the means of distributions, but not the mean of
    /// probabilities.
    fn of_predictions(guarantees: Guarantees) -> Guarantees {
        Guarantees {
            keeps_mean: false,
            ..guarantees
        }
    }
}

impl DistributionMap {
    /// The guarantees for predictions of real numbers.
    fn of_predictions(guarantees: Guarantees) -> Guarantees {
        guarantees
    }
}

impl Recalibration for LogitMap {
    fn forward(&self, logits: Tensor<2>) -> Tensor<2> {
        self.inner().forward(logits)
    }
}

/// The default configuration of a kind of map of logits, with a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct KindConfig {
    kind: MapKind,
    seed: u64,
}

impl MapKind {
    /// Returns the default configuration of the kind, which fits its map.
    ///
    /// - seed: that of folds and networks (ChaCha12), for kinds that have one
    pub fn config(self, seed: u64) -> KindConfig {
        KindConfig { kind: self, seed }
    }
}

impl LogitFit for KindConfig {
    type Map = LogitMap;

    fn find(&self, task: &mut FitTask) -> Result<LogitMap> {
        fn find<C: LogitFit<Map: Into<LogitMap>>>(
            config: &C,
            task: &mut FitTask,
        ) -> Result<LogitMap> {
            config.find(task).map(Into::into)
        }
        let seed = self.seed;
        match self.kind {
            MapKind::Temperature => find(&TemperatureScalingConfig::new(), task),
            MapKind::Shift => find(&LogitShiftConfig::new().with_seed(seed), task),
            MapKind::Ensemble => find(&EnsembleTemperatureScalingConfig::new(), task),
            MapKind::Diagonal => find(&DiagonalScalingConfig::new().with_seed(seed), task),
            MapKind::OrderPreserving => find(&OrderPreservingConfig::new().with_seed(seed), task),
            MapKind::OrderInvariant => find(&OrderInvariantConfig::new().with_seed(seed), task),
            MapKind::Vector => find(&VectorScalingConfig::new().with_seed(seed), task),
            MapKind::Matrix => find(&MatrixScalingConfig::new().with_seed(seed), task),
            MapKind::Dirichlet => find(&DirichletCalibrationConfig::new().with_seed(seed), task),
            MapKind::StructuredVector => {
                find(&StructuredVectorScalingConfig::new().with_seed(seed), task)
            }
            MapKind::StructuredMatrix => {
                find(&StructuredMatrixScalingConfig::new().with_seed(seed), task)
            }
            MapKind::Platt => find(&PlattScalingConfig::new(), task),
            MapKind::Beta => find(&BetaCalibrationConfig::new(), task),
            MapKind::Quadratic => find(&QuadraticScalingConfig::new(), task),
            MapKind::Isotonic => find(&IsotonicRegressionConfig::new(), task),
            MapKind::VennAbers => find(&VennAbersConfig::new(), task),
            MapKind::Histogram => find(&HistogramBinningConfig::new(), task),
            MapKind::Spline => find(&SplineCalibrationConfig::new(), task),
        }
    }
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

maps! {
    /// A kind of map of normal and Laplace predictions.
    DistributionMethod, unknown: "no map of distributions is called";
    /// A fitted map of normal or Laplace predictions, of any kind.
    DistributionMap is dyn FittedMap;
    Temperature: TemperatureScaling, "temperature", "One factor for all scales";
    Variance: VarianceScaling, "variance", "A factor for the scales of each coordinate";
    LocationScale: LocationScaleRecalibration, "location-scale", "A shift of each coordinate in predicted deviations, and a factor and a power for its scales";
    Quantile: QuantileRecalibration, "quantile", "A curve of levels for each coordinate";
    Local: LocalRecalibration, "local", "The errors of similar predictions, as a mixture; one coordinate only";
}

/// A kind fits its map with its default configuration.
impl<P: ScaleFamily + Component + Marginals> Fit<P, Tensor<2>> for DistributionMethod {
    type Map = DistributionMap;
    type Scored = P;

    fn fit_with(
        &self,
        predictions: P,
        targets: Tensor<2>,
        options: FitOptions<'_, P>,
    ) -> Result<DistributionMap> {
        let (p, y) = (predictions, targets);
        Ok(match self {
            Self::Temperature => (TemperatureScalingConfig::new().fit_with(p, y, options)?).into(),
            Self::Variance => VarianceScalingConfig::new().fit_with(p, y, options)?.into(),
            Self::LocationScale => {
                (LocationScaleRecalibrationConfig::new().fit_with(p, y, options)?).into()
            }
            Self::Quantile => (QuantileRecalibrationConfig::new().fit_with(p, y, options)?).into(),
            Self::Local => LocalRecalibrationConfig::new()
                .fit_with(p, y, options)?
                .into(),
        })
    }
}

impl<P: ScaleFamily + Component + Marginals> Recalibration<P, Recalibrated<P>> for DistributionMap {
    fn forward(&self, predictions: P) -> Recalibrated<P> {
        match self {
            Self::Temperature(map) => Recalibrated::Family(map.forward(predictions)),
            Self::Variance(map) => Recalibrated::Family(map.forward(predictions)),
            Self::LocationScale(map) => Recalibrated::Family(map.forward(predictions)),
            Self::Quantile(map) => Recalibrated::Quantiles(map.forward(predictions)),
            Self::Local(map) => Recalibrated::Mixture(map.forward(predictions)),
        }
    }
}
