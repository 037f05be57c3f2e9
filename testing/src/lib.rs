//! What the tests of several crates share.

pub mod bootstrap;
pub mod checks;
pub mod data;
pub mod dirichlet_model;
pub mod generator;
pub mod messages;
pub mod models;
pub mod references;
pub mod rivals;
