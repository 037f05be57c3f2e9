use burn::tensor::{Int, Tensor};
use burn_calibration::{error::Result, recalibration::*};

/// Fits a map to logits and labels.
pub type Fitter = Box<dyn Fn(Tensor<2>, Tensor<1, Int>) -> Result<Box<dyn Recalibration>>>;

fn fitter<C>(config: C) -> Fitter
where
    C: Fit + 'static,
    C::Map: Recalibration + 'static,
{
    Box::new(move |logits, labels| Ok(Box::new(config.fit(logits, labels)?)))
}

/// Every map as it is by default.
pub fn all() -> Vec<(&'static str, Fitter)> {
    vec![
        ("temperature", fitter(TemperatureScalingConfig::new())),
        (
            "ensemble temperature",
            fitter(EnsembleTemperatureScalingConfig::new()),
        ),
        ("diagonal (DIAG)", fitter(DiagonalScalingConfig::new())),
        (
            "order-preserving (OP)",
            fitter(OrderPreservingConfig::new()),
        ),
        ("order-invariant (OI)", fitter(OrderInvariantConfig::new())),
        ("vector", fitter(VectorScalingConfig::new())),
        ("matrix", fitter(MatrixScalingConfig::new())),
        ("Dirichlet", fitter(DirichletCalibrationConfig::new())),
        ("Platt", fitter(PlattScalingConfig::new())),
        ("beta", fitter(BetaCalibrationConfig::new())),
        ("isotonic", fitter(IsotonicRegressionConfig::new())),
        ("histogram", fitter(HistogramBinningConfig::new())),
        ("spline", fitter(SplineCalibrationConfig::new())),
    ]
}
