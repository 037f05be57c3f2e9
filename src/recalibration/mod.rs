//! Recalibration: maps fitted on held-out logits, or held-out predictive distributions, that make a
//! trained model better calibrated.
//!
//! An unfitted configuration fits a map, [`Fit::fit`]. The fitted map maps logits to logits, or
//! distributions to distributions: [`Recalibration::forward`]. [`FittedMap::guarantees`] says what it keeps
//! of the predictions. It can be saved and loaded. It is a Burn module: it can be a part of a model, and is
//! not trained with the model.
//!
//! | map | | order | injective | freedom |
//! | --- | --- | --- | --- | --- |
//! | [`TemperatureScaling`] | `z/T` | kept | yes | 1 |
//! | [`LogitShift`] | `z_c + b_c` | no | yes | `m` |
//! | [`EnsembleTemperatureScaling`] | `log(w₁ softmax(z/T) + w₂ softmax(z) + w₃/m)` | kept | yes | 3 |
//! | [`DiagonalScaling`] (DIAG) | one increasing function of each logit | kept | on log-probabilities | a curve |
//! | [`OrderPreserving`] (OP), [`OrderInvariant`] (OI) | gaps of sorted logits times a network | kept | no | a network |
//! | [`VectorScaling`] | `a_c z_c + b_c` | no | on log-probabilities, for one sign of `a` | `2m` |
//! | [`MatrixScaling`] | `Wz + b` | no | on log-probabilities, depends on `W` | `m² + m` |
//! | [`StructuredVectorScaling`] | vector scaling of tempered, smoothed log-probabilities | no | depends on `a` | `2m`, shrunk |
//! | [`StructuredMatrixScaling`] | matrix scaling of them | no | depends on `W` | `m² + m`, shrunk |
//! | [`DirichletCalibration`] | `W log p + b` | no | depends on `W` | `m² + m` |
//! | [`PlattScaling`] | `σ(a s + b)` of log-odds `s` | no | two classes | 2 an event |
//! | [`BetaCalibration`] | `σ(a log p − b log(1−p) + c)` | no | two classes | 3 an event |
//! | [`QuadraticScaling`] | `σ(a s + b s² + c)` | no | no | 3 an event |
//! | [`IsotonicRegression`] | the best non-decreasing function | no | no | blocks |
//! | [`VennAbers`] | two isotonic regressions, with each outcome of the sample, and their interval | no | no | blocks |
//! | [`HistogramBinning`] | frequencies in bins | no | no | bins |
//! | [`SplineCalibration`] | the derivative of a cubic spline | no | no | knots |
//!
//! [`PriorCorrection`] needs no fit: it corrects predictions for other base rates than those of training.
//!
//! A map is injective if different predictions stay different. Where that needs log-probabilities, take
//! `log_softmax` of the logits before the fit and before each use.
//!
//! The last seven are functions of one probability: of class 1 of two classes; of more, each class has
//! its own and the values are normalised.
//!
//! For predictive distributions over real vectors, which take predictions and give predictions:
//!
//! | map | | mean | injective | freedom |
//! | --- | --- | --- | --- | --- |
//! | [`TemperatureScaling`] | `f^{1/T}`, normalised | kept | yes | 1 |
//! | [`VarianceScaling`] | `σ_c ↦ s_c σ_c` | kept | yes | 1 or `d` |
//! | [`LocationScaleRecalibration`] | `μ_c ↦ μ_c + b_c σ_c`, `σ_c ↦ s_c σ_c^γ_c` | if `b = 0` | if `γ ≠ 0` | 3 for each coordinate |
//! | [`LocalRecalibration`] | the errors on predictions like it, as a mixture | no | no | a density for each prediction |
//! | [`QuantileRecalibration`] | `F_c ↦ R_c ∘ F_c` | no | yes, except for rounding | a curve for each coordinate |
//! | [`ConformalShift`] | `q_k ↦ q_k + s_k` of quantile forecasts, in order | no | no | 1 for each level |
//!
//! The first three stay within the family of the predictions; local recalibration gives mixtures; quantile
//! recalibration gives distribution functions and quantiles, and samples for the kernels.
//!
//! Logits may have any scale and shift. If a model gives probabilities, take their logarithms.
//! [`AutoRecalibrationConfig`] chooses among the maps by cross-validation and says what the choice gains
//! and what it costs in guarantees. A temperature needs the fewest samples. With fewer than about a hundred
//! samples it can also do harm, see `docs/recalibration.md`.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::recalibration::{Fit, FitStatus, FittedMap, Recalibration, TemperatureScalingConfig};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! // confident in class 0, but right only three times out of four
//! let logits = Tensor::<2>::from_floats([[5.0, 0.0]; 4], &device);
//! let labels = Tensor::<1, Int>::from_ints([0, 0, 0, 1], &device);
//! let config = TemperatureScalingConfig::new().with_prior(None); // the prior is for few samples
//! let map = config.fit(logits.clone(), labels)?;
//! assert!((map.temperature() - 5.0 / 3.0f64.ln()).abs() < 1e-9);
//! assert_eq!(map.report().unwrap().status, FitStatus::Converged);
//! assert!(map.guarantees().injective);
//! let calibrated = map.forward(logits); // softmax gives (3/4, 1/4)
//! # Ok(())
//! # }
//! ```
//!
//! For predictive distributions in the same way:
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration::distribution::Normal;
//! use burn_calibration::recalibration::{Fit, Recalibration, TemperatureScalingConfig};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! let standard = Normal::new(Tensor::zeros([4, 1], &device), Tensor::ones([4, 1], &device));
//! let targets = Tensor::<2>::from_floats([[2.0], [-2.0], [1.0], [-1.0]], &device);
//! let map = TemperatureScalingConfig::new().fit(standard.clone(), targets)?;
//! assert!((map.temperature() - 2.5).abs() < 1e-12); // the mean of z²
//! let wider = map.forward(standard);
//! # Ok(())
//! # }
//! ```
//!
//! A map can be a part of a model. A record of the model restores parameters of the same shapes, such as those of a
//! `template` of as many classes. A map whose shapes depend on the data of its fit, with knots or a table, comes from a
//! file of its own before the record of the model is loaded.
//!
//! ```
//! use burn::{module::Module, nn::{Linear, LinearConfig}, tensor::{Device, Int, Tensor}};
//! use burn_calibration::recalibration::{Fit, Recalibration, VectorScaling, VectorScalingConfig};
//!
//! #[derive(Module, Debug)]
//! struct Model {
//!     linear: Linear,
//!     map: VectorScaling,
//! }
//!
//! impl Model {
//!     fn new(device: &Device) -> Self {
//!         Self {
//!             linear: LinearConfig::new(2, 3).init(device),
//!             map: VectorScaling::template(3, device),
//!         }
//!     }
//!
//!     fn forward(&self, inputs: Tensor<2>) -> Tensor<2> {
//!         self.map.forward(self.linear.forward(inputs))
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::default();
//! let mut model = Model::new(&device);
//! let inputs = Tensor::<2>::from_floats([[5.0, 0.0], [0.0, 2.0], [1.0, 1.0]], &device);
//! let labels = Tensor::<1, Int>::from_ints([0, 2, 1], &device);
//! model.map = VectorScalingConfig::new().fit(model.linear.forward(inputs), labels)?;
//! let record = model.clone().into_record();
//!
//! let loaded = Model::new(&device).load_record(record);
//! assert_eq!(loaded.map.weight(), model.map.weight());
//! # Ok(())
//! # }
//! ```
//!
//! The crate `burn-calibration-export` makes formulas and ONNX models of fitted maps.
//!
//! To add a map of logits: its parameters as a `Form`, its name by `fitted_map!`, and its configuration as
//! a [`LogitFit`], in a file of its own; the file and the names here; its line in the list of `registry.rs`, which
//! files and the command line read; its formula in `export/`; in `auto/candidates.rs` if it is to be chosen. A map of
//! distributions has a configuration that is a [`Fit`], and its line in the second list. A map of your own needs none
//! of that, see the [guide](crate::guide::own_map).

mod affine;
mod auto;
mod conformal;
mod data;
mod descent;
mod diagonal;
mod ensemble;
mod family;
mod file;
mod fit;
mod fitted;
mod influence;
mod linear;
mod load;
mod local;
mod location_scale;
mod lp_error;
mod map;
mod network;
mod order_preserving;
mod parameter;
mod prior;
mod quantile;
mod refinement;
mod registry;
mod regularisation;
mod report;
mod scalar;
mod scale;
mod shift;
mod task;
mod temperature;
mod variance;
mod warning;

use crate::error::{Result, check_parameter};

pub use affine::{
    DirichletCalibration, DirichletCalibrationConfig, MatrixScaling, MatrixScalingConfig,
    StructuredMatrixScaling, StructuredMatrixScalingConfig, StructuredVectorScaling,
    StructuredVectorScalingConfig, VectorScaling, VectorScalingConfig,
};
pub use auto::{
    AutoDistributionRecalibration, AutoRecalibration, AutoRecalibrationConfig, Candidate, Choice,
    Chosen, Cost, PassedOver,
};
pub use conformal::{ConformalShift, ConformalShiftConfig};
pub use data::FitData;
pub use diagonal::{DiagonalKnot, DiagonalScaling, DiagonalScalingConfig};
pub use ensemble::{EnsembleTemperatureScaling, EnsembleTemperatureScalingConfig};
pub use file::SavedMap;
pub use fit::{Fit, FitOptions, FitProgress, LogitFit, Progress};
pub use influence::Robust;
pub use load::{load_map, load_map_bytes};
pub use local::{LocalRecalibration, LocalRecalibrationConfig};
pub use location_scale::{LocationScaleRecalibration, LocationScaleRecalibrationConfig};
pub use lp_error::LpCalibrationError;
pub use map::{FittedMap, Guarantees, Keep, Recalibration};
pub use order_preserving::{
    OrderInvariant, OrderInvariantConfig, OrderPreserving, OrderPreservingConfig,
};
pub use parameter::NamedParameter;
pub use prior::PriorCorrection;
pub use quantile::{QuantileRecalibrated, QuantileRecalibration, QuantileRecalibrationConfig};
pub use refinement::RefinementError;
pub use registry::{
    DistributionMap, DistributionMethod, KindConfig, LogitMap, MapKind, Recalibrated,
};
pub use regularisation::Regularisation;
pub use report::{FitRecord, FitReport, FitStatus, FittedTo};
pub use scalar::{
    BetaCalibration, BetaCalibrationConfig, HistogramBinning, HistogramBinningConfig,
    IsotonicRegression, IsotonicRegressionConfig, Knot, PlattScaling, PlattScalingConfig,
    QuadraticScaling, QuadraticScalingConfig, SplineCalibration, SplineCalibrationConfig,
    VennAbers, VennAbersConfig, VennAbersInterval,
};
pub use scale::ScaleFamily;
pub use shift::{LogitShift, LogitShiftConfig};
pub use task::FitTask;
pub use temperature::{TemperatureScaling, TemperatureScalingConfig};
pub use variance::{VarianceScaling, VarianceScalingConfig};
pub use warning::{ClassCount, FitWarning};

/// An error unless there are as many as are needed.
fn at_least(least: usize, name: &'static str, count: usize, expected: &'static str) -> Result<()> {
    check_parameter(count >= least, name, count as f64, expected)
}
