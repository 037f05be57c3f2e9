//! Diagrams as numbers: reliability diagrams with consistency bands, isotonic ones, histograms of probability
//! integral transforms, and quantile curves.
//!
//! A [`ReliabilityDiagram`] holds, bin by bin, the mean predicted probability of an event and how often it
//! occurred, with the band in which the frequency of a calibrated model would lie. A [`CorpDiagram`] has no
//! bins: isotonic regression finds them. Predictions over real numbers have a [`PitDiagram`] and a
//! [`QuantileDiagram`]. Pictures of them are drawn by the crate `burn-calibration-report`.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::{diagram::Reliability, distribution::Categorical};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! // says 90 % each time, and is right half of the time
//! let rows = Tensor::<2>::from_floats([[0.9, 0.1]; 40], &device);
//! let predictions = Categorical::from_probabilities(rows)?;
//! let labels = Tensor::<1, Int>::arange(0..40, &device).remainder_scalar(2);
//!
//! let diagram = Reliability::default().diagram(&predictions, &labels)?;
//! let bin = &diagram.bins[0];
//! assert_eq!((bin.count, bin.frequency), (40, 0.5));
//! assert!(bin.frequency < bin.band.0); // a calibrated model is right more often
//! # Ok(())
//! # }
//! ```

mod band;
mod corp;
mod pit;
mod quantile;
mod reliability;

pub use corp::{CorpBand, CorpDiagram, CorpReliability, CorpStep};
pub use pit::PitDiagram;
pub use quantile::QuantileDiagram;
pub use reliability::{Reliability, ReliabilityBin, ReliabilityDiagram};
