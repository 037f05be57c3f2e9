//! The kernel between two sets of points.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::{
    PairKernel, Real,
    layout::{PAIR, QUAD, Vectors, line, strip},
    radial::{ExponentialEuclidean, ExponentialL1, GaussianEuclidean, GaussianL1, Radial},
    similarity::{Coordinate, L1, SquaredEuclidean, similarity},
};

/// `k(x_i, y_j)`, `[n, k]`.
///
/// - x: `[n, d]`, y: `[k, d]`
pub(crate) fn host_kernel_matrix<T: Real>(
    x: &[T],
    y: &[T],
    d: usize,
    kernel: PairKernel,
    bandwidth: f64,
) -> Vec<T> {
    let vectors = |points: &[T]| {
        let write = |i: usize, row: &mut [T]| row.copy_from_slice(&points[i * d..][..d]);
        Vectors::new(points.len() / d, d, true, write)
    };
    let k = y.len() / d;
    let mut matrix = vec![T::new(0.0); x.len() / d * k];
    let (x, y) = (&vectors(x), &vectors(y));
    let rate = kernel.distance().scale() / bandwidth;
    let out = &mut matrix;
    match (kernel.distance().is_euclidean(), kernel.is_gaussian()) {
        (false, false) => fill(x, y, k, ExponentialL1(rate), L1, out),
        (false, true) => fill(x, y, k, GaussianL1(rate), L1, out),
        (true, false) => fill(x, y, k, ExponentialEuclidean(rate), SquaredEuclidean, out),
        (true, true) => fill(x, y, k, GaussianEuclidean(rate), SquaredEuclidean, out),
    }
    matrix
}

fn fill<T: Real>(
    x: &Vectors<T>,
    y: &Vectors<T>,
    k: usize,
    radial: impl Radial<T>,
    coordinate: impl Coordinate<T>,
    matrix: &mut [T],
) {
    let rows = matrix.par_chunks_mut(k * strip::<T>()).enumerate();
    rows.for_each(|(index, matrix)| {
        let row = index * strip::<T>();
        Arch::new().dispatch(Fill {
            x,
            y,
            k,
            row,
            radial,
            coordinate,
            matrix,
        });
    });
}

/// A strip's worth of rows.
struct Fill<'a, T, R, C> {
    x: &'a Vectors<T>,
    y: &'a Vectors<T>,
    k: usize,
    row: usize,
    radial: R,
    coordinate: C,
    matrix: &'a mut [T],
}

impl<T: Real, R: Radial<T>, C: Coordinate<T>> WithSimd for Fill<'_, T, R, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, y, k, .. } = self;
        let width = PAIR * T::width::<S>();
        let quads = self.matrix.chunks_mut(QUAD * k);
        for (row, matrix) in (self.row..).step_by(QUAD).zip(quads) {
            for column in (0..k).step_by(width) {
                let start = column % strip::<T>() / T::width::<S>();
                debug_assert!(start < line::<T, S>());
                let columns = (y, column / strip::<T>());
                let block = similarity(simd, self.coordinate, (x, row), columns, start);
                for (matrix, separations) in matrix.chunks_exact_mut(k).zip(block) {
                    let mut values = separations;
                    for value in &mut values {
                        *value = self.radial.of(simd, *value).kernel;
                    }
                    let values = pulp::bytemuck::cast_slice::<_, T>(&values);
                    let matrix = &mut matrix[column..k.min(column + width)];
                    matrix.copy_from_slice(&values[..matrix.len()]);
                }
            }
        }
    }
}
