//! Predictive distributions, and lenses on them.
//!
//! A [`Categorical`] holds checked class probabilities. Separate functions build it from logits and from
//! probabilities; nothing is guessed. A *lens* turns predictions and labels into simpler ones: the
//! confidence in the most likely class ([`Categorical::top_label`]), one class against the rest
//! ([`Categorical::class_wise`]), the largest probabilities ([`Categorical::top_k`]) or groups of classes
//! ([`Categorical::grouped`]). Every estimator and test applies to the result.
//!
//! Predictions of real vectors are [`Normal`], [`Laplace`], a [`Mixture`] of either, such as an ensemble,
//! or Monte Carlo [`Samples`] of any distribution. All are [`Predictive`], and have the same estimators,
//! losses and tests.
//!
//! Forecasts that are quantiles at some levels are [`QuantileForecasts`].
//!
//! For other families kernels take [`Samples`].
//!
//! Samples can have weights, see [`Weighted::weighted`].
//!
//! Any predictions can be [`Given`] a variable (a feature, an embedding or a group), to ask for calibration
//! given this variable.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::distribution::{Categorical, Predictive};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! let logits = Tensor::<2>::from_floats([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &device);
//! let labels = Tensor::<1, Int>::from_ints([0, 2], &device);
//! let predictions = Categorical::from_logits(logits)?;
//! assert_eq!((predictions.len(), predictions.classes()), (2, 3));
//!
//! // the confidence in the most likely class, and whether it was right
//! let (confidence, correct) = predictions.top_label(&labels)?;
//! assert_eq!(confidence.classes(), 2);
//! assert_eq!(correct.try_into_vec_as::<i64>().unwrap(), [1, 0]);
//! # Ok(())
//! # }
//! ```

mod absolute_moments;
mod batch;
mod categorical;
mod class_rows;
mod density;
mod geometry;
mod given;
mod laplace;
mod lens;
mod location_scale;
mod mixture;
mod mixture_marginals;
mod normal;
mod predictive;
mod quantile_forecasts;
mod redrawn;
mod redraws;
mod samples;
mod subject;
mod targets;
mod weights;

pub use absolute_moments::AbsoluteMoments;
pub use batch::Batch;
pub use categorical::{Categorical, residuals};
pub(crate) use categorical::{hits, observed};
pub(crate) use class_rows::{ClassRows, most_likely, most_likely_on_device};
pub(crate) use density::central;
pub use density::{Density, HostMarginals, Marginals, Moments, Tails};
pub use geometry::Geometry;
pub use given::Given;
pub use laplace::{Laplace, LaplaceFamily};
pub(crate) use lens::{check_column, check_ranks};
pub use location_scale::{Family, LocationScale};
pub use mixture::{Component, Mixture};
pub(crate) use normal::upper_normal_quantile;
pub use normal::{Normal, NormalFamily};
pub(crate) use predictive::in_batches;
pub use predictive::{DrawnBy, Predictive, Sampler};
pub use quantile_forecasts::QuantileForecasts;
pub(crate) use quantile_forecasts::central_intervals;
pub(crate) use redrawn::Flip;
pub use redrawn::{Draw, LabelSets, Redrawer, Redrawn, RedrawnBy};
pub use redraws::{Halves, Redraws};
pub use samples::Samples;
pub use subject::Subject;
pub use targets::Targets;
pub(crate) use weights::weights_refused;
pub use weights::{Weighted, Weights};
