//! The kernel between two sets of points.

use super::{
    PairKernel, Real,
    arch::Arch,
    layout::{Aligned, PaddedVectors, QUAD, strip},
    radial::{Kernels, Radial},
    similarity::similarities,
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
    let (k, width) = (y.len() / d, strip::<T>());
    let mut matrix = vec![T::new(0.0); x.len() / d * k];
    let not_finite = (non_finite_rows(x, d), non_finite_rows(y, d));
    let (x, y) = (&PaddedVectors::new(x, d), &PaddedVectors::new(y, d));
    let radial = Radial::new(kernel, bandwidth);
    for_each_chunk(&mut matrix, k * width, d, |(index, matrix)| {
        let mut scratch = Aligned::zeros(width * width);
        let rows = matrix.len() / k;
        let kernels = &mut scratch[..rows.next_multiple_of(QUAD) * width];
        for column in (0..k).step_by(width) {
            let rows = index * width..index * width + kernels.len() / width;
            similarities(radial.sum.into(), (x, rows), (y, column / width), kernels);
            Arch::new().dispatch(Kernels {
                radial,
                separations: &mut *kernels,
            });
            for (matrix, kernels) in matrix.chunks_exact_mut(k).zip(kernels.chunks_exact(width)) {
                let matrix = &mut matrix[column..k.min(column + width)];
                matrix.copy_from_slice(&kernels[..matrix.len()]);
            }
        }
    });
    poison(&mut matrix, k, not_finite.0, not_finite.1);
    matrix
}
