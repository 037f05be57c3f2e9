//! Vectors side by side, so that their inner products with others are products of matrices that need
//! no transposition.

use std::ops::Range;

use super::COLUMNS;
use crate::{
    ops::pairs::simd::{aligned::Aligned, layout::Rows, product::Matrix, real::Real},
    parallel::for_each_chunk,
};

/// Rows of a block that is transposed at once: a cache line of the narrowest numbers.
const BLOCK: usize = 16;

/// `[panel][coordinate][column]`
pub(super) struct Panels<T> {
    d: usize,
    /// Columns of a panel.
    width: usize,
    numbers: Aligned<T>,
}

impl<T: Real> Panels<T> {
    /// The first `d` coordinates of all rows.
    pub fn new(rows: &Rows<T>, d: usize) -> Self {
        let width = COLUMNS.min(rows.count());
        let panels = rows.count().div_ceil(width);
        let mut numbers = Aligned::zeros(panels * width * d);
        for_each_chunk(&mut numbers, width * d, 1, |(index, panel)| {
            let columns = index * width..rows.count().min((index + 1) * width);
            for first in (0..d).step_by(BLOCK) {
                let block = first..d.min(first + BLOCK);
                for (k, j) in columns.clone().enumerate() {
                    for (c, &x) in block.clone().zip(&rows.row(j)[block.clone()]) {
                        panel[c * width + k] = x;
                    }
                }
            }
        });
        Self { d, width, numbers }
    }

    /// Columns of one panel, `[coordinate][column]`.
    pub fn matrix(&self, columns: &Range<usize>) -> Matrix<'_, T> {
        let Self { d, width, .. } = *self;
        let panel = columns.start / width;
        let start = panel * width * d + columns.start % width;
        let numbers = &self.numbers[start..(panel + 1) * width * d];
        Matrix::new(numbers, width, [d, columns.len()])
    }
    /// One coordinate of columns of one panel.
    pub fn coordinate(&self, c: usize, columns: &Range<usize>) -> &[T] {
        let Self { d, width, .. } = *self;
        let start = (columns.start / width * d + c) * width + columns.start % width;
        &self.numbers[start..start + columns.len()]
    }
}
