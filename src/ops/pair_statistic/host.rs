//! The operation on the processor: tensors to slices, and sums over pairs to means.

use burn::{
    backend::{
        Backend, TensorMetadata,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::{DType, TensorData},
};

use super::{PairKernel, Pairing, Separation, backend::WithGradient, block_size, normalisation};
use crate::ops::cpu::{self, PairSums, Real, Samples, order_statistics, pair_sums};
use crate::ops::ready::ready;

pub(super) fn run<B: Backend>(
    points: FloatTensor<B>,
    labels: IntTensor<B>,
    bandwidth: FloatTensor<B>,
    kernel: PairKernel,
    pairing: Pairing,
    gradient: bool,
) -> WithGradient<B> {
    let device = points.device();
    let m = points.shape()[1];
    let labels = checked::<B>(labels, m);
    let data = ready(B::float_into_data(points));
    let bandwidth = ready(B::float_into_data(bandwidth)).iter::<f64>().next();
    let bandwidth = bandwidth.expect("one bandwidth");
    assert!(
        bandwidth.is_finite() && bandwidth > 0.0,
        "the kernel bandwidth is {bandwidth}, expected a positive finite number"
    );
    let arguments = (&*labels, m, bandwidth, kernel, pairing, gradient);
    let (value, gradient, stretch) = match data.dtype() {
        DType::F32 => means::<f32>(&data, arguments),
        DType::F64 => means::<f64>(&data, arguments),
        other => panic!("points of {other:?}, expected f32 or f64"),
    };
    let of = |data: TensorData| B::float_from_data(data, &device);
    (of(value), of(gradient), of(stretch))
}

/// Labels of `m` classes.
fn checked<B: Backend>(labels: IntTensor<B>, m: usize) -> Vec<u32> {
    let labels = ready(B::int_into_data(labels));
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

type Arguments<'a> = (&'a [u32], usize, f64, PairKernel, Pairing, bool);

/// The mean, and its gradients in the dtype of the points.
fn means<T: Real + burn::tensor::Element>(
    points: &TensorData,
    (labels, d, bandwidth, kernel, pairing, gradient): Arguments,
) -> (TensorData, TensorData, TensorData) {
    let points = points.as_slice::<T>().expect("of this dtype");
    let n = labels.len();
    let (of_pairs, of_diagonal) = normalisation(pairing, n);
    let samples = Samples { points, labels, d };
    let size = block_size(pairing, n);
    let sums: PairSums<T> = pair_sums(samples, size, kernel, bandwidth, gradient);
    let mut value = of_pairs * sums.values.iter().sum::<f64>();
    let mut gradient = sums.gradient;
    gradient
        .iter_mut()
        .for_each(|g| *g = g.times(T::new(of_pairs)));
    if of_diagonal > 0.0 {
        for (i, (p, &label)) in points.chunks_exact(d).zip(labels).enumerate() {
            for (c, p) in p.iter().enumerate() {
                let delta = f64::from(c == label as usize) - p.to_f64();
                value += of_diagonal * delta * delta;
                if let Some(g) = gradient.get_mut(i * d + c) {
                    *g = g.plus(T::new(-2.0 * of_diagonal * delta));
                }
            }
        }
    }
    let stretch = of_pairs * sums.stretch / bandwidth;
    let one = |x: f64| TensorData::new(vec![T::new(x)], [1]);
    let rows = gradient.len() / d; // none without a gradient
    (
        one(value),
        TensorData::new(gradient, [rows, d]),
        one(stretch),
    )
}

pub(super) fn median<B: Backend>(
    points: FloatTensor<B>,
    separation: Separation,
    size: usize,
) -> FloatTensor<B> {
    let device = points.device();
    let d = points.shape()[1];
    let data = ready(B::float_into_data(points));
    let median = match data.dtype() {
        DType::F32 => median_of::<f32>(&data, d, separation, size),
        DType::F64 => median_of::<f64>(&data, d, separation, size),
        other => panic!("points of {other:?}, expected f32 or f64"),
    };
    B::float_from_data(
        TensorData::new(vec![median], [1]).convert_dtype(data.dtype()),
        &device,
    )
}

pub(super) fn kernel_matrix<B: Backend>(
    x: FloatTensor<B>,
    y: FloatTensor<B>,
    kernel: PairKernel,
    bandwidth: f64,
) -> FloatTensor<B> {
    let device = x.device();
    let d = x.shape()[1];
    let (x, y) = (ready(B::float_into_data(x)), ready(B::float_into_data(y)));
    let matrix = match x.dtype() {
        DType::F32 => matrix_of::<f32>(&x, &y, d, kernel, bandwidth),
        DType::F64 => matrix_of::<f64>(&x, &y, d, kernel, bandwidth),
        other => panic!("points of {other:?}, expected f32 or f64"),
    };
    B::float_from_data(matrix, &device)
}

pub(super) fn block_values<B: Backend>(
    points: FloatTensor<B>,
    labels: IntTensor<B>,
    kernel: PairKernel,
    bandwidth: f64,
    size: usize,
) -> FloatTensor<B> {
    let device = points.device();
    let d = points.shape()[1];
    let labels = checked::<B>(labels, d);
    let data = ready(B::float_into_data(points));
    let sums = match data.dtype() {
        DType::F32 => values_of::<f32>(&data, &labels, kernel, bandwidth, size),
        DType::F64 => values_of::<f64>(&data, &labels, kernel, bandwidth, size),
        other => panic!("points of {other:?}, expected f32 or f64"),
    };
    let pairs = (size * (size - 1) / 2) as f64;
    let values: Vec<f64> = sums.iter().map(|sum| sum / pairs).collect();
    let shape = [values.len()];
    B::float_from_data(TensorData::new(values, shape), &device)
}

fn values_of<T: Real + burn::tensor::Element>(
    points: &TensorData,
    labels: &[u32],
    kernel: PairKernel,
    bandwidth: f64,
    size: usize,
) -> Vec<f64> {
    let points = points.as_slice::<T>().expect("of this dtype");
    let d = points.len() / labels.len();
    pair_sums(
        Samples { points, labels, d },
        size,
        kernel,
        bandwidth,
        false,
    )
    .values
}

fn matrix_of<T: Real + burn::tensor::Element>(
    x: &TensorData,
    y: &TensorData,
    d: usize,
    kernel: PairKernel,
    bandwidth: f64,
) -> TensorData {
    let points = |data| TensorData::as_slice::<T>(data).expect("of this dtype");
    let (x, y) = (points(x), points(y));
    let matrix = cpu::kernel_matrix(x, y, d, kernel, bandwidth);
    TensorData::new(matrix, [x.len() / d, y.len() / d])
}

fn median_of<T: Real + burn::tensor::Element>(
    points: &TensorData,
    d: usize,
    separation: Separation,
    size: usize,
) -> f64 {
    let points = points.as_slice::<T>().expect("of this dtype");
    if !points.iter().all(|x| x.to_f64().is_finite()) {
        return 1.0; // of a diverged batch, whose statistic is NaN
    }
    let pairs = (points.len() / d / size * (size * (size - 1) / 2)) as u64;
    let middle = [(pairs - 1) / 2, pairs / 2];
    let middle = order_statistics(points, d, size, separation, &middle);
    match 0.5 * (middle[0] + middle[1]) {
        0.0 => 1.0,
        median => median,
    }
}
