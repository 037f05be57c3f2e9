//! Optimal transport between a few weighted points, exact and differentiable.
//!
//! A linear program for each pair, on the host in f64, by shortest augmenting paths ([`paths`]), from the plan
//! that is the best one on a line: that of almost all pairs of a few points, such as the parameters of normal
//! distributions, is near it. The simplex method of microlp 0.7 takes tens of times as long, gives no
//! potentials, and changes features of Burn's dependencies.

mod distances;
mod host;
mod paths;
#[cfg(test)]
mod tests;

use self::distances::OfAll;
pub(crate) use self::distances::transport_distances;
