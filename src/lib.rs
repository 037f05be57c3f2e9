//! x
#![warn(missing_docs)]
pub mod distribution;
pub mod error;
pub mod estimator;
mod host;
pub mod hypothesis;
pub mod kernel;
pub mod loss;
pub mod ops;
pub mod recalibration;
pub mod score;
mod tiles;
