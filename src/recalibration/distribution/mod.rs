//! Recalibration of predictive distributions over real vectors: maps fitted on held-out predictions and
//! targets.
//!
//! | map | | mean | injective | freedom |
//! | --- | --- | --- | --- | --- |
//! | [`DistributionTemperature`] | `f ↦ f^{1/T}`, normalised | kept | yes | 1 |
//! | [`VarianceScaling`] | `σ_c ↦ s_c σ_c` | kept | yes | 1 or `d` |
//! | [`QuantileRecalibration`] | `F_c ↦ R_c ∘ F_c` | no | yes, but for rounding | a curve for each coordinate |
//!
//! The first two stay within the family of the predictions; the third gives distribution functions and
//! quantiles, and samples for the kernels.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration::distribution::Normal;
//! use burn_calibration::recalibration::DistributionTemperatureConfig;
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! let standard = Normal::new(Tensor::zeros([4, 1], &device), Tensor::ones([4, 1], &device));
//! let targets = Tensor::<2>::from_floats([[2.0], [-2.0], [1.0], [-1.0]], &device);
//! let map = DistributionTemperatureConfig::new().fit(&standard, &targets)?;
//! assert!((map.temperature() - 2.5).abs() < 1e-12); // the mean of z²
//! let wider = map.forward(&standard);
//! # Ok(())
//! # }
//! ```

mod curve;
mod exponential;
mod file;
mod quantile;
mod recalibrated;
mod scale;
mod temperature;
mod tempered;
mod variance;

pub(super) use file::is_of_distributions;
pub use quantile::{QuantileRecalibration, QuantileRecalibrationConfig};
pub use recalibrated::QuantileRecalibrated;
pub use scale::ScaleFamily;
pub use temperature::{DistributionTemperature, DistributionTemperatureConfig};
pub use tempered::{LogScore, Tempered};
pub use variance::{VarianceScaling, VarianceScalingConfig};
