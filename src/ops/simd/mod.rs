//! Vectors of the processor, over AVX-512, AVX2, NEON or single numbers, chosen at run time: numbers in
//! the orders that they are read in ([`layout`]), sums over coordinates ([`similarity`]), the exponential function
//! and the logarithm ([`powers`]), products of matrices ([`product`]), and what formulas and profiles of
//! kernels are computed in ([`wide`]).

pub(super) mod arch;
pub(super) mod layout;
pub(super) mod powers;
pub(super) mod product;
pub(super) mod real;
pub(super) mod similarity;
pub(super) mod wide;
