//! Which pairs a tile covers.

use std::ops::Range;

use super::{layout::strip, real::Real};

/// The pairs `i < j < n` of a strip's worth of rows `i` and the columns `j` of some strips.
#[derive(Debug, Clone)]
pub(crate) struct StripTile {
    pub n: usize,
    /// The first row, a multiple of a strip's.
    pub row: usize,
    pub strips: Range<usize>,
}

impl StripTile {
    pub fn rows<T>(&self) -> Range<usize> {
        self.row..self.row + strip::<T>()
    }

    /// Pairs of the rows and a strip.
    pub const fn size<T>() -> usize {
        strip::<T>() * strip::<T>()
    }

    /// Fills the places, `[row][column]`, of the pairs of a strip that do not count.
    pub fn fill_rest<T: Real>(&self, index: usize, with: T, numbers: &mut [T]) {
        let width = strip::<T>();
        let first = index * width;
        let end = self.n.saturating_sub(first).min(width);
        if self.rows::<T>().end <= first.min(self.n) && end == width {
            return;
        }
        for (i, numbers) in self.rows::<T>().zip(numbers.chunks_exact_mut(width)) {
            let start = if i < self.n { i + 1 } else { usize::MAX };
            let start = start.saturating_sub(first).min(end);
            numbers[..start].fill(with);
            numbers[end..].fill(with);
        }
    }
}
