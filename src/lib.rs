//! Calibration for models built with [Burn](https://burn.dev): **train** with a differentiable calibration
//! penalty, **recalibrate** a trained model, **test** whether a model is calibrated, with an exact p-value.
//! It works on the same tensors, on CPU or GPU.
//!
//! A model is calibrated if the labels of all inputs for which it predicts the distribution `p` are
//! distributed as `p`.
//!
//! New users begin with the [`guide`]. Its first page goes from `cargo new` to a p-value. The other pages
//! help to choose a loss, a map and a test.
//!
//! ```
//! use burn::{nn::loss::CrossEntropyLossConfig, tensor::{Device, Int, Tensor}};
//! use burn_calibration::prelude::*;
//! use rand::{SeedableRng, rngs::StdRng};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! # let device = Device::default();
//! # let logits = Tensor::<2>::from_floats([[3.0, 0.0]; 20], &device);
//! # let inputs = logits.clone();
//! # let labels = Tensor::<1, Int>::arange(0..20, &device).remainder_scalar(2);
//! # let (validation_logits, test_logits) = (logits.clone(), logits.clone());
//! # let (validation_labels, test_labels) = (labels.clone(), labels.clone());
//! # let step = 0;
//! // train: cross-entropy, plus a penalty on errors that similar inputs have in common
//! let loss = PenalisedLoss::new(
//!     CrossEntropyLossConfig::new().init(&device),       // uses the predictions only
//!     SkceLoss::new(Skce::unbiased(Kernel::gaussian())), // compares the inputs
//!     WeightSchedule::WarmUp { weight: 100.0, steps: 1000 },
//! );
//! let value = loss.forward(&Given::logits(logits, inputs), &labels, step); // Tensor<1>
//!
//! // recalibrate: fit a map on held-out logits
//! let map = TemperatureScalingConfig::new().fit(validation_logits, validation_labels)?;
//! let calibrated = map.forward(test_logits.clone()); // logits in, logits out
//!
//! // test: is the model calibrated? If not, where does it fail, and by how much?
//! let predictions = Categorical::from_logits(test_logits)?;
//! let mut rng = StdRng::seed_from_u64(0);
//! let outcome = OmnibusTest::new().outcome(&predictions, &test_labels, &mut rng)?;
//! assert_eq!(outcome.p_value, 0.001);
//! assert!(outcome.to_string().contains("overconfident by 45.3 points (adjusted p ≤ 0.001)"));
//! let interval = Overconfidence::default().size(&predictions, &test_labels)?.interval(0.95)?;
//! assert!(interval.lower > 0.2);
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! | module | content |
//! | --- | --- |
//! | [`guide`] | how to choose the parts and use them together |
//! | [`distribution`] | predictions: classes and lenses on them, normal and Laplace distributions, mixtures, samples, quantiles |
//! | [`kernel`] | kernels on predictions (distance, profile, bandwidth), on targets, and their tensor products |
//! | [`estimator`] | calibration errors: SKCE, MMCE, UCME, the ECE and its variants, errors of regression |
//! | [`score`] | proper scores and their upper bounds, the gain of a recalibration, the CORP decomposition; sizes of errors with confidence intervals |
//! | [`loss`] | Burn modules for training: penalties, proper scores, the penalised loss |
//! | [`recalibration`] | fitted maps of logits and of predictive distributions |
//! | [`hypothesis`] | tests of calibration with p-values: the omnibus test and all others |
//! | `metric` | metrics of whole epochs for Burn's trainer (feature `train`) |
//! | [`monitor`] | tests and alarms for a model in production, valid at every moment |
//! | [`diagram`] | reliability, PIT and quantile diagrams, as numbers |
//! | [`names`], [`numbers`], [`mod@file`] | names of quantities, formatting of numbers, writing of whole files |
//! | [`ops`] | operations with their own backward pass |
//! | [`error`] | errors of data |
//!
//! # Notation
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `n`, `m` | number of samples, number of classes; rows and classes count from 0 |
//! | `z_i`, `p_i` | logits and probabilities of sample `i`, `p_i = softmax(z_i)` |
//! | `y_i`, `e_y` | label of sample `i`, unit vector of class `y` |
//! | `δ_i` | residual `e_{y_i} − p_i` |
//! | `r_i`, `c_i` | confidence `max_c p_ic`, correctness `1[argmax p_i = y_i]` |
//! | `k`, `ν` | kernel on predictions, its bandwidth |
//! | `h_ij` | pair statistic `k(p_i, p_j) · δ_iᵀ δ_j` |
//! | `P_i`, `d` | any predictive distribution of sample `i`; dimension of targets of `ℝ^d` |
//! | `k_P`, `k_Y` | kernels on predictions and on targets, `k_P ⊗ k_Y` their tensor product |
//!
//! # Features
//!
//! - `train` adds `metric` and Burn's trainer, without its dashboard (feature `tui` of Burn).
//! - `remote` lets the operations run on devices of other machines, and `remote-server` adds the server and
//!   the client by WebSocket.
//! - `flex` (default), `ndarray`, `wgpu`, `cuda` and `cubecl-cpu` compile this library and Burn for a backend.
//!   Burn's `Device` chooses one of these at run time. With a backend that is enabled only in Burn,
//!   [`ops::pairwise_distance`] panics.
//!
//! # Other crates
//!
//! | crate | content |
//! | --- | --- |
//! | `burn-calibration-report` | pictures of the diagrams, and a page of HTML |
//! | `burn-calibration-accumulator` | estimates of predictions in pieces, from sums that merge in any order |
//! | `burn-calibration-export` | formulas and ONNX models of fitted maps |
//! | `burn-calibration-cli` | the command `calibration`; for programs, a reader of NPY, safetensors, CSV and other files |

#![warn(missing_docs)]

/// The crate of the generators that tests and draws take: a program needs no version of its own. Seeds of this library
/// are of ChaCha12, its [`StdRng`](rand::rngs::StdRng).
pub use rand;

pub mod diagram;
pub mod distribution;
pub mod error;
pub mod estimator;
pub mod file;
pub mod guide;
mod host;
pub mod hypothesis;
pub mod kernel;
mod logistic;
pub mod loss;
#[cfg(feature = "train")]
pub mod metric;
pub mod monitor;
pub mod names;
pub mod numbers;
pub mod ops;
mod parallel;
mod radial;
pub mod recalibration;
mod root;
pub mod score;
mod tiles;

/// The names that README and most programs use: predictions, kernels, estimators, scores, losses, tests, the common
/// maps, and the traits of their methods. Other maps, and types of results, are in the modules. So is
/// [`Normal`](crate::distribution::Normal), since `rand_distr` has that name too. With the feature `train` the prelude
/// also has the metrics of the trainer.
pub mod prelude {
    #[cfg(feature = "train")]
    pub use crate::metric::EpochMetric;
    pub use crate::{
        diagram::Reliability,
        distribution::{
            Categorical, Given, Laplace, Mixture, Predictive, QuantileForecasts, Samples, Weighted,
        },
        estimator::{Accuracy, Cwce, Ece, Estimator, Event, Mmce, Skce, Tce},
        hypothesis::{
            CalibrationTest, ExactTest, GivenTest, Group, GroupTest, OmnibusTest, ToleranceTest,
        },
        kernel::{Bandwidth, Kernel, RealKernel, TensorKernel},
        loss::{
            Criterion, FocalLossConfig, MmceLossConfig, PenalisedLoss, ScoreLoss, SkceLoss,
            SkceLossConfig, StepCounter, WeightSchedule,
        },
        monitor::CalibrationMonitor,
        recalibration::{
            AutoRecalibrationConfig, Fit, FittedMap, IsotonicRegressionConfig, PlattScalingConfig,
            Recalibration, RefinementError, TemperatureScalingConfig, VarianceScalingConfig,
            load_map,
        },
        score::{Brier, Crps, LogScore, ObservedExpected, Overconfidence, Quantify, Score},
    };
}
