//! Distances and inner products between rows and strips of columns.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{
    arch::Arch,
    layout::{PAIR, PaddedVectors, QUAD, line, strip},
    real::Real,
};
use crate::radial::CoordinateSum;

/// A sum over coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Similarity {
    /// `Σ_c x_c y_c`
    InnerProduct,
    /// `Σ_c |x_c − y_c|`
    Magnitudes,
    /// `Σ_c (x_c − y_c)²`
    Squares,
}

impl From<CoordinateSum> for Similarity {
    fn from(sum: CoordinateSum) -> Self {
        match sum {
            CoordinateSum::Magnitudes => Self::Magnitudes,
            CoordinateSum::Squares => Self::Squares,
        }
    }
}

/// Writes similarities of some rows with a whole strip, `[row][column]`.
pub(crate) fn similarities<T: Real>(
    similarity: Similarity,
    (x, rows): (&PaddedVectors<T>, Range<usize>),
    (y, index): (&PaddedVectors<T>, usize),
    sums: &mut [T],
) {
    Arch::new().dispatch(SimilaritySums {
        similarity,
        rows: (x, rows),
        columns: (y, index),
        sums,
    });
}

struct SimilaritySums<'a, T> {
    similarity: Similarity,
    rows: (&'a PaddedVectors<T>, Range<usize>),
    columns: (&'a PaddedVectors<T>, usize),
    sums: &'a mut [T],
}

impl<T: Real> WithSimd for SimilaritySums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.similarity {
            Similarity::InnerProduct => self.add(
                simd,
                #[inline(always)]
                |x, y, sum| T::mul_add(simd, x, y, sum),
            ),
            Similarity::Magnitudes => self.add(
                simd,
                #[inline(always)]
                |x, y, sum| T::plus(simd, sum, T::abs(simd, T::minus(simd, x, y))),
            ),
            Similarity::Squares => self.add(
                simd,
                #[inline(always)]
                |x, y, sum| {
                    let difference = T::minus(simd, x, y);
                    T::mul_add(simd, difference, difference, sum)
                },
            ),
        }
    }
}

impl<T: Real> SimilaritySums<'_, T> {
    /// A few coordinates at a time, which stay in the first-level cache. `add(x, y, sum)` adds what a coordinate
    /// adds to a sum.
    #[inline(always)]
    fn add<S: Simd>(
        self,
        simd: S,
        add: impl Fn(T::Lanes<S>, T::Lanes<S>, T::Lanes<S>) -> T::Lanes<S>,
    ) {
        let ((x, rows), (y, index)) = (self.rows, self.columns);
        let (line, width) = (line::<T, S>(), strip::<T>());
        let sums = T::lanes_mut::<S>(self.sums);
        for first in (0..x.d).step_by(COORDINATES) {
            let last = x.d.min(first + COORDINATES);
            let columns = &y.strip(index)[first * width..last * width];
            let quads = sums.chunks_exact_mut(QUAD * line);
            for (row, sums) in rows.clone().step_by(QUAD).zip(quads) {
                let quad = x.quad(row).map(|row| &row[first..last]);
                for start in (0..line).step_by(PAIR) {
                    let mut block = [[T::splat(simd, T::new(0.0)); PAIR]; QUAD];
                    if first > 0 {
                        for (block, sums) in block.iter_mut().zip(sums.chunks_exact(line)) {
                            block.copy_from_slice(&sums[start..start + PAIR]);
                        }
                    }
                    block = add_coordinates(simd, &add, quad, columns, start, block);
                    for (block, sums) in block.iter().zip(sums.chunks_exact_mut(line)) {
                        sums[start..start + PAIR].copy_from_slice(block);
                    }
                }
            }
        }
    }
}

/// Coordinates of a strip and of four rows that fill half of a first-level cache.
const COORDINATES: usize = 112;

/// Vectors of columns, for each of four rows.
type Block<T, S> = [[<T as Real>::Lanes<S>; PAIR]; QUAD];

#[inline(always)]
fn add_coordinates<S: Simd, T: Real>(
    simd: S,
    add: &impl Fn(T::Lanes<S>, T::Lanes<S>, T::Lanes<S>) -> T::Lanes<S>,
    rows: [&[T]; QUAD],
    columns: &[T],
    start: usize,
    mut sums: Block<T, S>,
) -> Block<T, S> {
    let columns = T::lanes::<S>(columns).chunks_exact(line::<T, S>());
    let [a, b, c, d] = rows;
    for ((((y, a), b), c), d) in columns.zip(a).zip(b).zip(c).zip(d) {
        for (&x, sums) in [a, b, c, d].into_iter().zip(&mut sums) {
            let x = T::splat(simd, x);
            for (&y, sum) in y[start..start + PAIR].iter().zip(sums) {
                *sum = add(x, y, *sum);
            }
        }
    }
    sums
}
