//! Estimators of calibration errors.
//!
//! | estimator | of | compares | bias for a calibrated model |
//! | --- | --- | --- | --- |
//! | [`Skce`] | the whole prediction, or any [lens](crate::distribution) on it | pairs of samples, by a kernel | none, or upward |
//! | [`Ucme`] | the same | samples with test locations, by a kernel | upward |
//! | [`Mmce`] | the top label | pairs of samples, by a kernel | none, or upward |
//! | [`Ece`], [`Mce`] | the whole prediction or one event | means within bins | upward |
//! | [`Tce`], [`Cwce`] | one event, each class | means within bins | none, or upward |
//! | [`KolmogorovSmirnov`] | one event | cumulative means | upward |
//! | [`SmoothEce`] | one event | smoothed means | upward |
//! | [`Ici`], with E50, E90 and Emax | one event | the isotonic regression | upward |
//! | [`LpCalibrationError`](crate::recalibration::LpCalibrationError) | the whole prediction or one event | cross-fitted maps | none, or downward |
//!
//! Predictions over `ℝ^d` have the SKCE and the UCME too. [`regression`] has the usual quantities of
//! regression.
//!
//! [`Accuracy`] is here too. In an *event*, the most likely class, or a given class, is the right one
//! ([`Event`]).
//!
//! An estimator is a small value that implements [`Estimator`]. Results with a sampling error have the
//! field `estimate` and the method `interval(level)`, which returns an [`Interval`]: see [`MeanEstimate`]
//! and [`Quantify`](crate::score::Quantify). [`Skce`], [`Ucme`] and [`Mmce`] have two functions:
//!
//! - `estimate(&predictions, &targets)`: a number for data, which checks the data first;
//! - `value(&predictions, &targets)`: a differentiable tensor of shape `[1]` in the dtype of the
//!   predictions, for training; it asserts shapes and reads nothing back from the device.
//!
//! Both use one definition (for the SKCE the pair statistic `h`), so training and testing cannot disagree.
//! The other estimators are not usefully differentiable, and have only `estimate`.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::{distribution::Categorical, estimator::{Estimator, Skce}, kernel::{Bandwidth, Kernel}};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! let rows = Tensor::<2>::from_floats([[1.0, 0.0], [0.0, 1.0]], &device);
//! let labels = Tensor::<1, Int>::from_ints([1, 0], &device);
//! let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(1.0));
//! let estimate = Skce::unbiased(kernel).estimate(&Categorical::from_probabilities(rows)?, &labels)?;
//! assert!((estimate - -2.0 * (-1.0f64).exp()).abs() < 1e-6); // an unbiased estimate can be negative
//! # Ok(())
//! # }
//! ```

mod accuracy;
mod binning;
mod block_values;
mod cwce;
mod ece;
mod estimate;
mod event;
mod ici;
mod joint;
mod kolmogorov_smirnov;
mod mean;
mod mmce;
mod null_skewness;
mod null_variance;
mod pairs;
mod pool;
pub mod regression;
mod road;
mod skce;
mod smooth_ece;
pub(crate) mod student;
mod tce;
mod ucme;

pub use accuracy::Accuracy;
pub use binning::{Bin, Binning, equal_width_bin};
pub use block_values::{block_values, pair_weight};
pub use cwce::{ClassWeight, Cwce};
pub use ece::{Aspect, Discrepancy, Ece, Mce};
pub(crate) use ece::{Gap, VectorBins};
pub use estimate::Estimator;
pub use event::{Event, Outcomes};
pub use ici::{Ici, IciErrors};
pub use joint::JointKernel;
pub use kolmogorov_smirnov::KolmogorovSmirnov;
pub(crate) use mean::{ASYMPTOTIC_FLOOR, check_level, differences};
pub use mean::{Interval, MeanEstimate};
pub use mmce::{Mmce, MmceForm};
pub use null_skewness::null_skewness;
pub(crate) use null_variance::deviation as null_deviation;
pub use null_variance::null_variance;
pub use pairs::PairMatrix;
pub(crate) use pool::{Block, ScoredSample, pool};
pub(crate) use road::normal_samples;
pub(crate) use skce::weights_of_kept;
pub use skce::{Skce, SkceForm};
pub use smooth_ece::SmoothEce;
pub(crate) use tce::check_order;
pub use tce::{EventBin, Tce, TceForm};
pub use ucme::Ucme;
