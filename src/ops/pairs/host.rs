//! The operation on the host: tensors to slices, and sums over pairs to means.

use burn::{
    backend::{
        Backend, TensorMetadata,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::{Element, Int, Tensor, TensorData},
};

use super::{
    PairKernel, PairMean,
    backend::WithGradients,
    normalisation,
    simd::{PairSamples, PairSums, host_kernel_matrix, pair_sums, residuals_of_labels},
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
    residuals: FloatTensor<B>,
    labels: IntTensor<B>,
    bandwidth: FloatTensor<B>,
    form: PairMean,
    gradient: bool,
) -> WithGradients<B> {
    let (device, d, m) = (points.device(), points.shape()[1], residuals.shape()[1]);
    let rows = if form.by_label {
        drop(residuals); // the points, which need no copy then
        None
    } else {
        Some(ready(B::float_into_data(residuals)))
    };
    let labels = (form.by_label).then(|| checked(ready(B::int_into_data(labels)), d));
    let data = ready(B::float_into_data(points));
    let bandwidth = checked_bandwidth::<B>(bandwidth);
    let means = with_real!(data.dtype(), T => {
        let points = slice::<T>(&data);
        let of_labels = labels.as_ref().map(|labels| residuals_of_labels(points, labels, d));
        let of_rows = rows.as_ref().map(slice::<T>);
        let samples = PairSamples {
            points,
            d,
            residuals: of_labels.as_deref().or(of_rows).expect("labels or residuals"),
            m,
            labels: labels.as_deref(),
        };
        means(samples, bandwidth, form, gradient)
    });
    let [value, points, residuals, bandwidth] = means.map(|data| B::float_from_data(data, &device));
    (value, points, residuals, bandwidth)
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

pub(in crate::ops) fn slice<T: Real + Element>(data: &TensorData) -> &[T] {
    data.as_slice().expect("of this dtype")
}

/// The mean, and its gradients with respect to points, residuals and bandwidth: without rows if not wanted.
fn means<T: Real + Element>(
    samples: PairSamples<T>,
    bandwidth: f64,
    form: PairMean,
    gradient: bool,
) -> [TensorData; 4] {
    let n = samples.count();
    let (of_pairs, of_diagonal) = normalisation(form.pairing, n);
    let size = form.pairing.size(n);
    let mut sums: PairSums<T> = pair_sums(samples, size, form.kernel, bandwidth, gradient);
    let mut value = of_pairs * sums.values.iter().sum::<f64>();
    let all = sums.points.iter_mut().chain(&mut sums.residuals);
    all.for_each(|g| *g = g.times(T::new(of_pairs)));
    if of_diagonal > 0.0 {
        let squares = samples.residuals.iter().map(|r| r.to_f64() * r.to_f64());
        value += of_diagonal * squares.sum::<f64>();
        // ∂δ/∂p = −1 where residuals are of labels
        let (gradient, sign) = match samples.labels {
            Some(_) => (&mut sums.points, -1.0),
            None => (&mut sums.residuals, 1.0),
        };
        for (g, r) in gradient.iter_mut().zip(samples.residuals) {
            *g = g.plus(T::new(sign * 2.0 * of_diagonal * r.to_f64()));
        }
    }
    let one = |x: f64| TensorData::new(vec![T::new(x)], [1]);
    let rows = |gradient: Vec<T>, d: usize| {
        let rows = gradient.len() / d; // none without a gradient
        TensorData::new(gradient, [rows, d])
    };
    let stretch = one(of_pairs * sums.stretch / bandwidth);
    let (points, residuals) = (
        rows(sums.points, samples.d),
        rows(sums.residuals, samples.m),
    );
    [one(value), points, residuals, stretch]
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
        let points = points.slice::<T>();
        let samples = PairSamples {
            points,
            d,
            residuals: &residuals_of_labels(points, &labels, d),
            m: d,
            labels: Some(&labels),
        };
        pair_sums(samples, size, kernel, bandwidth, false).values
    });
    let pairs = (size * (size - 1) / 2) as f64;
    sums.iter().map(|sum| sum / pairs).collect()
}
