//! Pictures of the diagrams of `burn-calibration`, and a report of one page.
//!
//! [`Draw`] draws a diagram of [`burn_calibration::diagram`], such as a [`ReliabilityDiagram`].
//!
//! A [`Report`] puts the numbers and the pictures of a model, before and after recalibration, on one
//! self-contained page of HTML: no scripts, no links, readable in black and white, on a phone and
//! without the pictures. The page begins with the verdict of the
//! [`OmnibusTest`](burn_calibration::hypothesis::OmnibusTest), and says where the model fails and by how much.
//!
//! One [`ReportBuilder`] takes predictions of every kind. The kind decides what the page shows: a
//! [`ReliabilitySection`] for classes, and a [`QuantileSection`] with a [`PitDiagram`] and a
//! [`QuantileDiagram`] for predictions over real vectors, and a [`ForecastSection`] for forecasts by quantiles.
//!
//! A [`MonitorReport`] is the page of a [`CalibrationMonitor`](burn_calibration::monitor::CalibrationMonitor).
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::{diagram::Reliability, distribution::Categorical};
//! use burn_calibration_report::{Draw, ReportBuilder};
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
//! assert!(diagram.to_svg().starts_with("<svg"));
//!
//! let page = ReportBuilder::new(&predictions, &labels)
//!     .with_title("Too sure")
//!     .build()?
//!     .to_html();
//! assert!(page.contains("<h1>Too sure</h1>"));
//! assert!(page.contains("overconfident by 40.0 points (adjusted p\u{a0}≤\u{a0}0.001)"));
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doc)]
use burn_calibration::diagram::{PitDiagram, QuantileDiagram, ReliabilityDiagram};

mod answer;
mod builder;
mod corp_picture;
mod distances;
mod drawn;
mod estimate;
mod forecast_section;
mod frame;
mod monitor_picture;
mod monitor_report;
mod number;
mod outcome;
mod page;
mod pit_picture;
mod quantile_picture;
mod quantile_section;
mod reliability_page;
mod reliability_picture;
mod reliability_section;
mod section;
mod size;
mod svg;
mod table;
mod value;
mod verdict;
mod view;

pub use answer::{Answer, Assessed};
pub use builder::ReportBuilder;
pub use distances::{ALL_PAIRS, BLOCK, Distances, WithDistances};
pub use drawn::{Draw, Drawn};
pub use estimate::{Estimate, Estimates, NamedEstimates, Tested, Value};
pub use forecast_section::{ForecastLevels, ForecastSection};
pub use monitor_report::{MonitorLine, MonitorReport};
pub use outcome::Report;
pub use quantile_section::{Coordinates, QuantileOptions, QuantileSection};
pub use reliability_section::{
    BinnedError, Classes, ReliabilityOptions, ReliabilitySection, binned_errors,
};
pub use section::{After, Change, NamedScore, Plan, Reportable, Scored, Section};
pub use size::{InTheLarge, Size, Sizing, Tolerance, Unit, probability, shown};
pub use value::{Computed, Missing, Named, check_finite};
pub use view::{Bins, SubjectWords, View};
