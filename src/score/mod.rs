//! Proper scores, the upper bounds they give for calibration errors, and what a recalibration gains.
//!
//! A proper score is written as a loss, lower is better. Its mean over data bounds the proper
//! calibration error from above (Gruber, Buettner: *Better uncertainty calibration via proper
//! scores for classification and beyond*, 2022), without bias at any sample size.
//!
//! | question | answer | of |
//! | --- | --- | --- |
//! | how miscalibrated at most? | [`ProperScore::upper_bound`] | one set of predictions |
//! | what did a recalibration gain? | [`ProperScore::improvement`], [`Skce::improvement`](crate::estimator::Skce::improvement) | two, before and after |
//! | how much of the score is miscalibration? | [`ProperScore::decomposition`] | predictions that repeat |
//! | | [`ProperScore::refinement`] | any predictions, and a way to recalibrate |
//!
//! All but the decomposition, which is an identity of the data, come with standard errors and
//! confidence intervals ([`MeanEstimate`]).
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

mod decomposition;
mod improvement;
mod mean;
mod proper;
mod refinement;
mod skce_improvement;
mod student;

pub use decomposition::Decomposition;
pub use improvement::Improvement;
pub use mean::MeanEstimate;
pub use proper::ProperScore;
pub use refinement::Refinement;
pub use skce_improvement::SkceImprovement;
