//! The SKCE of normal and Laplace predictions, of mixtures of five normals and of twenty draws, and its
//! gradient with respect to locations and scales, in f32 on the host:
//! `cargo bench -p burn-calibration-benches --bench regression`.

use std::{hint::black_box, time::Duration};

use burn::tensor::{Device, Distribution, Tensor};
use burn_calibration::{
    distribution::{Geometry, Laplace, Mixture, Normal, Samples},
    estimator::Skce,
    kernel::TargetKernel,
    ops::Computation,
    prelude::*,
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

/// Predictions and dimensions.
const SIZES: [(usize, usize); 5] = [(256, 1), (1024, 1), (2048, 1), (1024, 4), (16384, 1)];
const SIZES_OF_MANY: [(usize, usize); 3] = [(128, 1), (256, 1), (256, 3)];

fn uniform(n: usize, d: usize, low: f64, high: f64, device: &Device) -> Tensor<2> {
    Tensor::random([n, d], Distribution::Uniform(low, high), device)
}

fn value_and_gradients<P: Geometry<Targets = Tensor<2>>>(
    criterion: &mut Criterion,
    family: &str,
    (sizes, each): (&[(usize, usize)], usize),
    predictions: fn(Tensor<2>, Tensor<2>) -> P,
) where
    RealKernel: TargetKernel<P::Unconditional>,
{
    let device = Device::default().autodiff();
    let targets = [
        ("gaussian", RealKernel::gaussian(0.8)),
        ("laplacian", RealKernel::laplacian(0.8)),
    ];
    for (name, target) in targets {
        for computation in [Computation::Auto, Computation::Composed] {
            let group = format!("{family}_skce_value_and_grad/{name}/{computation:?}");
            let mut group = criterion.benchmark_group(group);
            group
                .sample_size(20)
                .measurement_time(Duration::from_secs(3));
            for &(n, d) in sizes {
                if computation == Computation::Composed && n > 2048 {
                    continue; // several GB
                }
                let locations = uniform(n * each, d, -2.0, 2.0, &device);
                let scales = uniform(n * each, d, 0.2, 1.5, &device);
                let observed = uniform(n, d, -2.5, 2.5, &device);
                for (suffix, bandwidth) in
                    [("", Bandwidth::Fixed(1.0)), ("_median", Bandwidth::Median)]
                {
                    let kernel = TensorKernel::wasserstein(target).with_bandwidth(bandwidth);
                    let skce = Skce::unbiased(kernel).with_computation(computation);
                    let id = BenchmarkId::from_parameter(format!("n{n}_d{d}{suffix}"));
                    group.bench_function(id, |b| {
                        b.iter(|| {
                            let [m, s] = [&locations, &scales]
                                .map(|x| black_box(x).clone().detach().require_grad());
                            let value = skce.value(&predictions(m.clone(), s.clone()), &observed);
                            let gradients = value.clone().backward();
                            (value, m.grad(&gradients), s.grad(&gradients))
                        })
                    });
                }
            }
        }
    }
}

fn families(criterion: &mut Criterion) {
    value_and_gradients(criterion, "normal", (&SIZES, 1), Normal::new);
    value_and_gradients(criterion, "laplace", (&SIZES, 1), Laplace::new);
    value_and_gradients(criterion, "mixture", (&SIZES_OF_MANY, 5), |m, s| {
        let weights = Tensor::full([m.dims()[0] / 5, 5], 0.2, &m.device());
        Mixture::new(weights, Normal::new(m, s))
    });
    value_and_gradients(criterion, "samples", (&SIZES_OF_MANY, 20), |m, s| {
        let [rows, d] = m.dims();
        Samples::new((m * s).reshape([rows / 20, 20, d]))
    });
}

criterion_group!(benches, families);
criterion_main!(benches);
