//! The operation on the host: tensors to slices, and sums over pairs to means.

use burn::{
    backend::{Backend, TensorMetadata, tensor::FloatTensor},
    tensor::{Element, Tensor, TensorData},
};

use super::{
    LocationScaleKernel, LocationScaleSamples, Rows,
    backend::WithGradients,
    sums::{PairSums, Setting},
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
    kernel: LocationScaleKernel,
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

/// A power of 2 near the reciprocal of the length scale, in which lengths are measured without rounding.
pub(super) fn unit(length_scale: f64) -> f64 {
    assert!(
        length_scale.is_finite() && length_scale > 0.0,
        "the length scale of the target kernel is {length_scale}, expected a positive finite number"
    );
    (-length_scale.log2().round()).clamp(-120.0, 120.0).exp2()
}

/// Samples and kernel, in units of the length scale.
fn scaled<T: Real + Element>(
    data: &[TensorData; 3],
    kernel: LocationScaleKernel,
    bandwidth: f64,
) -> (Rows<'_, T>, Setting) {
    let unit = unit(kernel.length_scale);
    let [locations, scales, targets] = data.each_ref().map(slice::<T>);
    let rows = Rows {
        locations,
        scales,
        targets,
        d: data[0].shape()[1],
        unit: T::new(unit),
    };
    let setting = Setting {
        expectations: kernel.expectations,
        length: kernel.length_scale * unit,
        profile: kernel.profile,
        bandwidth: bandwidth * unit,
    };
    (rows, setting)
}

/// The mean, and its gradients with respect to locations, scales and bandwidth: without rows if not
/// wanted.
fn means<T: Select + Element>(
    data: &[TensorData; 3],
    bandwidth: f64,
    kernel: LocationScaleKernel,
    pairing: Pairing,
    gradient: bool,
) -> [TensorData; 4] {
    let (rows, setting) = scaled::<T>(data, kernel, bandwidth);
    let n = rows.count();
    let (of_pairs, of_diagonal) = normalisation(pairing, n);
    let PairSums {
        values,
        stretch,
        gradient,
    } = setting.pair_sums(rows, pairing.size(n), of_diagonal > 0.0, gradient);
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

fn data(samples: &LocationScaleSamples) -> [TensorData; 3] {
    let LocationScaleSamples {
        locations,
        scales,
        targets,
    } = samples;
    [locations, scales, targets].map(|x| x.clone().detach().into_data())
}

/// `h` between samples and others, `[n, k]`.
pub(super) fn matrix(
    samples: &LocationScaleSamples,
    others: &LocationScaleSamples,
    bandwidth: f64,
    kernel: LocationScaleKernel,
) -> Tensor<2> {
    let (dtype, device) = (samples.locations.dtype(), samples.locations.device());
    let [rows, columns] = [samples, others].map(data);
    let shape = [rows[0].shape()[0], columns[0].shape()[0]];
    let matrix = with_real!(dtype, T => {
        let (rows, setting) = scaled::<T>(&rows, kernel, bandwidth);
        let (columns, _) = scaled::<T>(&columns, kernel, bandwidth);
        TensorData::new(setting.matrix(rows, columns), shape)
    });
    Tensor::from_data(matrix, (&device.without_autodiff(), dtype))
}

/// `h_ii`, `[n]`.
pub(super) fn diagonal(samples: &LocationScaleSamples, kernel: LocationScaleKernel) -> Tensor<1> {
    let (dtype, device) = (samples.locations.dtype(), samples.locations.device());
    let data = data(samples);
    let n = data[0].shape()[0];
    let diagonal = with_real!(dtype, T => {
        let (rows, setting) = scaled::<T>(&data, kernel, 1.0);
        TensorData::new(setting.diagonal(rows), [n])
    });
    Tensor::from_data(diagonal, (&device.without_autodiff(), dtype))
}

/// The mean of `h` over the pairs of each block.
pub(super) fn blocks(
    samples: &LocationScaleSamples,
    bandwidth: f64,
    kernel: LocationScaleKernel,
    size: usize,
) -> Vec<f64> {
    let data = data(samples);
    let sums = with_real!(samples.locations.dtype(), T => {
        let (rows, setting) = scaled::<T>(&data, kernel, bandwidth);
        setting.pair_sums(rows, size, false, false).values
    });
    let pairs = (size * (size - 1) / 2) as f64;
    sums.iter().map(|sum| sum / pairs).collect()
}
