//! Reliability diagrams and the page: numbers by hand and against the estimators, the coverage of
//! the bands, files that are well-formed and hold every number.

pub mod data;
mod diagrams;
mod errors;
mod page;
mod pictures;
