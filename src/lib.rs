//! Calibration for models built with [Burn](https://burn.dev): **train** with a differentiable
//! calibration penalty, **recalibrate** a trained model, **test** whether a model is calibrated, with
//! p-values — on the same tensors, on CPU or GPU.
//!
//! A model is calibrated if among all inputs for which it predicts the distribution `p`, the labels
//! are distributed as `p`.
//!
//! New here? Begin with the [`guide`]: its first page goes from `cargo new` to a p-value, the others say
//! which loss, map and test to take.
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
//! // train: cross-entropy, and a penalty on what is wrong on average among similar inputs
//! let loss = PenalisedLoss::new(
//!     CrossEntropyLossConfig::new().init(&device),
//!     SkceLoss::new(Skce::unbiased(Kernel::gaussian())), // compares the inputs
//!     WeightSchedule::WarmUp { weight: 4.0, steps: 1000 },
//! );
//! let value = loss.forward(&Given::logits(logits, inputs), &labels, step); // Tensor<1>
//!
//! // recalibrate: fit a map on held-out logits
//! let map = TemperatureScalingConfig::new().fit(validation_logits, validation_labels)?;
//! let calibrated = map.forward(test_logits.clone()); // logits in, logits out
//!
//! // test: is the model calibrated, and if not, where does it fail, and by how much?
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
//! # Map
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`guide`] | which parts to take, and how they go together |
//! | [`distribution`] | what a model predicts: classes with lenses on them, normal, Laplace, mixtures, samples; models with known errors |
//! | [`kernel`] | kernels on predictions (distance, profile, bandwidth), on targets, and their tensor products |
//! | [`estimator`] | calibration errors: SKCE, MMCE, UCME, the classical ones (ECE and its kin), those of regression |
//! | [`score`] | proper scores: upper bounds, what a recalibration gains, the CORP decomposition; how large an error is, with confidence intervals |
//! | [`loss`] | Burn modules for training: penalties, proper scores, the penalised loss |
//! | [`recalibration`] | fitted maps of logits and of predictive distributions |
//! | [`hypothesis`] | is a model calibrated: the omnibus test, and every other calibration test with p-values |
//! | `metric` | values of whole epochs as metrics of Burn's trainer (feature `train`) |
//! | [`diagram`] | reliability, PIT and quantile diagrams, as numbers |
//! | [`names`], [`numbers`], [`mod@file`] | names of quantities, digits of numbers, files that are written whole |
//! | [`ops`] | operations with their own backward pass |
//! | [`error`] | what data can get wrong |
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
//! `train` adds `metric` and Burn's trainer, without its dashboard (feature `tui` of Burn). `remote` lets
//! the operations here run on devices of other machines, and `remote-server` adds what serves and reaches
//! them by WebSocket. `flex` (default), `ndarray`, `wgpu`, `cuda` and `cubecl-cpu` compile this library and
//! Burn for a backend; which one runs is chosen at run time through Burn's `Device`. A backend that is
//! enabled in Burn alone panics in [`ops::pairwise_distance`].
//!
//! # Beside it
//!
//! | crate | what is in it |
//! | --- | --- |
//! | `burn-calibration-report` | pictures of the diagrams, and a page of HTML |
//! | `burn-calibration-accumulator` | estimates of predictions in pieces: sums that are saved and merged exactly |
//! | `burn-calibration-cli` | the command `calibration`, and its reader of NPY, safetensors, CSV and other files for programs |

#![warn(missing_docs)]

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
pub mod names;
pub mod numbers;
pub mod ops;
mod parallel;
mod radial;
pub mod recalibration;
pub mod score;
mod tiles;

/// The names that the [`guide`] takes: predictions, kernels, estimates, scores, losses, configurations of maps,
/// tests, and the traits whose methods these have. What they give, such as a fitted map or an outcome, is in the
/// modules. With the feature `train` also the metrics of the trainer.
pub mod prelude {
    #[cfg(feature = "train")]
    pub use crate::metric::EpochMetric;
    pub use crate::{
        diagram::Reliability,
        distribution::{
            Categorical, Given, Laplace, Mixture, Normal, Predictive, QuantileForecasts, Samples,
            Subject,
        },
        estimator::{
            Accuracy, Cwce, Ece, Estimator, Event, Mmce, Skce, Tce,
            regression::{
                Ence, IntervalCoverage, Pinball, QuantileCalibration, QuantileCoverage, Sharpness,
            },
        },
        hypothesis::{
            CalibrationTest, Cox, ExactTest, GivenTest, Group, GroupTest, HosmerLemeshow,
            OmnibusTest, Spiegelhalter, ToleranceTest,
        },
        kernel::{Bandwidth, Kernel, RealKernel, TensorKernel},
        loss::{
            Criterion, FocalLossConfig, Lens, LensLoss, MmceLossConfig, PenalisedLoss,
            PinballLossConfig, Probabilities, ScoreLoss, SkceLoss, SkceLossConfig, StepCounter,
            WeightSchedule,
        },
        recalibration::{
            AutoRecalibrationConfig, BetaCalibrationConfig, ConformalShiftConfig,
            DiagonalScalingConfig, DirichletCalibrationConfig, EnsembleTemperatureScalingConfig,
            Fit, FittedMap, HistogramBinningConfig, IsotonicRegressionConfig, Keep,
            LocalRecalibrationConfig, LocationScaleRecalibrationConfig, LpCalibrationError,
            MatrixScalingConfig, OrderInvariantConfig, PlattScalingConfig, QuadraticScalingConfig,
            QuantileRecalibrationConfig, Recalibration, RefinementError, SplineCalibrationConfig,
            StructuredMatrixScalingConfig, StructuredVectorScalingConfig, TemperatureScaling,
            TemperatureScalingConfig, VarianceScalingConfig, VectorScalingConfig, VennAbersConfig,
            load_map,
        },
        score::{
            Brier, Corp, Crps, LogScore, ObservedExpected, Overconfidence, Quantify, Score,
            WeightedIntervalScore,
        },
    };
}
