//! The operation on the processor: tensors to slices, and sums over pairs to means.

use burn::{
    backend::{
        Backend, TensorMetadata,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::{DType, Element, TensorData},
};

use super::{
    PairKernel, Pairing, Separation,
    backend::{WithGradient, WithGradients},
    normalisation,
};
use crate::ops::cpu::{
    self, Gradients, PairSums, Real, Residuals, Samples, order_statistics, pair_sums,
};
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
    let labels = checked::<B>(labels, points.shape()[1]);
    let data = ready(B::float_into_data(points));
    let arguments = (checked_bandwidth::<B>(bandwidth), kernel, pairing, gradient);
    let means = match data.dtype() {
        DType::F32 => of_labels::<f32>(&data, &labels, arguments),
        DType::F64 => of_labels::<f64>(&data, &labels, arguments),
        other => panic!("points of {other:?}, expected f32 or f64"),
    };
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
    let means = match data.dtype() {
        DType::F32 => of_rows::<f32>(&data, &rows, arguments),
        DType::F64 => of_rows::<f64>(&data, &rows, arguments),
        other => panic!("points of {other:?}, expected f32 or f64"),
    };
    let of = |data: TensorData| B::float_from_data(data, &device);
    let (points, residuals) = (of(means.points), of(means.residuals));
    (of(means.value), points, residuals, of(means.bandwidth))
}

fn checked_bandwidth<B: Backend>(bandwidth: FloatTensor<B>) -> f64 {
    let bandwidth = ready(B::float_into_data(bandwidth)).iter::<f64>().next();
    let bandwidth = bandwidth.expect("one bandwidth");
    assert!(
        bandwidth.is_finite() && bandwidth > 0.0,
        "the kernel bandwidth is {bandwidth}, expected a positive finite number"
    );
    bandwidth
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

/// Bandwidth, kernel, pairing, and whether there are gradients.
type Arguments = (f64, PairKernel, Pairing, bool);

/// The mean, and its gradients: without rows if not wanted.
struct Means {
    value: TensorData,
    points: TensorData,
    residuals: TensorData,
    bandwidth: TensorData,
}

fn of_labels<T: Real + Element>(
    points: &TensorData,
    labels: &[u32],
    arguments: Arguments,
) -> Means {
    let points = points.as_slice::<T>().expect("of this dtype");
    means(Samples::of_labels(points, labels), arguments)
}

fn of_rows<T: Real + Element>(
    points: &TensorData,
    residuals: &TensorData,
    arguments: Arguments,
) -> Means {
    let [d, m] = [points, residuals].map(|data| data.shape()[1]);
    let [points, rows] = [points, residuals].map(|x| x.as_slice::<T>().expect("of this dtype"));
    let residuals = Residuals::Rows { rows, m };
    means(
        Samples {
            points,
            d,
            residuals,
        },
        arguments,
    )
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

fn values_of<T: Real + Element>(
    points: &TensorData,
    labels: &[u32],
    kernel: PairKernel,
    bandwidth: f64,
    size: usize,
) -> Vec<f64> {
    let points = points.as_slice::<T>().expect("of this dtype");
    let samples = Samples::of_labels(points, labels);
    pair_sums(samples, size, kernel, bandwidth, false).values
}

fn matrix_of<T: Real + Element>(
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

fn median_of<T: Real + Element>(
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
