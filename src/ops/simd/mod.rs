//! Vectors of the processor, over AVX-512, AVX2, NEON or single numbers, chosen at run time: numbers in
//! the orders that they are read in ([`layout`], [`tile`]), sums over coordinates ([`similarity`]), the
//! exponential function ([`exp2`]), and products of matrices ([`product`]).

pub(super) mod aligned;
pub(super) mod chunks;
pub(super) mod exp2;
pub(super) mod layout;
pub(super) mod product;
pub(super) mod real;
pub(super) mod similarity;
pub(super) mod tile;
