//! Proper scores: values, upper bounds, what a recalibration gains, the decomposition.

mod bounded_mean;
mod corp;
mod few_errors;
mod improvement;
mod intervals;
mod lp_bound;
mod observed_expected;
mod population;
mod skce_improvement;
mod values;
mod vectors;
