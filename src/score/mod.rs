//! Proper scores, their upper bounds of calibration errors, and the gain of a recalibration.
//!
//! A proper score is a loss here: lower is better. Its mean over data bounds the proper calibration error
//! from above (Gruber and Buettner 2022), without bias at any sample size.
//!
//! | question | answer | data |
//! | --- | --- | --- |
//! | how miscalibrated at most? | [`Score::upper_bound`] | one set of predictions |
//! | how miscalibrated at least? | [`LpBound`] | classes or an event, and recalibrated predictions |
//! | how much did a recalibration gain? | [`Score::improvement`], [`Skce::improvement`](crate::estimator::Skce::improvement) | predictions before and after |
//! | how much of the score is miscalibration? | [`Corp`] | one event, by isotonic regression |
//!
//! | score | predictions | upper bound |
//! | --- | --- | --- |
//! | [`Brier`], [`Spherical`] | classes | yes |
//! | [`RankedProbabilityScore`] | classes in an order | yes |
//! | [`LogScore`] | classes, densities | for classes; the entropy of densities is unbounded |
//! | [`Crps`] | normal, Laplace, their mixtures, samples | yes |
//! | [`WeightedIntervalScore`], [`QuantileScore`] | quantile forecasts | yes |
//!
//! [`FairCrps`] scores the distribution that samples are from.
//!
//! All but the decomposition, which is an identity of the data, come with standard errors ([`MeanEstimate`]) and
//! confidence intervals ([`Score::interval`]).
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::{distribution::Categorical, score::{Brier, Score}};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! let rows = Tensor::<2>::from_floats([[0.8, 0.2], [0.5, 0.5]], &device);
//! let labels = Tensor::<1, Int>::from_ints([0, 1], &device);
//! let bound = Brier.upper_bound(&Categorical::from_probabilities(rows)?, &labels)?;
//! assert!((bound.estimate - (0.08 + 0.5) / 2.0).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```

mod bounded_mean;
mod classes;
mod corp;
mod crps;
mod error_size;
mod improvement;
mod interval_score;
mod log_score;
mod lp_bound;
mod observed_expected;
mod proper_score;
mod ranked_probability;
mod size;
mod skce_improvement;

pub use crate::estimator::{Interval, MeanEstimate};
pub use bounded_mean::BoundedMean;
pub use classes::{Brier, Divergence, Spherical};
pub use corp::Corp;
pub use crps::{Crps, FairCrps};
pub use error_size::ErrorSize;
pub(crate) use error_size::{clopper_pearson, lower_tail as binomial_lower_tail};
pub use improvement::{Improvement, Scored};
pub use interval_score::{IntervalScoreParts, QuantileScore, WeightedIntervalScore};
pub use log_score::LogScore;
pub use lp_bound::LpBound;
pub use observed_expected::ObservedExpected;
pub use proper_score::Score;
pub use ranked_probability::RankedProbabilityScore;
pub use size::{IntervalOverconfidence, Overconfidence, Quantify};
