//! Fitted recalibration maps of `burn-calibration` for other programs: as a formula in text, and as an ONNX model.
//!
//! A [`Formula`] is made from the public parameters of a map: [`Formula::for_classes`],
//! [`Formula::for_distributions`] and [`Formula::for_quantiles`]. [`to_onnx`] makes a model of it.
//!
//! ```
//! use burn_calibration::recalibration::{LogitMap, TemperatureScaling};
//! use burn_calibration_export::{Formula, to_onnx};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let map = TemperatureScaling::from_temperature(1.25, &Default::default())?;
//! let formula = Formula::for_classes(&LogitMap::from(map)).expect("each map of classes has one");
//! assert_eq!(formula.to_string().lines().next(), Some("p = softmax(z / 1.25)"));
//! let model = to_onnx(&formula, None); // the bytes of a file
//! assert!(!model.is_empty());
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod classes;
mod distributions;
mod events;
mod formula;
mod onnx;
mod parameters;
mod text;

pub use formula::{Constant, Formula, Operation, Symbol, Term};
pub use onnx::to_onnx;
