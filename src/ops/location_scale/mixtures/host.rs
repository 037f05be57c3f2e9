//! The operation on the host: tensors to slices of batches, and back.

use burn::{
    backend::{Backend, TensorMetadata, tensor::FloatTensor},
    tensor::{Element, Tensor, TensorData},
};

use super::{
    Mixtures, OnTargets,
    backend::{OfAll, Products},
    contraction::Contraction,
};
use crate::{
    ops::{
        backends::ready,
        location_scale::{LocationScaleSamples, Rows, host::unit, sums::Setting},
        pairs::slice,
        simd::{real::with_real, wide::Select},
    },
    radial::Profile,
};

pub(super) fn products<B: Backend>(
    mixtures: [FloatTensor<B>; 4],
    on_targets: OnTargets,
    batches: usize,
) -> Products<B> {
    let device = mixtures[0].device();
    let data = mixtures.map(|x| ready(B::float_into_data(x)));
    let [residuals, of_components] = with_real!(data[0].dtype(), T => {
        let all = Numbers::<T>::new(&data, on_targets);
        let parts = (0..batches).map(|batch| {
            let some = all.batch(batch, batches);
            some.products(&some)
        });
        let n = all.n / batches;
        let (residuals, of_components): (Vec<_>, Vec<_>) = parts.unzip();
        [
            TensorData::new(residuals.concat(), [batches, n, n]),
            TensorData::new(of_components.concat(), [batches, n * all.each, n]),
        ]
    })
    .map(|data| B::float_from_data(data, &device));
    (residuals, of_components)
}

/// Between mixtures and others, `[n, m]`.
pub(super) fn matrix(mixtures: &Mixtures, others: &Mixtures, on_targets: OnTargets) -> Tensor<2> {
    let [rows, columns] = [mixtures, others].map(|mixtures| {
        let LocationScaleSamples {
            locations,
            scales,
            targets,
        } = &mixtures.components;
        [locations, scales, &mixtures.weights, targets].map(|x| x.clone().detach().into_data())
    });
    let (dtype, device) = (mixtures.weights.dtype(), mixtures.weights.device());
    let matrix = with_real!(dtype, T => {
        let [rows, columns] = [&rows, &columns].map(|all| Numbers::<T>::new(all, on_targets));
        let (matrix, _) = rows.batch(0, 1).products(&columns.batch(0, 1));
        TensorData::new(matrix, [rows.n, columns.n])
    });
    Tensor::from_data(matrix, (&device, dtype))
}

/// Those with respect to locations, scales and weights.
pub(super) fn gradient<B: Backend>(
    mixtures: [FloatTensor<B>; 4],
    of_components: FloatTensor<B>,
    upstream: FloatTensor<B>,
    on_targets: OnTargets,
) -> OfAll<B> {
    let device = mixtures[0].device();
    let data = mixtures.map(|x| ready(B::float_into_data(x)));
    let [of_components, upstream] = [of_components, upstream].map(|x| ready(B::float_into_data(x)));
    let batches = upstream.shape()[0];
    let [locations, scales, weights] = with_real!(data[0].dtype(), T => {
        let all = Numbers::<T>::new(&data, on_targets);
        let mut gradients = [(); 3].map(|()| Vec::<T>::new());
        let of_batch = |all, batch| {
            let numbers = slice::<T>(all);
            let size = numbers.len() / batches;
            &numbers[batch * size..][..size]
        };
        for batch in 0..batches {
            let [of_components, upstream] =
                [&of_components, &upstream].map(|all| of_batch(all, batch));
            let parts = all.batch(batch, batches).gradient(of_components, upstream);
            gradients.iter_mut().zip(parts).for_each(|(all, part)| all.extend(part));
        }
        let [locations, scales, weights] = gradients;
        let shape = data[0].shape().clone();
        [
            TensorData::new(locations, shape.clone()),
            TensorData::new(scales, shape),
            TensorData::new(weights, [all.n, all.each]),
        ]
    })
    .map(|data| B::float_from_data(data, &device));
    (locations, scales, weights)
}

/// The numbers of all mixtures.
struct Numbers<'a, T> {
    n: usize,
    /// Components of a mixture.
    each: usize,
    d: usize,
    locations: &'a [T], // [n·K, d]
    scales: &'a [T],    // [n·K, d]
    weights: &'a [T],   // [n, K]
    targets: Vec<T>,    // [n·K, d], those of the mixtures
    setting: Setting,
    unit: T,
}

impl<'a, T: Select + Element> Numbers<'a, T> {
    fn new(data: &'a [TensorData; 4], on_targets: OnTargets) -> Self {
        let [locations, scales, weights, targets] = data.each_ref().map(slice::<T>);
        let d = data[0].shape()[1];
        let [n, each] = data[2].shape().dims();
        let unit = unit(on_targets.length_scale);
        let targets = targets
            .chunks_exact(d)
            .flat_map(|target| target.repeat(each));
        Self {
            n,
            each,
            d,
            locations,
            scales,
            weights,
            targets: targets.collect(),
            setting: Setting {
                expectations: on_targets.expectations,
                length: on_targets.length_scale * unit,
                // of a kernel on predictions, which is not used here
                profile: Profile::Exponential,
                bandwidth: 1.0,
            },
            unit: T::new(unit),
        }
    }

    fn batch(&self, batch: usize, batches: usize) -> Contraction<'_, T> {
        let count = self.weights.len() / batches;
        let size = count * self.d;
        Contraction {
            rows: Rows {
                locations: &self.locations[batch * size..][..size],
                scales: &self.scales[batch * size..][..size],
                targets: &self.targets[batch * size..][..size],
                d: self.d,
                unit: self.unit,
            },
            weights: &self.weights[batch * count..][..count],
            each: self.each,
            setting: self.setting,
        }
    }
}
