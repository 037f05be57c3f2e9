//! The operation on the host: tensors to slices, and sums over pairs to means.

use burn::tensor::{Element, Int, Tensor, TensorData};

use super::{
    MeanFactors, PairKernel, PairMean, block_sums, linearised_mean,
    simd::{PairSamples, host_kernel_matrix, pair_sums, residuals_of_labels},
};
use crate::{
    host::{Memory, to_scalar},
    ops::simd::real::{Real, with_real},
};

/// The mean over points with labels.
pub(super) fn label_mean(
    points: Tensor<2>,
    labels: Tensor<1, Int>,
    bandwidth: Tensor<1>,
    form: PairMean,
) -> Tensor<1> {
    let d = points.dims()[1];
    let labels = checked(labels, d);
    let memory = Memory::of(points.clone());
    with_real!(points.dtype(), T => {
        let numbers = memory.slice::<T>();
        let samples = PairSamples {
            points: numbers,
            d,
            residuals: &residuals_of_labels(numbers, &labels, d),
            m: d,
            labels: Some(&labels),
        };
        mean(samples, [&points, &points], &bandwidth, form)
    })
}

/// The mean over points with residuals.
pub(super) fn residual_mean(
    points: Tensor<2>,
    residuals: Tensor<2>,
    bandwidth: Tensor<1>,
    form: PairMean,
) -> Tensor<1> {
    let [numbers, rows] = [&points, &residuals].map(|x| Memory::of(x.clone()));
    with_real!(points.dtype(), T => {
        let samples = PairSamples {
            points: numbers.slice::<T>(),
            d: points.dims()[1],
            residuals: rows.slice(),
            m: residuals.dims()[1],
            labels: None,
        };
        mean(samples, [&points, &residuals], &bandwidth, form)
    })
}

/// The mean, with its gradients where they are asked for.
fn mean<T: Real + Element>(
    samples: PairSamples<T>,
    [points, residuals]: [&Tensor<2>; 2],
    bandwidth: &Tensor<1>,
    form: PairMean,
) -> Tensor<1> {
    let width = checked_bandwidth(bandwidth);
    let (n, options) = (samples.count(), (&points.device(), points.dtype()));
    let is_tracked = points.is_tracked() || residuals.is_tracked() || bandwidth.is_tracked();
    let factors = MeanFactors::new(form.pairing, n);
    let size = form.pairing.size(n);
    let mut sums = pair_sums(samples, size, form.kernel, width, is_tracked);
    let mut value = factors.pairs * sums.values.iter().sum::<f64>();
    for g in sums.points.iter_mut().chain(&mut sums.residuals) {
        *g = *g * T::new(factors.pairs);
    }
    if factors.diagonal > 0.0 {
        let squares = samples.residuals.iter().map(|r| r.to_f64() * r.to_f64());
        value += factors.diagonal * squares.sum::<f64>();
        // ∂δ/∂p = −1 where residuals are of labels
        let (gradient, sign) = match samples.labels {
            Some(_) => (&mut sums.points, -1.0),
            None => (&mut sums.residuals, 1.0),
        };
        for (g, r) in gradient.iter_mut().zip(samples.residuals) {
            *g += T::new(sign * 2.0 * factors.diagonal * r.to_f64());
        }
    }
    let one = |x: f64| Tensor::from_data([x], options);
    if !is_tracked {
        return one(value);
    }
    let rows =
        |gradient: Vec<T>, d: usize| Tensor::from_data(TensorData::new(gradient, [n, d]), options);
    let to_bandwidth = (bandwidth, one(factors.pairs * sums.stretch / width));
    let to_points = (points, rows(sums.points, samples.d));
    if samples.labels.is_some() {
        return linearised_mean(one(value), [to_points], to_bandwidth);
    }
    let to_residuals = (residuals, rows(sums.residuals, samples.m));
    linearised_mean(one(value), [to_points, to_residuals], to_bandwidth)
}

/// The bandwidth, which is positive.
pub(in crate::ops) fn checked_bandwidth(bandwidth: &Tensor<1>) -> f64 {
    let bandwidth = to_scalar(bandwidth.clone().detach());
    assert!(
        bandwidth.is_finite() && bandwidth > 0.0,
        "the kernel bandwidth is {bandwidth}, expected a positive finite number"
    );
    bandwidth
}

/// Labels of `m` classes.
fn checked(labels: Tensor<1, Int>, m: usize) -> Vec<u32> {
    let labels = labels.into_data();
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
    let labels = checked(labels, d);
    let points = Memory::of(points);
    let sums = with_real!(dtype, T => {
        block_sums((points.slice::<T>(), d), (&labels, None), size, kernel, bandwidth)
    });
    let pairs = (size * (size - 1) / 2) as f64;
    sums.iter().map(|sum| sum / pairs).collect()
}
