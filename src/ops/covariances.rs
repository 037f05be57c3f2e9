//! Sums over pairs of the squares of `h` that calibrated predictions expect.

use burn::tensor::{Element, Tensor};

use super::{
    pairs::{PairKernel, host_kernel_matrix},
    simd::{
        product::{MatrixView, product},
        real::{Real, with_real},
    },
};
use crate::{host::Memory, parallel};

/// `Σ_{i≠j} k(x_i, x_j)² tr(C_i C_j)` with the covariances `C_i = diag(p_i) − p_i p_iᵀ` of labels, on the
/// host, on all of rayon's threads. With `d = p(1 − p)` by coordinate,
/// `tr(C_i C_j) = d_i·d_j − p_i²·p_j² + (p_i·p_j)²`.
///
/// - points: `x`, `[n, w]`, p: `[n, m]`, of one dtype, f32 or f64
///
/// Cost: `2 n²·(m + w)` operations, in tiles.
pub(crate) fn covariance_sum(
    points: Tensor<2>,
    p: Tensor<2>,
    kernel: PairKernel,
    bandwidth: f64,
) -> f64 {
    let dtype = p.dtype();
    let widths = [p.dims()[1], points.dims()[1]];
    let [p, points] = [p, points].map(Memory::of);
    with_real!(dtype, T => sum::<T>(p.slice(), points.slice(), widths, kernel, bandwidth))
}

/// Rows of a tile.
const ROWS: usize = 64;
/// Numbers of the points in the columns of a tile, about.
const COLUMNS: usize = 1 << 18;

fn sum<T: Real + Element>(
    p: &[T],
    points: &[T],
    [m, w]: [usize; 2],
    kernel: PairKernel,
    bandwidth: f64,
) -> f64 {
    let n = p.len() / m;
    // (d, p²) or (d, −p²), [k, 2m], whose products are d·d' − p²·p'²
    let features = |p: &[T], sign: f64| -> Vec<T> {
        let row = |p: &[T]| {
            let d = p.iter().map(|&p| p.times(T::new(1.0).minus(p)));
            let squares = p.iter().map(|&p| p.times(p).times(T::new(sign)));
            d.chain(squares).collect::<Vec<_>>()
        };
        p.chunks(m).flat_map(row).collect()
    };
    let products = |a: &[T], b: &[T], width: usize| {
        let (rows, columns) = (a.len() / width, b.len() / width);
        let mut result = vec![T::new(0.0); rows * columns];
        let a = MatrixView::new(a, width, [rows, width]);
        let b = MatrixView::new(b, width, [columns, width]);
        product(&mut result, columns, a, b.transposed());
        result
    };
    let width = (COLUMNS / m).max(ROWS);
    let of_columns = |start: usize| -> f64 {
        let end = n.min(start + width);
        let (q, at) = (&p[start * m..end * m], &points[start * w..end * w]);
        let right = features(q, -1.0);
        let of_rows = |first: usize| -> f64 {
            let rows = first..end.min(first + ROWS);
            let (p, points) = (
                &p[rows.start * m..rows.end * m],
                &points[rows.start * w..rows.end * w],
            );
            let (dots, others) = (
                products(p, q, m),
                products(&features(p, 1.0), &right, 2 * m),
            );
            let gram = host_kernel_matrix(points, at, w, kernel, bandwidth);
            let columns = end - start;
            let row_sum = |row: usize| -> f64 {
                let after = (first + row + 1).clamp(start, end) - start; // j > i
                let terms = (row * columns + after..(row + 1) * columns).map(|at| {
                    let trace = dots[at].times(dots[at]).plus(others[at]);
                    gram[at].times(gram[at]).times(trace).to_f64()
                });
                terms.sum()
            };
            (0..p.len() / m).map(row_sum).sum()
        };
        let rows = parallel::map(end.div_ceil(ROWS), &|k| of_rows(k * ROWS));
        rows.iter().sum() // in the same order on any number of threads
    };
    2.0 * (0..n).step_by(width).map(of_columns).sum::<f64>()
}
