//! Which pairs a tile covers.

use std::ops::Range;

use super::{
    layout::{QUAD, strip},
    real::Real,
};

/// The pairs `i < j < n` of a strip's worth of rows `i` and the columns `j` of some strips.
#[derive(Debug, Clone)]
pub(crate) struct Tile {
    pub n: usize,
    /// The first row, a multiple of a strip's.
    pub row: usize,
    pub strips: Range<usize>,
}

impl Tile {
    /// The first rows of the quads.
    pub fn quads<T>(&self) -> impl Iterator<Item = usize> + Clone + use<T> {
        (self.row..self.row + strip::<T>()).step_by(QUAD)
    }

    /// Numbers for each pair, `[strip][row][column]`.
    pub fn len<T>(&self) -> usize {
        self.strips.len() * strip::<T>() * strip::<T>()
    }

    /// Whether some pairs of a strip do not count.
    pub fn is_masked<T>(&self, index: usize) -> bool {
        let width = strip::<T>();
        self.row + width > index * width || (index + 1) * width > self.n
    }

    /// 1 for the pairs of a strip that count, else 0, `[row][column]`.
    pub fn mask<T: Real>(&self, index: usize, mask: &mut [T]) {
        let width = strip::<T>();
        mask.fill(T::new(0.0));
        let end = self.n.saturating_sub(index * width).min(width);
        for (i, mask) in (self.row..self.n).zip(mask.chunks_exact_mut(width)) {
            let start = (i + 1).saturating_sub(index * width).min(end);
            mask[start..end].fill(T::new(1.0));
        }
    }
}
