//! The operation on the host: tensors to slices, and sums over pairs to means.

use burn::{
    backend::{Backend, TensorMetadata, tensor::FloatTensor},
    tensor::{Element, Tensor, TensorData},
};

use super::{
    NormalKernel, NormalSamples, Rows,
    backend::WithGradients,
    pair::Gaussian,
    sums::{PairSums, Pass},
    unit,
    weigh::Radial,
};
use crate::ops::{
    Pairing,
    backends::ready,
    pairs::{checked_bandwidth, normalisation, slice},
    simd::{
        real::{Real, with_real},
        wide::Select,
    },
};

pub(super) fn run<B: Backend>(
    samples: [FloatTensor<B>; 3],
    bandwidth: FloatTensor<B>,
    kernel: NormalKernel,
    pairing: Pairing,
    gradient: bool,
) -> WithGradients<B> {
    let device = samples[0].device();
    let bandwidth = checked_bandwidth::<B>(bandwidth);
    let data = samples.map(|x| ready(B::float_into_data(x)));
    let [value, locations, scales, bandwidth] = with_real!(data[0].dtype(), T => {
        means::<T>(&data, bandwidth, kernel, pairing, gradient)
    })
    .map(|data| B::float_from_data(data, &device));
    (value, locations, scales, bandwidth)
}

/// Samples and kernel, in units of the length scale.
fn scaled<T: Real + Element>(
    data: &[TensorData; 3],
    kernel: NormalKernel,
    bandwidth: f64,
) -> (Rows<'_, T>, Pass) {
    let unit = unit(kernel.length_scale);
    let [locations, scales, targets] = data.each_ref().map(slice::<T>);
    let rows = Rows {
        locations,
        scales,
        targets,
        d: data[0].shape()[1],
        unit: T::new(unit),
    };
    let pass = Pass {
        gaussian: Gaussian {
            length: kernel.length_scale * unit,
        },
        radial: Radial {
            profile: kernel.profile,
            bandwidth: bandwidth * unit,
        },
    };
    (rows, pass)
}

/// The mean, and its gradients with respect to locations, scales and bandwidth: without rows if not
/// wanted.
fn means<T: Select + Element>(
    data: &[TensorData; 3],
    bandwidth: f64,
    kernel: NormalKernel,
    pairing: Pairing,
    gradient: bool,
) -> [TensorData; 4] {
    let (rows, pass) = scaled::<T>(data, kernel, bandwidth);
    let n = rows.count();
    let (of_pairs, of_diagonal) = normalisation(pairing, n);
    let PairSums {
        values,
        stretch,
        gradient,
    } = pass.pair_sums(rows, pairing.size(n), of_diagonal > 0.0, gradient);
    let one = |x: f64| TensorData::new(vec![T::new(x)], [1]);
    let [locations, scales] = gradient.map(|mut gradient| {
        let factor = T::new(of_pairs);
        gradient.iter_mut().for_each(|g| *g = g.times(factor));
        let count = gradient.len() / rows.d; // none without a gradient
        TensorData::new(gradient, [count, rows.d])
    });
    let value = of_pairs * values.iter().sum::<f64>();
    [
        one(value),
        locations,
        scales,
        one(of_pairs * stretch / bandwidth),
    ]
}

fn data(samples: &NormalSamples) -> [TensorData; 3] {
    let NormalSamples {
        locations,
        scales,
        targets,
    } = samples;
    [locations, scales, targets].map(|x| x.clone().detach().into_data())
}

/// `h` between samples and others, `[n, k]`.
pub(super) fn matrix(
    samples: &NormalSamples,
    others: &NormalSamples,
    bandwidth: f64,
    kernel: NormalKernel,
) -> Tensor<2> {
    let (dtype, device) = (samples.locations.dtype(), samples.locations.device());
    let [rows, columns] = [samples, others].map(data);
    let shape = [rows[0].shape()[0], columns[0].shape()[0]];
    let matrix = with_real!(dtype, T => {
        let (rows, pass) = scaled::<T>(&rows, kernel, bandwidth);
        let (columns, _) = scaled::<T>(&columns, kernel, bandwidth);
        TensorData::new(pass.matrix(rows, columns), shape)
    });
    Tensor::from_data(matrix, (&device.without_autodiff(), dtype))
}

/// `h_ii`, `[n]`.
pub(super) fn diagonal(samples: &NormalSamples, kernel: NormalKernel) -> Tensor<1> {
    let (dtype, device) = (samples.locations.dtype(), samples.locations.device());
    let data = data(samples);
    let n = data[0].shape()[0];
    let diagonal = with_real!(dtype, T => {
        let (rows, pass) = scaled::<T>(&data, kernel, 1.0);
        TensorData::new(pass.diagonal(rows), [n])
    });
    Tensor::from_data(diagonal, (&device.without_autodiff(), dtype))
}

/// The mean of `h` over the pairs of each block.
pub(super) fn blocks(
    samples: &NormalSamples,
    bandwidth: f64,
    kernel: NormalKernel,
    size: usize,
) -> Vec<f64> {
    let data = data(samples);
    let sums = with_real!(samples.locations.dtype(), T => {
        let (rows, pass) = scaled::<T>(&data, kernel, bandwidth);
        pass.pair_sums(rows, size, false, false).values
    });
    let pairs = (size * (size - 1) / 2) as f64;
    sums.iter().map(|sum| sum / pairs).collect()
}
