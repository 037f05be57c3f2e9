//! Losses for training, as Burn modules: configuration, `init`, `forward`.
//!
//! Each takes logits and labels, as Burn's cross-entropy does, or predictions of any kind and their targets
//! ([`Input`]), gives a tensor of shape `[1]`, and reads nothing back from the device. [`PenalisedLoss`]
//! adds a calibration penalty to a base loss. A penalty given inputs or groups is [`SkceLoss`] of
//! predictions that are [`Given`](crate::distribution::Given) them; the base loss is of the predictions
//! alone. To choose one, see [`guide::which_loss`](crate::guide::which_loss).
//!
//! | loss | predictions |
//! | --- | --- |
//! | [`SkceLoss`]: the square, its root or a z-score, see [`SkceScale`] | predictions of any kind |
//! | [`LensLoss`]: a criterion of the confidence, of a class, of the top `k` | classes |
//! | [`MmceLoss`], [`FocalLoss`] | classes |
//! | [`ScoreLoss`] | those of its [`Score`](crate::score::Score): Brier, log, spherical, CRPS and others |
//! | [`PinballLoss`] | predicted quantiles |
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
//!     SkceLossConfig::standardised().init(), // the SKCE as a z-score
//!     WeightSchedule::WarmUp { weight: 0.1, steps: 100 },
//! );
//! let step = 50;
//! let gradients = loss.forward(logits.clone(), labels, step).backward();
//! assert!(logits.grad(&gradients).is_some());
//! ```

mod criterion;
mod focal;
mod input;
mod lens;
mod mmce;
mod penalised;
mod pinball;
mod schedule;
mod score;
mod skce;
mod step_counter;

pub use criterion::Criterion;
pub use focal::{FocalLoss, FocalLossConfig};
pub use input::{Input, Probabilities};
pub use lens::{Lens, LensLoss};
pub use mmce::{MmceLoss, MmceLossConfig};
pub use penalised::{PenalisedLoss, PenalisedTerms};
pub use pinball::{PinballLoss, PinballLossConfig};
pub use schedule::WeightSchedule;
pub use score::ScoreLoss;
pub use skce::{SkceLoss, SkceLossConfig, SkceScale};
pub use step_counter::StepCounter;
