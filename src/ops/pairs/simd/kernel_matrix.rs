//! The kernel between two sets of points.

use pulp::{Simd, WithSimd};

use super::{
    PairKernel, Real,
    arch::Arch,
    layout::{PAIR, QUAD, Vectors, line, strip},
    radial::{Radial, Separation},
    similarity::{Coordinate, L1, SquaredEuclidean, similarity},
};
use crate::{
    ops::non_finite::{non_finite_rows, poison},
    parallel::for_each_chunk,
};

/// `k(x_i, y_j)`, `[n, k]`; NaN for points that are not finite.
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
    let not_finite = (non_finite_rows(x, d), non_finite_rows(y, d));
    let (x, y) = (&vectors(x), &vectors(y));
    let (radial, out) = (Radial::new(kernel, bandwidth), &mut matrix);
    match radial.separation {
        Separation::Magnitudes => fill(x, y, k, radial, L1, out),
        _ => fill(x, y, k, radial, SquaredEuclidean, out),
    }
    poison(&mut matrix, k, not_finite.0, not_finite.1);
    matrix
}

fn fill<T: Real>(
    x: &Vectors<T>,
    y: &Vectors<T>,
    k: usize,
    radial: Radial,
    coordinate: impl Coordinate<T>,
    matrix: &mut [T],
) {
    for_each_chunk(matrix, k * strip::<T>(), x.d, |(index, matrix)| {
        let row = index * strip::<T>();
        for (quad, matrix) in matrix.chunks_mut(QUAD * k).enumerate() {
            Arch::new().dispatch(Separations {
                x,
                y,
                k,
                row: row + quad * QUAD,
                coordinate,
                matrix: &mut *matrix,
            });
            radial.kernels(matrix);
        }
    });
}

/// Writes the separations of a quad of rows.
struct Separations<'a, T, C> {
    x: &'a Vectors<T>,
    y: &'a Vectors<T>,
    k: usize,
    row: usize,
    coordinate: C,
    matrix: &'a mut [T],
}

impl<T: Real, C: Coordinate<T>> WithSimd for Separations<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, y, k, row, .. } = self;
        let width = PAIR * T::width::<S>();
        for column in (0..k).step_by(width) {
            let start = column % strip::<T>() / T::width::<S>();
            debug_assert!(start < line::<T, S>());
            let columns = (y, column / strip::<T>());
            let block = similarity(simd, self.coordinate, (x, row), columns, start);
            for (matrix, separations) in self.matrix.chunks_exact_mut(k).zip(block) {
                let separations = pulp::bytemuck::cast_slice::<_, T>(&separations);
                let matrix = &mut matrix[column..k.min(column + width)];
                matrix.copy_from_slice(&separations[..matrix.len()]);
            }
        }
    }
}
