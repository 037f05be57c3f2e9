//! Predictions over real vectors.

mod evaluate;
mod output;
mod quantities;
#[cfg(feature = "report")]
mod report;
mod source;

pub use evaluate::evaluate;
#[cfg(feature = "report")]
pub use report::report;
