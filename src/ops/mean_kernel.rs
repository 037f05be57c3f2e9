//! Means of a kernel over groups of points, such as the draws of predictions.

use burn::tensor::{Element, Tensor, TensorData};

use super::{
    PairKernel, host_kernel_matrix,
    simd::real::{Real, with_real},
};
use crate::parallel::for_each_chunk;

/// `(ST)⁻¹ Σ_st k(x_{iS+s}, y_{jT+t})` for all groups `i` of `S` consecutive points and `j` of `T` others,
/// within each batch, detached. Computed on the host, in f32 or f64, on all threads.
///
/// # Shapes
///
/// - x: `[batch, n·S, d]`, and `S`
/// - y: `[batch, k·T, d]`, and `T`
/// - output: `[batch, n, k]`
///
/// Cost: `n·S·k·T·d` operations in vectors; memory `O(n·k)`.
pub(crate) fn mean_kernel_matrix(
    (x, s): (Tensor<3>, usize),
    (y, t): (Tensor<3>, usize),
    kernel: PairKernel,
    bandwidth: f64,
) -> Tensor<3> {
    let (device, dtype, [batches, rows, d]) = (x.device(), x.dtype(), x.dims());
    let shape = [batches, rows / s, y.dims()[1] / t];
    let (x, y) = (x.into_data(), y.into_data());
    let means = with_real!(dtype, T => {
        let [x, y] = [&x, &y].map(|data| data.as_slice::<T>().expect("of this dtype"));
        let of_batch = |batch: usize| {
            let part = |points: &'_ [T]| -> std::ops::Range<usize> {
                let size = points.len() / batches;
                batch * size..(batch + 1) * size
            };
            means((&x[part(x)], s), (&y[part(y)], t), d, kernel, bandwidth)
        };
        let means: Vec<T> = (0..batches).flat_map(of_batch).collect();
        TensorData::new(means, shape)
    });
    Tensor::from_data(means, (&device, dtype))
}

/// The means of one batch, `[n, k]`.
fn means<T: Real + Element>(
    (x, s): (&[T], usize),
    (y, t): (&[T], usize),
    d: usize,
    kernel: PairKernel,
    bandwidth: f64,
) -> Vec<T> {
    let (n, k) = (x.len() / (s * d), y.len() / (t * d));
    let mut out = vec![T::new(0.0); n * k];
    let width = (TILE / (s * t)).clamp(1, k.max(1));
    let share = ((s * t) as f64).recip();
    for_each_chunk(&mut out, k.max(1), s * t * d, |(i, out)| {
        let x = &x[i * s * d..][..s * d];
        for (out, y) in out.chunks_mut(width).zip(y.chunks(width * t * d)) {
            let matrix = host_kernel_matrix(x, y, d, kernel, bandwidth); // [S, width·T]
            let columns = out.len() * t;
            let mut sums = vec![T::new(0.0); columns];
            for row in matrix.chunks(columns) {
                let add = |(sum, k): (&mut T, &T)| *sum = sum.plus(*k);
                sums.iter_mut().zip(row).for_each(add);
            }
            for (mean, sums) in out.iter_mut().zip(sums.chunks(t)) {
                let sum: f64 = sums.iter().map(|x| x.to_f64()).sum();
                *mean = T::new(sum * share);
            }
        }
    });
    out
}

/// Values of the kernel that are held at once on a thread.
const TILE: usize = 1 << 15;
