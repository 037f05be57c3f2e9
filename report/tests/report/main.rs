//! Diagrams and the page of every kind of prediction: numbers by hand and against the estimators, the coverage of
//! the bands, files that are well-formed and hold every number.

mod corp;
/// Tensors, random data and references of the library's suite.
#[allow(dead_code, unused_imports)] // other suites use the rest
#[path = "../../../tests/suite/data.rs"]
mod data;
mod diagrams;
mod errors;
mod forecast_page;
#[allow(dead_code)] // `data` exports it
#[path = "../../../tests/suite/messages.rs"]
mod messages;
mod monitor_page;
mod page;
mod pictures;
mod quantile_degenerate;
mod quantile_diagrams;
mod quantile_errors;
mod quantile_page;
mod support;
