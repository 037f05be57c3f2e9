//! The engine of redraws, the omnibus test, sizes of errors and the test of a tolerance.

mod aspects;
mod degenerate;
mod draws;
mod evaluators;
mod levels;
mod partial_nulls;
mod power;
mod properties;
mod real;
mod redraws;
mod sizes;
mod statement;
