//! The recalibration maps that the command offers.

use burn::tensor::{Int, Tensor};
use burn_calibration::{error::Result, loss::Criterion, recalibration::*};
use clap::ValueEnum;

/// A recalibration map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// One temperature
    Temperature,
    /// A temperature mixed with the original and the uniform prediction
    EnsembleTemperature,
    /// One increasing function of each logit (DIAG)
    Diagonal,
    /// Order-preserving network (OP)
    OrderPreserving,
    /// Order-preserving network that treats classes alike (OI)
    OrderInvariant,
    /// A scale and an intercept for each class
    Vector,
    /// A matrix and intercepts, regularised
    Matrix,
    /// A matrix and intercepts of log-probabilities, regularised
    Dirichlet,
    /// Platt scaling of each class
    Platt,
    /// Beta calibration of each class
    Beta,
    /// Isotonic regression of each class (by the log loss alone)
    Isotonic,
    /// Histogram binning of each class (by the log loss alone)
    Histogram,
    /// A spline through the cumulative frequencies of each class (by the log loss alone)
    Spline,
}

/// A callback for the progress of a fit.
pub type Progress<'a> = &'a mut dyn FnMut(FitProgress);

impl Method {
    /// Fits the map, by the log loss unless there is another criterion.
    pub fn fit(
        self,
        criterion: Option<&dyn Criterion>,
        seed: u64,
        logits: &Tensor<2>,
        labels: &Tensor<1, Int>,
        progress: Progress,
    ) -> Result<Box<dyn Recalibration>> {
        fn boxed<C: Fit>(
            config: C,
            criterion: Option<&dyn Criterion>,
            (logits, labels): (&Tensor<2>, &Tensor<1, Int>),
            progress: Progress,
        ) -> Result<Box<dyn Recalibration>>
        where
            C::Map: Recalibration + 'static,
        {
            let map = config.fit_observed(criterion, logits.clone(), labels.clone(), progress)?;
            Ok(Box::new(map))
        }
        let data = (logits, labels);
        match self {
            Self::Temperature => boxed(TemperatureScalingConfig::new(), criterion, data, progress),
            Self::EnsembleTemperature => {
                let config = EnsembleTemperatureScalingConfig::new();
                boxed(config, criterion, data, progress)
            }
            Self::Diagonal => {
                let config = DiagonalScalingConfig::new().with_seed(seed);
                boxed(config, criterion, data, progress)
            }
            Self::OrderPreserving => {
                let config = OrderPreservingConfig::new().with_seed(seed);
                boxed(config, criterion, data, progress)
            }
            Self::OrderInvariant => {
                let config = OrderInvariantConfig::new().with_seed(seed);
                boxed(config, criterion, data, progress)
            }
            Self::Vector => boxed(VectorScalingConfig::new(), criterion, data, progress),
            Self::Matrix => {
                let config = MatrixScalingConfig::new().with_seed(seed);
                boxed(config, criterion, data, progress)
            }
            Self::Dirichlet => {
                let config = DirichletCalibrationConfig::new().with_seed(seed);
                boxed(config, criterion, data, progress)
            }
            Self::Platt => boxed(PlattScalingConfig::new(), criterion, data, progress),
            Self::Beta => boxed(BetaCalibrationConfig::new(), criterion, data, progress),
            Self::Isotonic => boxed(IsotonicRegressionConfig::new(), criterion, data, progress),
            Self::Histogram => boxed(HistogramBinningConfig::new(), criterion, data, progress),
            Self::Spline => boxed(SplineCalibrationConfig::new(), criterion, data, progress),
        }
    }
}
