//! Losses for training, as Burn modules: configuration, `init`, `forward`.
//!
//! Each takes logits, as Burn's cross-entropy does, or probabilities through its
//! `forward_from_probabilities`, gives a tensor of shape `[1]`, and reads nothing back from the
//! device. [`PenalisedLoss`] adds a calibration penalty to a base loss.
//!
//! For predictions over real vectors, [`ScoreLoss`] takes any [`Score`](crate::score::Score), and
//! [`PinballLoss`] predicted quantiles.
//!
//! ```
//! use burn::nn::loss::CrossEntropyLossConfig;
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::loss::{PenalisedLoss, SkceLossConfig, WeightSchedule};
//!
//! let device = Device::default().autodiff();
//! let logits = Tensor::<2>::from_floats([[2.0, 0.1], [0.3, 1.0], [0.2, 0.1]], &device).require_grad();
//! let labels = Tensor::<1, Int>::from_ints([0, 1, 1], &device);
//!
//! let loss = PenalisedLoss::new(
//!     CrossEntropyLossConfig::new().init(&device),
//!     SkceLossConfig::new().init(), // exponential over total variation, median bandwidth, unbiased
//!     WeightSchedule::WarmUp { weight: 4.0, steps: 100 },
//! );
//! let step = 50;
//! let gradients = loss.forward(logits.clone(), labels, step).backward();
//! assert!(logits.grad(&gradients).is_some());
//! ```

mod brier;
mod criterion;
mod focal;
mod log;
mod mmce;
mod penalised;
mod pinball;
mod real_skce;
mod schedule;
mod score;
mod skce;
mod spherical;
mod step_counter;

pub use brier::{BrierLoss, BrierLossConfig};
pub use criterion::Criterion;
pub use focal::{FocalLoss, FocalLossConfig};
pub use log::{LogLoss, LogLossConfig};
pub use mmce::{MmceLoss, MmceLossConfig};
pub use penalised::{PenalisedLoss, PenalisedTerms};
pub use pinball::{PinballLoss, PinballLossConfig};
pub use real_skce::{RealSkceLoss, RealSkceLossConfig};
pub use schedule::WeightSchedule;
pub use score::ScoreLoss;
pub use skce::{SkceLoss, SkceLossConfig};
pub use spherical::{SphericalLoss, SphericalLossConfig};
pub use step_counter::StepCounter;
