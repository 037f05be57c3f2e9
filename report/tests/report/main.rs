//! Diagrams and the page of every kind of prediction: numbers by hand and against the estimators, the coverage of
//! the bands, files that are well-formed and hold every number.

mod corp;
mod diagrams;
mod errors;
mod forecast_page;
mod monitor_page;
mod page;
mod pictures;
mod quantile_degenerate;
mod quantile_diagrams;
mod quantile_errors;
mod quantile_page;
mod support;
