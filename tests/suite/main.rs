//! One binary, a module for each room of the library.

mod accumulator;
mod backends;
mod bad_input;
mod block;
mod cifar10;
mod cme;
mod data;
mod data_parallel;
mod dirichlet;
mod distribution;
mod ece;
mod estimator;
mod exact;
mod feature;
mod fused;
mod hypothesis;
mod kernel;
mod lens;
mod loss;
mod matrix_kernel;
#[cfg(feature = "train")]
mod metric;
mod mmce;
mod models;
mod multiple;
mod nulls;
mod omnibus;
mod one_road;
mod profile;
mod properties;
mod real;
mod real_scores;
mod recalibration;
#[cfg(feature = "report")]
mod report;
mod score;
mod ucme;
