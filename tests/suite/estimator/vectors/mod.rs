//! Predictions over real vectors, through the estimators, losses and tests that classes go through.

mod bad_input;
mod brute_force;
mod categorical;
mod data;
mod features;
mod gradients;
mod integrals;
mod levels;
mod mixtures;
mod positive_definite;
mod products;
mod quantiles;
mod samples;
mod sampling;
