//! Vectors of `ℝ^d` in the orders that the tiles read them in, padded by zero vectors.

use pulp::Simd;
use rayon::prelude::*;

use super::{aligned::Aligned, real::Real};

/// Rows that a kernel takes at once.
pub(super) const QUAD: usize = 4;

/// Columns of a strip: two of the widest vectors of a processor. A tile has as many rows.
pub(super) const fn strip<T>() -> usize {
    128 / size_of::<T>()
}

/// Vectors of a processor in a line of a strip: a multiple of [`PAIR`].
pub(super) const fn line<T: Real, S: Simd>() -> usize {
    128 / size_of::<T::Lanes<S>>()
}

/// Vectors of a processor that a kernel takes at once.
pub(super) const PAIR: usize = 2;

/// Vectors with more coordinates are long.
pub(super) const LONG: usize = 48;

/// Vectors one after the other, each padded to whole vectors of the processor.
pub(super) struct Rows<T> {
    /// Numbers in a row.
    pub stride: usize,
    pub numbers: Aligned<T>,
}

impl<T: Real> Rows<T> {
    /// Of zeros, as many as `padded`.
    pub fn zeros(padded: usize, d: usize) -> Self {
        let stride = d.next_multiple_of(64 / size_of::<T>());
        Self {
            stride,
            numbers: Aligned::zeros(padded * stride),
        }
    }

    /// `n` vectors, padded; `write(i, row)` writes the `i`-th.
    pub fn new(n: usize, padded: usize, d: usize, write: impl Fn(usize, &mut [T]) + Sync) -> Self {
        let mut rows = Self::zeros(padded, d);
        let stride = rows.stride;
        for_each_chunk(&mut rows.numbers[..n * stride], stride, |(i, row)| {
            write(i, &mut row[..d]);
        });
        rows
    }

    pub fn row(&self, i: usize) -> &[T] {
        &self.numbers[i * self.stride..][..self.stride]
    }
}

/// Vectors in rows, and in strips: columns side by side for whole vectors of the processor.
pub(super) struct Vectors<T> {
    pub d: usize,
    /// A number of each, at first 0.
    pub own: Aligned<T>,
    pub rows: Rows<T>,
    /// `[strip][coordinate][column]`
    strips: Aligned<T>,
}

impl<T: Real> Vectors<T> {
    /// `n` vectors, padded to whole strips; `write(i, row)` writes the `i`-th.
    pub fn new(n: usize, d: usize, write: impl Fn(usize, &mut [T]) + Sync) -> Self {
        let width = strip::<T>();
        let padded = n.next_multiple_of(width);
        let rows = Rows::new(n, padded, d, write);
        let mut strips = Aligned::zeros(padded * d);
        for_each_chunk(&mut strips, width * d, |(index, strip)| {
            let rows_of_strip = &rows.numbers[index * width * rows.stride..];
            for (c, line) in strip.chunks_exact_mut(width).enumerate() {
                for (x, row) in line.iter_mut().zip(rows_of_strip.chunks_exact(rows.stride)) {
                    *x = row[c];
                }
            }
        });
        let own = Aligned::zeros(padded);
        Self {
            d,
            own,
            rows,
            strips,
        }
    }

    /// With `−½|x|²` for each.
    pub fn with_halves(mut self) -> Self {
        for (own, row) in self
            .own
            .iter_mut()
            .zip(self.rows.numbers.chunks_exact(self.rows.stride))
        {
            let squares = row.iter().map(|x| x.to_f64() * x.to_f64());
            *own = T::new(-0.5 * squares.sum::<f64>());
        }
        self
    }

    /// `[coordinate][column]`
    pub fn strip(&self, index: usize) -> &[T] {
        let size = strip::<T>() * self.d;
        &self.strips[index * size..][..size]
    }

    /// Four rows from a multiple of four on.
    #[inline(always)]
    pub fn quad(&self, first: usize) -> [&[T]; QUAD] {
        let row = |i: usize| &self.rows.row(i)[..self.d];
        [row(first), row(first + 1), row(first + 2), row(first + 3)]
    }
}

/// So many numbers are copied at least by each thread.
const WORTH_A_THREAD: usize = 1 << 15;

/// Calls `f` with the index of each chunk and the chunk, on several threads if there is much to do.
fn for_each_chunk<T: Real>(
    numbers: &mut [T],
    size: usize,
    f: impl Fn((usize, &mut [T])) + Send + Sync,
) {
    if numbers.len() < 2 * WORTH_A_THREAD {
        numbers.chunks_mut(size).enumerate().for_each(f);
    } else {
        numbers
            .par_chunks_mut(size)
            .with_min_len(WORTH_A_THREAD.div_ceil(size))
            .enumerate()
            .for_each(f);
    }
}
