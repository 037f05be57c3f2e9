//! Distances and inner products between four rows and two vectors of columns.

use std::ops::Range;

use pulp::Simd;

use super::{
    layout::{PAIR, QUAD, Vectors, line, strip},
    real::Real,
};

/// Vectors of columns, for each row.
pub(crate) type Block<T, S> = [[<T as Real>::Lanes<S>; PAIR]; QUAD];

/// A sum over coordinates.
pub(crate) trait Coordinate<T: Real>: Copy + Send + Sync {
    /// Adds what a coordinate of two vectors gives.
    fn add<S: Simd>(simd: S, x: T::Lanes<S>, y: T::Lanes<S>, sum: T::Lanes<S>) -> T::Lanes<S>;
}

/// `Σ_c |x_c − y_c|`
#[derive(Clone, Copy)]
pub(crate) struct L1;
/// `Σ_c (x_c − y_c)²`
#[derive(Clone, Copy)]
pub(crate) struct SquaredEuclidean;
/// `Σ_c x_c y_c`
#[derive(Clone, Copy)]
pub(crate) struct Inner;

impl<T: Real> Coordinate<T> for L1 {
    #[inline(always)]
    fn add<S: Simd>(simd: S, x: T::Lanes<S>, y: T::Lanes<S>, sum: T::Lanes<S>) -> T::Lanes<S> {
        T::add(simd, sum, T::abs(simd, T::sub(simd, x, y)))
    }
}

impl<T: Real> Coordinate<T> for SquaredEuclidean {
    #[inline(always)]
    fn add<S: Simd>(simd: S, x: T::Lanes<S>, y: T::Lanes<S>, sum: T::Lanes<S>) -> T::Lanes<S> {
        let difference = T::sub(simd, x, y);
        T::mul_add(simd, difference, difference, sum)
    }
}

impl<T: Real> Coordinate<T> for Inner {
    #[inline(always)]
    fn add<S: Simd>(simd: S, x: T::Lanes<S>, y: T::Lanes<S>, sum: T::Lanes<S>) -> T::Lanes<S> {
        T::mul_add(simd, x, y, sum)
    }
}

/// The number of coordinates of a strip and of four rows that fill half of a first-level cache.
const COORDINATES: usize = 112;

/// Similarities of some rows with a whole strip, `[row][column]`: a few coordinates at a time, which stay in the
/// first-level cache. They start from the vectors' own numbers, if there are some.
#[inline(always)]
pub(crate) fn similarities<S: Simd, T: Real, C: Coordinate<T>>(
    simd: S,
    coordinate: C,
    (x, rows): (&Vectors<T>, Range<usize>),
    (y, index): (&Vectors<T>, usize),
    own: Option<&[T]>,
    sums: &mut [T],
) {
    let (line, width) = (line::<T, S>(), strip::<T>());
    let sums = T::lanes_mut::<S>(sums);
    for first in (0..x.d).step_by(COORDINATES) {
        let last = x.d.min(first + COORDINATES);
        let columns = &y.strip(index)[first * width..last * width];
        let quads = sums.chunks_exact_mut(QUAD * line);
        for (row, sums) in rows.clone().step_by(QUAD).zip(quads) {
            let [a, b, c, d] = x.quad(row);
            let quad = [
                &a[first..last],
                &b[first..last],
                &c[first..last],
                &d[first..last],
            ];
            for start in (0..line).step_by(PAIR) {
                let mut block = [[T::splat(simd, T::new(0.0)); PAIR]; QUAD];
                if first > 0 {
                    for (block, sums) in block.iter_mut().zip(sums.chunks_exact(line)) {
                        block.copy_from_slice(&sums[start..start + PAIR]);
                    }
                } else if let Some(own) = own {
                    let of_columns = T::lanes::<S>(&own[index * width..][..width]);
                    for (block, &own) in block.iter_mut().zip(&own[row..row + QUAD]) {
                        let own = T::splat(simd, own);
                        for (sum, &of_column) in block.iter_mut().zip(&of_columns[start..]) {
                            *sum = T::add(simd, own, of_column);
                        }
                    }
                }
                block = add_coordinates(simd, coordinate, quad, columns, start, block);
                for (block, sums) in block.iter().zip(sums.chunks_exact_mut(line)) {
                    sums[start..start + PAIR].copy_from_slice(block);
                }
            }
        }
    }
}

#[inline(always)]
fn add_coordinates<S: Simd, T: Real, C: Coordinate<T>>(
    simd: S,
    _: C,
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
                *sum = C::add(simd, x, y, *sum);
            }
        }
    }
    sums
}
