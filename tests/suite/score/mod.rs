//! Proper scores: values, upper bounds, what a recalibration gains, decompositions.

mod corp;
mod decomposition;
mod few_errors;
mod improvement;
mod lp_bound;
mod observed_expected;
mod population;
mod refinement;
mod skce_improvement;
mod values;
mod vectors;
