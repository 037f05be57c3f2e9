//! Estimators of calibration errors.
//!
//! An estimator is a small value. [`Skce`] and [`Mmce`] have two ways in:
//!
//! - `value(probabilities, labels)`: a differentiable tensor of shape `[1]` in the dtype of the
//!   input, for training; it asserts shapes and reads nothing back from the device;
//! - `estimate(&predictions, &labels)`: a number for data, which checks the data first.
//!
//! Both go through one definition of the pair statistic `h`, so that training and testing cannot
//! disagree.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::{distribution::Categorical, estimator::Skce, kernel::{Bandwidth, Kernel}};
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

mod ece;
mod mmce;
pub(crate) mod pair;
mod skce;

pub use ece::Ece;
pub use mmce::{Mmce, MmceForm};
pub(crate) use skce::block_values;
pub use skce::{Skce, SkceForm};
