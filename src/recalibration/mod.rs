//! Recalibration: maps fitted on held-out logits that make a trained model better calibrated.
//!
//! An unfitted configuration fits a map, `fit(logits, labels)`; the fitted map is a Burn module
//! that takes logits and gives logits, and is saved and loaded like any other.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::recalibration::{FitStatus, TemperatureScalingConfig};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! // confident in class 0, but right only three times out of four
//! let logits = Tensor::<2>::from_floats([[5.0, 0.0]; 4], &device);
//! let labels = Tensor::<1, Int>::from_ints([0, 0, 0, 1], &device);
//! let map = TemperatureScalingConfig::new().fit(logits.clone(), labels)?;
//! assert!((map.temperature() - 5.0 / 3.0f64.ln()).abs() < 1e-9);
//! assert_eq!(map.report().unwrap().status, FitStatus::Converged);
//! let calibrated = map.forward(logits); // softmax gives (3/4, 1/4)
//! # Ok(())
//! # }
//! ```

mod report;
mod solver;
mod temperature;

pub use report::{FitReport, FitStatus};
pub use temperature::{TemperatureScaling, TemperatureScalingConfig};
