//! Vectors of `ℝ^d` in the orders that the tiles read them in, padded by zero vectors.

use std::{
    iter::repeat_n,
    ops::{Deref, DerefMut},
};

use aligned_vec::{AVec, ConstAlign};
use pulp::Simd;

use super::real::Real;
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

/// A fixed number of `T`, at first 0, that start at a cache line: a vector that straddles two lines loads
/// at half the speed.
#[derive(Clone)]
pub(crate) struct Aligned<T>(AVec<T, ConstAlign<64>>);

impl<T: Real> Aligned<T> {
    pub fn zeros(len: usize) -> Self {
        Self(AVec::from_iter(64, repeat_n(T::new(0.0), len)))
    }

    /// Adds as many others.
    pub fn add(&mut self, other: &Self) {
        for (a, &b) in self.iter_mut().zip(&**other) {
            *a += b;
        }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// Vectors in rows, and in strips: columns side by side for whole vectors of the processor.
pub(crate) struct PaddedVectors<T> {
    pub d: usize,
    /// Numbers in a row, padded to whole vectors of the processor.
    stride: usize,
    /// `[vector][coordinate]`
    rows: Aligned<T>,
    /// `[strip][coordinate][column]`
    strips: Aligned<T>,
}

impl<T: Real> PaddedVectors<T> {
    /// Vectors of `d` coordinates one after the other, padded to whole strips.
    pub fn new(vectors: &[T], d: usize) -> Self {
        let width = strip::<T>();
        let padded = (vectors.len() / d).next_multiple_of(width);
        let stride = d.next_multiple_of(64 / size_of::<T>());
        let mut rows = Aligned::zeros(padded * stride);
        for (row, vector) in rows.chunks_exact_mut(stride).zip(vectors.chunks_exact(d)) {
            row[..d].copy_from_slice(vector);
        }
        let mut strips = Aligned::zeros(padded * d);
        for_each_chunk(&mut strips, width * d, 1, |(index, strip)| {
            for (c, line) in strip.chunks_exact_mut(width).enumerate() {
                for (x, i) in line.iter_mut().zip(index * width..) {
                    *x = rows[i * stride + c];
                }
            }
        });
        Self {
            d,
            stride,
            rows,
            strips,
        }
    }

    /// `[coordinate][column]`
    pub fn strip(&self, index: usize) -> &[T] {
        let size = strip::<T>() * self.d;
        &self.strips[index * size..][..size]
    }

    /// All strips, `[strip][coordinate][column]`.
    pub fn strips(&self) -> &[T] {
        &self.strips
    }

    #[inline(always)]
    pub fn row(&self, i: usize) -> &[T] {
        &self.rows[i * self.stride..][..self.d]
    }

    /// Four rows from a multiple of four on.
    #[inline(always)]
    pub fn quad(&self, first: usize) -> [&[T]; QUAD] {
        let row = |i: usize| self.row(i);
        [row(first), row(first + 1), row(first + 2), row(first + 3)]
    }
}

/// The place of a coordinate in strips of vectors of `d` coordinates, whose lines have so many entries: of column
/// `at`, or of a vector of the processor.
#[inline(always)]
pub(crate) fn place(d: usize, line: usize, at: usize, c: usize) -> usize {
    (at / line * d + c) * line + at % line
}

/// Writes numbers in strips, times a factor, as rows of `d` numbers.
pub(crate) fn write_rows<T: Real>(strips: &[T], factor: f64, rows: &mut [T], d: usize) {
    for_each_chunk(rows, d, 1, |(i, row)| {
        for (c, x) in row.iter_mut().enumerate() {
            *x = strips[place(d, strip::<T>(), i, c)] * T::new(factor);
        }
    });
}
