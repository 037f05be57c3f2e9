//! Vectors of `ℝ^d` in the orders that the tiles read them in, padded by zero vectors.

use std::ops::Range;

use pulp::Simd;

use super::{aligned::Aligned, real::Real};
use crate::parallel::for_each_chunk;

/// Rows that a kernel takes at once.
pub(crate) const QUAD: usize = 4;

/// Columns of a strip: two of the widest vectors of a processor. A tile has as many rows.
pub(crate) const fn strip<T>() -> usize {
    128 / size_of::<T>()
}

/// Vectors of a processor in a line of a strip: a multiple of [`PAIR`].
pub(crate) const fn line<T: Real, S: Simd>() -> usize {
    128 / size_of::<T::Lanes<S>>()
}

/// Vectors of a processor that a kernel takes at once.
pub(crate) const PAIR: usize = 2;

/// Vectors with more coordinates are long.
pub(crate) const LONG: usize = 48;

/// Vectors one after the other, each padded to whole vectors of the processor.
pub(crate) struct Rows<T> {
    /// Numbers in a row.
    pub stride: usize,
    pub numbers: Aligned<T>,
}

impl<T: Real> Rows<T> {
    /// Rows of zeros, as many as `padded`.
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
        for_each_chunk(&mut rows.numbers[..n * stride], stride, 1, |(i, row)| {
            write(i, &mut row[..d]);
        });
        rows
    }

    pub fn row(&self, i: usize) -> &[T] {
        &self.numbers[i * self.stride..][..self.stride]
    }

    pub fn rows(&self, range: Range<usize>) -> &[T] {
        &self.numbers[range.start * self.stride..range.end * self.stride]
    }

    pub fn rows_mut(&mut self, range: Range<usize>) -> &mut [T] {
        &mut self.numbers[range.start * self.stride..range.end * self.stride]
    }

    pub fn count(&self) -> usize {
        self.numbers.len() / self.stride
    }
}

/// Vectors in rows, and in strips: columns side by side for whole vectors of the processor.
pub(crate) struct Vectors<T> {
    pub d: usize,
    /// A number of each, at first 0.
    pub own: Aligned<T>,
    pub rows: Rows<T>,
    /// `[strip][coordinate][column]`, or none.
    strips: Aligned<T>,
}

impl<T: Real> Vectors<T> {
    /// `n` vectors, padded to whole strips, in strips too if wanted; `write(i, row)` writes the `i`-th.
    pub fn new(
        n: usize,
        d: usize,
        in_strips: bool,
        write: impl Fn(usize, &mut [T]) + Sync,
    ) -> Self {
        let width = strip::<T>();
        let padded = n.next_multiple_of(width);
        let rows = Rows::new(n, padded, d, write);
        let mut strips = Aligned::zeros(if in_strips { padded * d } else { 0 });
        for_each_chunk(&mut strips, width * d, 1, |(index, strip)| {
            let rows_of_strip = rows.rows(index * width..(index + 1) * width);
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

    /// Returns the same with `−½|x|²` for each.
    pub fn with_halves(mut self) -> Self {
        let (width, rows) = (strip::<T>(), &self.rows);
        for_each_chunk(&mut self.own, width, rows.stride, |(index, own)| {
            let rows_of_strip = rows.rows(index * width..(index + 1) * width);
            for (own, row) in own.iter_mut().zip(rows_of_strip.chunks_exact(rows.stride)) {
                *own = T::new(-0.5 * squared_length(row));
            }
        });
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

/// `|x|²`
pub(crate) fn squared_length<T: Real>(x: &[T]) -> f64 {
    let eighths = x.chunks_exact(8);
    let square = |x: &T| x.to_f64() * x.to_f64();
    let mut sums = [0.0; 8];
    for x in eighths.clone() {
        sums.iter_mut()
            .zip(x)
            .for_each(|(sum, x)| *sum += square(x));
    }
    sums.iter().sum::<f64>() + eighths.remainder().iter().map(square).sum::<f64>()
}
