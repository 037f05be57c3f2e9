//! Proper scores and the upper bounds they give for calibration errors.
//!
//! A proper score is written as a loss, lower is better. Its mean over data bounds the proper
//! calibration error from above (Gruber, Buettner: *Better uncertainty calibration via proper
//! scores for classification and beyond*, 2022), without bias at any sample size.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::{distribution::Categorical, score::ProperScore};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! let rows = Tensor::<2>::from_floats([[0.8, 0.2], [0.5, 0.5]], &device);
//! let labels = Tensor::<1, Int>::from_ints([0, 1], &device);
//! let bound = ProperScore::Brier.upper_bound(&Categorical::from_probabilities(rows)?, &labels)?;
//! assert!((bound.estimate - (0.08 + 0.5) / 2.0).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```

mod mean;
mod proper;

pub use mean::MeanEstimate;
pub use proper::ProperScore;
