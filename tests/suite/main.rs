//! One binary, a module for each room of the library.

mod backends;
mod bad_input;
mod cifar10;
mod data;
mod dirichlet;
mod distribution;
mod ece;
mod estimator;
mod hypothesis;
mod kernel;
mod lens;
mod loss;
mod matrix_kernel;
mod models;
mod profile;
mod properties;
mod recalibration;
mod score;
mod ucme;
