//! Vectors of the processor, over AVX-512, AVX2, NEON or single numbers, chosen at run time: numbers in
//! the orders that they are read in ([`layout`], [`tile`]), sums over coordinates ([`similarity`]), the
//! exponential function and the logarithm ([`exp2`], [`log2`]), what profiles of kernels are computed in
//! ([`lanes`]), products of matrices ([`product`]), and formulas ([`wide`]).

pub(super) mod aligned;
pub(super) mod arch;
pub(super) mod exp2;
pub(super) mod lanes;
pub(super) mod layout;
pub(super) mod log2;
pub(super) mod product;
pub(super) mod real;
pub(super) mod similarity;
pub(super) mod tile;
pub(super) mod wide;
