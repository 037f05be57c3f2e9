//! Scalar maps: a function of the log-odds of an event, one for two classes, one for each class of
//! more.
//!
//! For two classes the event is class 1 and the map gives `(log(1−g), log g)` with the recalibrated
//! probability `g`. For `m > 2` classes each is an event against the others, with log-odds
//! `s_c = log p_c − log(1−p_c)`, and the map gives `log(g_c / Σ_d g_d)`. Such a class-wise map keeps
//! neither the order of the classes nor the accuracy, and nothing is known of its injectivity.
//!
//! A new family of few parameters is a [`OddsCurve`](curve::OddsCurve), any other function a
//! [`Tabulate`](table::Tabulate).

mod beta;
mod cubic;
mod curve;
pub(super) mod event;
mod histogram;
mod isotonic;
mod logistic;
mod odds;
mod platt;
mod quadratic;
mod spline;
mod table;
mod venn_abers;

pub use beta::{BetaCalibration, BetaCalibrationConfig};
pub use histogram::{BinEdges, HistogramBinning, HistogramBinningConfig};
pub use isotonic::{Interpolation, IsotonicRegression, IsotonicRegressionConfig};
pub use platt::{PlattScaling, PlattScalingConfig};
pub use quadratic::{QuadraticScaling, QuadraticScalingConfig};
pub use spline::{SplineBase, SplineCalibration, SplineCalibrationConfig};
pub use venn_abers::{VennAbers, VennAbersConfig, VennAbersInterval};
