//! The pair statistic as a kernel of CubeCL, for wgpu and CUDA.
//!
//! The units of a cube form a square and take the pairs of a square tile: as many rows as columns. A
//! cube owns the rows of its tile, and walks over the tiles of columns in the same block. For each it
//!
//! 1. stages points and residuals in shared memory, a square of coordinates at a time, while each
//!    unit sums the separation and the residual product of its pair ([`stage`]);
//! 2. turns both into the kernel and its slope ([`pair`], [`curve`]), which all units put into shared memory;
//! 3. stages the columns once more, while each unit sums over them the gradient of one coordinate of
//!    one row, which only this cube adds to ([`kernel`]).
//!
//! Both members of a pair are computed, so that nothing is written by two cubes: there are no
//! atomics, and the same device gives the same result each time. Where there are too few rows to
//! occupy the device, several cubes share the columns of the same rows, each with a partial gradient
//! ([`plan`], [`run`]).

mod curve;
mod grid;
mod kernel;
mod pair;
mod plan;
mod run;
mod stage;

pub(super) use run::{is_able, run};
