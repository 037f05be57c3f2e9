//! Predictions over real vectors.

mod builder;
mod html;
mod pit;
mod pit_picture;
mod quantile;
mod quantile_picture;
mod quantity;
mod summary;

pub use builder::RealReportBuilder;
pub use pit::PitDiagram;
pub use quantile::QuantileDiagram;
pub use summary::{RealReport, RealSummary};
