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
    /// Whether it is an inner product, after what it starts from.
    const PRODUCT: bool = false;

    /// Adds what a coordinate of two vectors gives.
    fn add<S: Simd>(simd: S, x: T::Lanes<S>, y: T::Lanes<S>, sum: T::Lanes<S>) -> T::Lanes<S>;

    /// What the sum starts from, given that of two vectors' own numbers.
    #[inline(always)]
    fn start<S: Simd>(simd: S, _own: T::Lanes<S>) -> T::Lanes<S> {
        T::splat(simd, T::new(0.0))
    }
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
/// `Σ_c x_c y_c − ½|x|² − ½|y|² = −½|x − y|²`: half of the work of the squares of differences, but
/// digits cancel where vectors are longer than they are apart. The halves are the vectors' own
/// numbers.
#[derive(Clone, Copy)]
pub(crate) struct Exponent;

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
    const PRODUCT: bool = true;

    #[inline(always)]
    fn add<S: Simd>(simd: S, x: T::Lanes<S>, y: T::Lanes<S>, sum: T::Lanes<S>) -> T::Lanes<S> {
        T::mul_add(simd, x, y, sum)
    }
}

impl<T: Real> Coordinate<T> for Exponent {
    const PRODUCT: bool = true;

    #[inline(always)]
    fn add<S: Simd>(simd: S, x: T::Lanes<S>, y: T::Lanes<S>, sum: T::Lanes<S>) -> T::Lanes<S> {
        T::mul_add(simd, x, y, sum)
    }

    #[inline(always)]
    fn start<S: Simd>(_: S, own: T::Lanes<S>) -> T::Lanes<S> {
        own
    }
}

/// Similarities of four rows of `x` with two vectors of columns of a strip of `y`, from vector `start`
/// on.
#[inline(always)]
pub(crate) fn similarity<S: Simd, T: Real, C: Coordinate<T>>(
    simd: S,
    coordinate: C,
    (x, row): (&Vectors<T>, usize),
    (y, index): (&Vectors<T>, usize),
    start: usize,
) -> Block<T, S> {
    let sums = start_sums::<S, T, C>(simd, (x, row), (y, index), start);
    add_coordinates(simd, coordinate, x.quad(row), y.strip(index), start, sums)
}

/// Similarities of the whole strip and some rows, `[row][column]`: a few coordinates at a time, which stay in the
/// first-level cache. From a row of `sums` to the next it is `stride` numbers.
#[inline(always)]
pub(crate) fn similarities<S: Simd, T: Real, C: Coordinate<T>>(
    simd: S,
    coordinate: C,
    (x, rows): (&Vectors<T>, Range<usize>),
    (y, index): (&Vectors<T>, usize),
    sums: &mut [T],
    stride: usize,
) {
    let (line, width) = (line::<T, S>(), strip::<T>());
    let stride = stride / T::width::<S>();
    let sums = T::lanes_mut::<S>(sums);
    let mut first = 0;
    while first < x.d {
        let last = x.d.min(first + COORDINATES);
        let columns = &y.strip(index)[first * width..last * width];
        for (row, sums) in rows
            .clone()
            .step_by(QUAD)
            .zip(sums.chunks_mut(QUAD * stride))
        {
            let [a, b, c, d] = x.quad(row);
            let quad = [
                &a[first..last],
                &b[first..last],
                &c[first..last],
                &d[first..last],
            ];
            for start in (0..line).step_by(PAIR) {
                let mut block = match first {
                    0 => start_sums::<S, T, C>(simd, (x, row), (y, index), start),
                    _ => {
                        let mut block = [[sums[0]; PAIR]; QUAD];
                        for q in 0..QUAD {
                            for v in 0..PAIR {
                                block[q][v] = sums[q * stride + start + v];
                            }
                        }
                        block
                    }
                };
                block = add_coordinates(simd, coordinate, quad, columns, start, block);
                for q in 0..QUAD {
                    for v in 0..PAIR {
                        sums[q * stride + start + v] = block[q][v];
                    }
                }
            }
        }
        first = last;
    }
}

/// The number of coordinates of a strip and of four rows that fill half of a first-level cache.
const COORDINATES: usize = 112;

#[inline(always)]
fn start_sums<S: Simd, T: Real, C: Coordinate<T>>(
    simd: S,
    (x, row): (&Vectors<T>, usize),
    (y, index): (&Vectors<T>, usize),
    start: usize,
) -> Block<T, S> {
    let zero = T::splat(simd, T::new(0.0));
    let mut sums = [[zero; PAIR]; QUAD];
    let own = T::lanes::<S>(&y.own[index * strip::<T>()..][..strip::<T>()]);
    for (sums, &of_row) in sums.iter_mut().zip(&x.own[row..row + QUAD]) {
        let of_row = T::splat(simd, of_row);
        for (sum, &of_column) in sums.iter_mut().zip(&own[start..start + PAIR]) {
            *sum = C::start(simd, T::add(simd, of_row, of_column));
        }
    }
    sums
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
