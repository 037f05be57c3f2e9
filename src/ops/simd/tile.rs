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

    /// Whether some pairs do not count.
    pub fn is_masked<T>(&self) -> bool {
        let width = strip::<T>();
        self.row + width > self.strips.start * width || self.strips.end * width > self.n
    }

    /// 1 for the pairs that count, else 0, `[strip][row][column]`.
    pub fn mask<T: Real>(&self, mask: &mut [T]) {
        let width = strip::<T>();
        let rows = self
            .strips
            .clone()
            .flat_map(|s| (self.row..self.row + width).map(move |i| (s, i)));
        for ((strip, i), mask) in rows.zip(mask.chunks_exact_mut(width)) {
            mask_row(self.n, i, strip * width, mask);
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
