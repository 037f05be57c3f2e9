//! The recalibration maps that the command offers.

use burn::tensor::{Int, Tensor};
use burn_calibration::{error::Result, loss::Criterion, recalibration::*};

use crate::args::Method;

/// A callback for the progress of a fit.
pub type Progress<'a> = &'a mut dyn FnMut(FitProgress);

/// Fits the map, by the log loss unless there is another criterion.
pub fn fit(
    method: Method,
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
    match method {
        Method::Temperature => boxed(TemperatureScalingConfig::new(), criterion, data, progress),
        Method::EnsembleTemperature => {
            let config = EnsembleTemperatureScalingConfig::new();
            boxed(config, criterion, data, progress)
        }
        Method::Diagonal => {
            let config = DiagonalScalingConfig::new().with_seed(seed);
            boxed(config, criterion, data, progress)
        }
        Method::OrderPreserving => {
            let config = OrderPreservingConfig::new().with_seed(seed);
            boxed(config, criterion, data, progress)
        }
        Method::OrderInvariant => {
            let config = OrderInvariantConfig::new().with_seed(seed);
            boxed(config, criterion, data, progress)
        }
        Method::Vector => boxed(VectorScalingConfig::new(), criterion, data, progress),
        Method::Matrix => {
            let config = MatrixScalingConfig::new().with_seed(seed);
            boxed(config, criterion, data, progress)
        }
        Method::Dirichlet => {
            let config = DirichletCalibrationConfig::new().with_seed(seed);
            boxed(config, criterion, data, progress)
        }
        Method::Platt => boxed(PlattScalingConfig::new(), criterion, data, progress),
        Method::Beta => boxed(BetaCalibrationConfig::new(), criterion, data, progress),
        Method::Isotonic => boxed(IsotonicRegressionConfig::new(), criterion, data, progress),
        Method::Histogram => boxed(HistogramBinningConfig::new(), criterion, data, progress),
        Method::Spline => boxed(SplineCalibrationConfig::new(), criterion, data, progress),
    }
}
