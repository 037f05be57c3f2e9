//! Metrics of whole epochs for Burn's trainer (feature `train`).
//!
//! The calibration error of an epoch is not the mean over its batches: a batch of 100 leaves most bins of
//! an ECE empty, and its estimates are noise. [`EpochMetric`] keeps the outputs of the model and computes
//! any [`Quantity`] of all of them when the epoch ends, by the same estimators as on data: whatever the
//! batch size, the value is that of [`estimate`](crate::estimator::Estimator::estimate) on the epoch's
//! predictions, bit for bit.
//!
//! | quantity | value | better |
//! | --- | --- | --- |
//! | [`Ece`](crate::estimator::Ece), [`Mce`](crate::estimator::Mce), [`Tce`](crate::estimator::Tce) | binned errors of the top label, an event or the whole prediction | lower |
//! | [`Cwce`](crate::estimator::Cwce) | the class-wise error | lower |
//! | [`KolmogorovSmirnov`](crate::estimator::KolmogorovSmirnov), [`SmoothEce`](crate::estimator::SmoothEce) | errors without bins | lower |
//! | [`Skce`](crate::estimator::Skce), with any kernel | the squared kernel calibration error | lower |
//! | [`Mmce`](crate::estimator::Mmce) | the squared maximum mean calibration error | lower |
//! | [`Brier`](crate::score::Brier), [`LogScore`](crate::score::LogScore), [`Spherical`](crate::score::Spherical) | mean Brier score, log loss or spherical score, upper bounds of the proper calibration errors | lower |
//! | [`RefinementError`](crate::recalibration::RefinementError) | the log loss after the best temperature, by which to stop where one is fitted later | lower |
//! | [`Accuracy`](crate::estimator::Accuracy) | the share of right top labels | higher |
//! | [`PValue`] of the [`OmnibusTest`](crate::hypothesis::OmnibusTest) or any [`CalibrationTest`](crate::hypothesis::CalibrationTest) | the evidence against calibration | higher |
//!
//! ```
//! use burn::data::dataloader::Progress;
//! use burn::tensor::{Device, Int, Tensor};
//! use burn::train::metric::{Adaptor, Metric, MetricMetadata, Numeric};
//! use burn::train::ClassificationOutput;
//! use burn_calibration::metric::EpochMetric;
//! use burn_calibration::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // the trainer does this with the outputs of each batch
//! let device = Device::default();
//! let mut metric = EpochMetric::from_probabilities(Ece::default());
//! let metadata = MetricMetadata { progress: Progress::new(0, 2, None), iteration: None, lr: None };
//! for label in [0, 1] {
//!     let output = ClassificationOutput {
//!         loss: Tensor::zeros([1], &device),
//!         output: Tensor::from_floats([[0.75, 0.25]], &device),
//!         targets: Tensor::<1, Int>::from_ints([label], &device),
//!     };
//!     metric.update(&output.adapt(), &metadata)?;
//!     assert!(metric.value().is_none()); // not yet
//! }
//! metric.compute()?;
//! // 75 % sure, right half of the time; the mean over the two batches would be 50 %
//! assert_eq!(metric.final_value().current(), 0.25);
//! # Ok(())
//! # }
//! ```
//!
//! In training, register them as numeric metrics of the validation data. Give the metric that decides when
//! to stop to the strategy too, which knows it by its name. In this example it is the refinement error, since
//! a temperature will be fitted to the same data after the training:
//!
//! ```no_run
//! use burn::train::metric::store::{Aggregate, Direction, Split};
//! use burn::train::{
//!     LearnerModel, LearningResult, Learner, MetricEarlyStoppingStrategy, StoppingCondition,
//!     ClassificationOutput, InferenceStep, SupervisedTraining, TrainStep,
//! };
//! use burn_calibration::metric::{EpochMetric, PValue};
//! use burn_calibration::prelude::*;
//! use burn_calibration::recalibration::RefinementError;
//!
//! fn train<M>(training: SupervisedTraining<M>, learner: Learner<M>) -> LearningResult<M>
//! where
//!     M: LearnerModel + TrainStep<Output = ClassificationOutput> + InferenceStep<Output = ClassificationOutput>,
//! {
//!     let refinement = EpochMetric::from_logits(RefinementError);
//!     training
//!         .early_stopping(MetricEarlyStoppingStrategy::new(
//!             &refinement,
//!             Aggregate::Mean, // of one value
//!             Direction::Lowest,
//!             Split::Valid,
//!             StoppingCondition::NoImprovementSince { n_epochs: 5 },
//!         ))
//!         .metric_valid_numeric(refinement)
//!         .metric_valid_numeric(EpochMetric::from_logits(LogScore))
//!         .metric_valid_numeric(EpochMetric::from_logits(Ece::default()))
//!         .metric_valid_numeric(EpochMetric::from_logits(Skce::unbiased(Kernel::exponential())))
//!         .metric_valid_numeric(EpochMetric::from_logits(PValue::omnibus(0)))
//!         .launch(learner)
//! }
//! ```
//!
//! Burn's dashboard comes with the feature `tui` of Burn itself; without it the values are in the
//! metric files (`valid/epoch-1/Log_loss.log` and so on) and in the summary.

mod epoch;
mod p_value;
mod quantity;

pub use epoch::{CalibrationInput, EpochMetric};
pub use p_value::PValue;
pub use quantity::Quantity;
