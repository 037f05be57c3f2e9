//! How the gradient is summed over the pairs.
//!
//! With `s_ij` the slopes and `k_ij` the kernel, a point has the gradient
//! `Σ_j s_ij ∂_i separation(p_i, p_j) − Σ_j k_ij δ_j`; the second part through the residual
//! `δ_i = e_y − p_i`.

use super::{real::Real, tile::Tile};

/// The weights of a tile, `[strip][row][column]`; 0 for pairs that do not count.
#[derive(Clone, Copy)]
pub(super) struct Weights<'a, T> {
    /// `s`
    pub slope: &'a [T],
    /// What multiplies the residuals: `−k`, or `s − k` for [`Slopes::Merged`](super::slope::Slopes::Merged).
    pub residual: &'a [T],
}

/// The gradient of a share of the pairs.
pub(super) trait Gradient<T: Real>: Send {
    /// False for the value alone.
    const WANTED: bool;

    /// Adds the pairs of a tile.
    fn add(&mut self, tile: &Tile, weights: Weights<T>);

    /// No tile that follows has the rows of the tile that starts at `row`.
    fn finish_rows(&mut self, row: usize);

    /// Adds another share.
    fn merge(&mut self, other: Self);

    /// Writes the gradient of the `i`-th point.
    fn write(&self, i: usize, point: &[T], gradient: &mut [T]);
}

/// The value alone.
pub(super) struct ValueOnly;

impl<T: Real> Gradient<T> for ValueOnly {
    const WANTED: bool = false;

    fn add(&mut self, _: &Tile, _: Weights<T>) {}

    fn finish_rows(&mut self, _: usize) {}

    fn merge(&mut self, _: Self) {}

    fn write(&self, _: usize, _: &[T], _: &mut [T]) {}
}
