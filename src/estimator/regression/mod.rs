//! The usual quantities of regression: calibration of predictions of vectors in `ℝ^d`, one coordinate at a
//! time.
//!
//! | quantity | of | compares |
//! | --- | --- | --- |
//! | [`Pit`], [`PitHistogram`] | the distribution function at the target | with the uniform distribution |
//! | [`QuantileCalibration`] | quantiles | levels with observed frequencies |
//! | [`IntervalCoverage`] | central prediction intervals | levels with coverage; and their width |
//! | [`Pinball`] | quantiles | with the targets, a proper score |
//! | [`QuantileCoverage`] | quantiles that are all that is known | levels with coverage, and a p-value |
//! | [`Ence`] | standard deviations | with errors, among samples of similar standard deviation |
//! | [`Sharpness`] | the predictions alone | nothing: how certain they are |
//!
//! All take `n` predictions of dimension `d` and targets `[n, d]`. [`QuantileCalibration`],
//! [`IntervalCoverage`], [`Pinball`] and [`Ence`] have exact tests:
//! `ExactTest::new(IntervalCoverage::new(0.9))`. Invalid parameters or targets, and different numbers or
//! dimensions of predictions and targets, are errors.
//!
//! All but [`Ence`] are averages over all predictions. They measure *probabilistic calibration*, which a
//! model that ignores its input can have. For calibration of the whole prediction use
//! [`Skce`](crate::estimator::Skce), for every kind of prediction.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration::{distribution::Normal, estimator::regression::QuantileCalibration};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! let targets = Tensor::<2>::from_floats([[-1.0], [-0.1], [0.2], [0.9]], &device);
//! let predictions = Normal::new(targets.zeros_like(), targets.ones_like());
//! let curve = QuantileCalibration::new(vec![0.5])?.curve(&predictions, &targets)?;
//! assert_eq!(curve.points[0].frequency, 0.5); // half of the targets are below the medians
//! # Ok(())
//! # }
//! ```

mod checks;
mod ence;
mod interval;
mod levels;
mod pinball;
mod pit;
mod quantile;
mod sharpness;

pub use ence::{Ence, VarianceBin};
pub use interval::IntervalCoverage;
pub use levels::QuantileCoverage;
pub(crate) use levels::Region;
pub use pinball::{Pinball, pinball};
pub(crate) use pit::uniform_distances;
pub use pit::{Pit, PitHistogram, Uniformity};
pub use quantile::{QuantileCalibration, QuantileCurve, QuantilePoint};
pub use sharpness::Sharpness;
