//! Diagrams and the page of predictions over real vectors: numbers by hand and against the estimators,
//! the coverage of the bands, markup that is well-formed and holds every number.

mod data;
mod degenerate;
mod diagrams;
mod errors;
mod page;
