//! Diagrams as numbers: reliability diagrams with consistency bands, isotonic ones, histograms of probability
//! integral transforms, and quantile curves.
//!
//! For each bin, a [`ReliabilityDiagram`] has the mean predicted probability and the frequency of an event,
//! with the band in which the frequency of a calibrated model would lie. A [`CorpDiagram`] needs no choice
//! of bins: isotonic regression finds them. Predictions of real numbers have a [`PitDiagram`] and a
//! [`QuantileDiagram`]. The crate `burn-calibration-report` draws the diagrams.
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
//! assert!(bin.frequency < bin.band.lower); // a calibrated model is right more often
//! # Ok(())
//! # }
//! ```

mod band;
mod corp;
mod pit;
mod quantile;
mod reliability;

pub use band::Band;
pub use corp::{CorpBand, CorpDiagram, CorpReliability, CorpStep};
pub use pit::PitDiagram;
pub use quantile::QuantileDiagram;
pub use reliability::{Reliability, ReliabilityBin, ReliabilityDiagram};
