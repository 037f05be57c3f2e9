//! Distances and inner products between four rows and two vectors of columns.

use pulp::Simd;

use super::{
    layout::{PAIR, QUAD, line},
    real::Real,
};

/// For each row, vectors of columns.
pub(super) type Block<T, S> = [[<T as Real>::Lanes<S>; PAIR]; QUAD];

/// What a coordinate adds to the similarity of two vectors.
pub(super) trait Coordinate<T: Real>: Copy + Send + Sync {
    fn add<S: Simd>(simd: S, x: T::Lanes<S>, y: T::Lanes<S>, sum: T::Lanes<S>) -> T::Lanes<S>;
}

/// `Σ_c |x_c − y_c|`
#[derive(Clone, Copy)]
pub(super) struct L1;
/// `Σ_c (x_c − y_c)²`
#[derive(Clone, Copy)]
pub(super) struct SquaredEuclidean;
/// `Σ_c x_c y_c`
#[derive(Clone, Copy)]
pub(super) struct Inner;

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

/// Similarities of four rows with two vectors of columns of a strip, from vector `start` on.
#[inline(always)]
pub(super) fn similarity<S: Simd, T: Real, C: Coordinate<T>>(
    simd: S,
    _: C,
    rows: [&[T]; QUAD],
    strip: &[T],
    start: usize,
) -> Block<T, S> {
    let mut sums = [[T::splat(simd, T::new(0.0)); PAIR]; QUAD];
    let columns = T::lanes::<S>(strip).chunks_exact(line::<T, S>());
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
