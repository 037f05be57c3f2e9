//! The operation on the host: tensors to slices, and sums over pairs to means.

use burn::{
    backend::{
        Backend, TensorMetadata,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::{Element, Int, Tensor, TensorData},
};

use super::{
    PairKernel, Pairing,
    backend::{WithGradient, WithGradients},
    normalisation,
    simd::{Gradients, PairSums, Residuals, Samples, host_kernel_matrix, pair_sums},
};
use crate::{
    host::Memory,
    ops::{
        backends::ready,
        simd::real::{Real, with_real},
    },
};

pub(super) fn run<B: Backend>(
    points: FloatTensor<B>,
    labels: IntTensor<B>,
    bandwidth: FloatTensor<B>,
    kernel: PairKernel,
    pairing: Pairing,
    gradient: bool,
) -> WithGradient<B> {
    let device = points.device();
    let labels = checked(ready(B::int_into_data(labels)), points.shape()[1]);
    let data = ready(B::float_into_data(points));
    let arguments = (checked_bandwidth::<B>(bandwidth), kernel, pairing, gradient);
    let means = with_real!(data.dtype(), T => {
        means(Samples::of_labels(slice::<T>(&data), &labels), arguments)
    });
    let of = |data: TensorData| B::float_from_data(data, &device);
    (of(means.value), of(means.points), of(means.bandwidth))
}

pub(super) fn run_rows<B: Backend>(
    points: FloatTensor<B>,
    residuals: FloatTensor<B>,
    bandwidth: FloatTensor<B>,
    kernel: PairKernel,
    pairing: Pairing,
    gradient: bool,
) -> WithGradients<B> {
    let device = points.device();
    let data = ready(B::float_into_data(points));
    let rows = ready(B::float_into_data(residuals));
    let arguments = (checked_bandwidth::<B>(bandwidth), kernel, pairing, gradient);
    let [d, m] = [&data, &rows].map(|data| data.shape()[1]);
    let means = with_real!(data.dtype(), T => {
        let (points, rows) = (slice::<T>(&data), slice::<T>(&rows));
        let residuals = Residuals::Rows { rows, m };
        means(Samples { points, d, residuals }, arguments)
    });
    let of = |data: TensorData| B::float_from_data(data, &device);
    let (points, residuals) = (of(means.points), of(means.residuals));
    (of(means.value), points, residuals, of(means.bandwidth))
}

pub(in crate::ops) fn checked_bandwidth<B: Backend>(bandwidth: FloatTensor<B>) -> f64 {
    let bandwidth = ready(B::float_into_data(bandwidth)).iter::<f64>().next();
    let bandwidth = bandwidth.expect("one bandwidth");
    assert!(
        bandwidth.is_finite() && bandwidth > 0.0,
        "the kernel bandwidth is {bandwidth}, expected a positive finite number"
    );
    bandwidth
}

/// Labels of `m` classes.
fn checked(labels: TensorData, m: usize) -> Vec<u32> {
    let labels = labels.iter::<i64>().enumerate().map(|(row, label)| {
        let in_range = usize::try_from(label).is_ok_and(|label| label < m);
        assert!(
            in_range,
            "the label in row {row} is {label}, expected 0 to {}",
            m - 1
        );
        label as u32
    });
    labels.collect()
}

/// Bandwidth, kernel, pairing, and whether there are gradients.
type Arguments = (f64, PairKernel, Pairing, bool);

/// The mean, and its gradients: without rows if not wanted.
struct Means {
    value: TensorData,
    points: TensorData,
    residuals: TensorData,
    bandwidth: TensorData,
}

pub(in crate::ops) fn slice<T: Real + Element>(data: &TensorData) -> &[T] {
    data.as_slice().expect("of this dtype")
}

fn means<T: Real + Element>(
    samples: Samples<T>,
    (bandwidth, kernel, pairing, gradient): Arguments,
) -> Means {
    let n = samples.count();
    let (of_pairs, of_diagonal) = normalisation(pairing, n);
    let size = pairing.size(n);
    let sums: PairSums<T> = pair_sums(samples, size, kernel, bandwidth, gradient);
    let mut value = of_pairs * sums.values.iter().sum::<f64>();
    let Gradients {
        mut points,
        mut residuals,
    } = sums.gradient;
    let all = points.iter_mut().chain(&mut residuals);
    all.for_each(|g| *g = g.times(T::new(of_pairs)));
    if of_diagonal > 0.0 {
        // ∂δ/∂p = −1 where residuals are of labels
        let (gradient, sign) = match samples.residuals {
            Residuals::Labels(_) => (&mut points, -1.0),
            Residuals::Rows { .. } => (&mut residuals, 1.0),
        };
        for index in 0..n * samples.residual_size() {
            let residual = samples.residual(index);
            value += of_diagonal * residual * residual;
            if let Some(g) = gradient.get_mut(index) {
                *g = g.plus(T::new(sign * 2.0 * of_diagonal * residual));
            }
        }
    }
    let one = |x: f64| TensorData::new(vec![T::new(x)], [1]);
    let rows = |gradient: Vec<T>, d: usize| {
        let rows = gradient.len() / d; // none without a gradient
        TensorData::new(gradient, [rows, d])
    };
    Means {
        value: one(value),
        points: rows(points, samples.d),
        residuals: rows(residuals, samples.residual_size()),
        bandwidth: one(of_pairs * sums.stretch / bandwidth),
    }
}

/// The kernel between two sets of points, detached: `[n, d]` and `[k, d]` to `[n, k]`. Computed on the
/// host, in f32 or f64.
pub(crate) fn kernel_matrix(
    x: Tensor<2>,
    y: Tensor<2>,
    kernel: PairKernel,
    bandwidth: f64,
) -> Tensor<2> {
    let (device, shape) = (x.device(), [x.dims()[0], y.dims()[0]]);
    let (d, dtype) = (x.dims()[1], x.dtype());
    let [x, y] = [x, y].map(Memory::of);
    let matrix = with_real!(dtype, T => {
        let matrix = host_kernel_matrix::<T>(x.slice(), y.slice(), d, kernel, bandwidth);
        TensorData::new(matrix, shape)
    });
    Tensor::from_data(matrix, (&device, dtype))
}

/// The mean of [`pair_statistic`](super::pair_statistic) over the pairs of each block of `size` samples.
/// Computed on the host, in f32 or f64.
pub(crate) fn block_values(
    points: Tensor<2>,
    labels: Tensor<1, Int>,
    kernel: PairKernel,
    bandwidth: f64,
    size: usize,
) -> Vec<f64> {
    let (d, dtype) = (points.dims()[1], points.dtype());
    let labels = checked(labels.into_data(), d);
    let points = Memory::of(points);
    let sums = with_real!(dtype, T => {
        let samples = Samples::of_labels(points.slice::<T>(), &labels);
        pair_sums(samples, size, kernel, bandwidth, false).values
    });
    let pairs = (size * (size - 1) / 2) as f64;
    sums.iter().map(|sum| sum / pairs).collect()
}
