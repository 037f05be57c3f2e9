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
        for (i, mask) in (self.row..).zip(mask.chunks_exact_mut(width)) {
            mask_row(self.n, i, index * width, mask);
        }
    }
}

/// 1 for the pairs `i < j < n` of the columns `j` from `first` on, else 0.
pub(crate) fn mask_row<T: Real>(n: usize, i: usize, first: usize, mask: &mut [T]) {
    let end = n.saturating_sub(first).min(mask.len());
    let start = (i + 1).saturating_sub(first).min(end);
    mask.fill(T::new(0.0));
    if i < n {
        mask[start..end].fill(T::new(1.0));
    }
}
