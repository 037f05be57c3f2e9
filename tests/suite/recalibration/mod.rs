//! Recalibration: maps of logits, scalar maps, maps of predictive distributions, and what all share.

mod distributions;
mod evaluation;
mod formula;
mod injective;
pub mod logits;
mod lp_error;
mod mixture;
mod module;
mod prior;
mod refinement;
pub mod scalar;
mod temperature;
