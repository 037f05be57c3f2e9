//! Vectors of `ℝ^d` in the orders that the tiles read them in, padded by zero vectors.

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

/// Vectors one after the other, each padded to whole vectors of the processor.
pub(crate) struct PaddedRows<T> {
    /// Numbers in a row.
    stride: usize,
    numbers: Aligned<T>,
}

impl<T: Real> PaddedRows<T> {
    pub fn row(&self, i: usize) -> &[T] {
        &self.numbers[i * self.stride..][..self.stride]
    }
}

/// Vectors in rows, and in strips: columns side by side for whole vectors of the processor.
pub(crate) struct PaddedVectors<T> {
    pub d: usize,
    pub rows: PaddedRows<T>,
    /// `[strip][coordinate][column]`, or none.
    strips: Aligned<T>,
}

impl<T: Real> PaddedVectors<T> {
    /// `n` vectors, padded to whole strips, in strips too if wanted; `write(i, row)` writes the `i`-th.
    pub fn new(
        n: usize,
        d: usize,
        in_strips: bool,
        write: impl Fn(usize, &mut [T]) + Sync,
    ) -> Self {
        let width = strip::<T>();
        let padded = n.next_multiple_of(width);
        let stride = d.next_multiple_of(64 / size_of::<T>());
        let mut numbers = Aligned::zeros(padded * stride);
        for_each_chunk(&mut numbers[..n * stride], stride, 1, |(i, row)| {
            write(i, &mut row[..d]);
        });
        let rows = PaddedRows { stride, numbers };
        let mut strips = Aligned::zeros(if in_strips { padded * d } else { 0 });
        for_each_chunk(&mut strips, width * d, 1, |(index, strip)| {
            for (c, line) in strip.chunks_exact_mut(width).enumerate() {
                for (x, i) in line.iter_mut().zip(index * width..) {
                    *x = rows.row(i)[c];
                }
            }
        });
        Self { d, rows, strips }
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
