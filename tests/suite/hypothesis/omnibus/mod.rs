//! The engine of redraws, the omnibus test, sizes of errors and the test of a tolerance.

mod degenerate;
mod draws;
mod evaluators;
mod levels;
mod power;
mod properties;
mod real;
mod redraws;
mod sizes;
