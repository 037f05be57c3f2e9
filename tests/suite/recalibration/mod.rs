//! Recalibration: maps of logits, scalar maps, maps of predictive distributions, and what all share.

/// Hands each kind of map to a check: its name, a configuration of a short fit, and what loads one.
macro_rules! each_map {
    ($check:ident) => {
        each_map! { $check, Regularisation::Fixed(1e-2) =>
            "temperature": TemperatureScalingConfig, TemperatureScaling;
            "shift": LogitShiftConfig, LogitShift;
            "ensemble": EnsembleTemperatureScalingConfig, EnsembleTemperatureScaling;
            "diagonal": DiagonalScalingConfig, DiagonalScaling, with_regularisation, 20;
            "order-preserving": OrderPreservingConfig, OrderPreserving, with_regularisation, 20;
            "order-invariant": OrderInvariantConfig, OrderInvariant, with_regularisation, 20;
            "vector": VectorScalingConfig, VectorScaling;
            "matrix": MatrixScalingConfig, MatrixScaling, with_regularisation;
            "dirichlet": DirichletCalibrationConfig, DirichletCalibration, with_regularisation;
            "structured vector": StructuredVectorScalingConfig, StructuredVectorScaling;
            "structured matrix": StructuredMatrixScalingConfig, StructuredMatrixScaling;
            "quadratic": QuadraticScalingConfig, QuadraticScaling;
            "Platt": PlattScalingConfig, PlattScaling;
            "beta": BetaCalibrationConfig, BetaCalibration;
            "isotonic": IsotonicRegressionConfig, IsotonicRegression;
            "histogram": HistogramBinningConfig, HistogramBinning;
            "spline": SplineCalibrationConfig, SplineCalibration;
            "Venn-Abers": VennAbersConfig, VennAbers;
        }
    };
    ($check:ident, $fixed:expr =>
     $($name:literal: $config:ident, $map:ident $(, $regularised:ident $(, $iterations:literal)?)?;)*) => {$(
        let config = $config::new()$(.$regularised($fixed)$(.with_max_iterations($iterations))?)?;
        let load = |path: &std::path::Path| $map::load(path, &device());
        $check($name, config, load);
    )*};
}

mod distributions;
pub mod files;
mod injective;
pub mod logits;
mod lp_error;
mod module;
mod prior;
mod refinement;
pub mod scalar;
mod shift;
mod temperature;
