//! The tensor-op compositions on Burn's default device: penalties with their gradients, the
//! quadratic test, the temperature fit.

use std::hint::black_box;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::prelude::*;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng, rngs::StdRng};

fn data(n: usize, m: usize, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let mut rng = StdRng::seed_from_u64(0);
    let logits: Vec<f64> = (0..n * m).map(|_| rng.random_range(-3.0..3.0)).collect();
    let labels: Vec<i64> = (0..n).map(|_| rng.random_range(0..m as i64)).collect();
    let logits = TensorData::new(logits, [n, m]);
    (
        Tensor::from_data(logits, (device, DType::F32)),
        Tensor::from_data(TensorData::new(labels, [n]), device),
    )
}

/// Value and gradient with respect to the logits, synchronised.
fn value_and_gradient(
    loss: &impl burn_calibration::loss::Criterion,
    logits: &Tensor<2>,
    labels: &Tensor<1, Int>,
) -> Tensor<2> {
    let logits = logits.clone().autodiff().require_grad();
    let value = loss.forward(logits.clone(), labels.clone().autodiff());
    let gradient = logits
        .grad(&value.backward())
        .expect("logits require a gradient");
    gradient.device().sync().expect("the device finishes");
    gradient
}

fn penalties(criterion: &mut Criterion) {
    let device = Device::default();
    for (name, kernel) in [
        ("gaussian_l2", Kernel::gaussian()),
        ("exponential_tv", Kernel::exponential()),
    ] {
        let mut group = criterion.benchmark_group(format!("skce_value_and_grad/{name}/composed"));
        group.sample_size(20);
        for (bandwidth, label) in [(Bandwidth::Fixed(0.5), ""), (Bandwidth::Median, "_median")] {
            let loss = SkceLossConfig::new()
                .with_kernel(kernel.with_bandwidth(bandwidth))
                .init();
            for n in [128, 1024] {
                let (logits, labels) = data(n, 10, &device);
                group.bench_function(
                    BenchmarkId::from_parameter(format!("n{n}_m10{label}")),
                    |b| b.iter(|| value_and_gradient(&loss, black_box(&logits), &labels)),
                );
            }
        }
    }
    let mut group = criterion.benchmark_group("mmce/composed");
    group.sample_size(20);
    for n in [128, 1024] {
        let (logits, labels) = data(n, 10, &device);
        let loss = MmceLossConfig::new().init();
        group.bench_function(BenchmarkId::from_parameter(format!("n{n}_m10")), |b| {
            b.iter(|| value_and_gradient(&loss, black_box(&logits), &labels))
        });
    }
}

fn evaluation(criterion: &mut Criterion) {
    let device = Device::default();
    let mut group = criterion.benchmark_group("evaluation");
    group.sample_size(10);
    let (logits, labels) = data(2000, 10, &device);
    let predictions = Categorical::from_logits(logits).expect("finite logits");
    let kernel = Kernel::exponential();
    group.bench_function("bandwidth_median/n2000_m10", |b| {
        b.iter(|| kernel.with_bandwidth_of(&predictions.probabilities()))
    });
    let kernel = kernel.with_bandwidth(Bandwidth::Fixed(0.5));
    group.bench_function("skce_unbiased/n2000_m10", |b| {
        b.iter(|| Skce::unbiased(kernel).estimate(&predictions, &labels))
    });
    group.bench_function("bootstrap/n2000_m10_r1000", |b| {
        let test = AsymptoticSkceTest::new(kernel);
        b.iter(|| test.evaluate(&predictions, &labels, &mut StdRng::seed_from_u64(0)))
    });
    let (logits, labels) = data(5000, 10, &device);
    group.bench_function("temperature_fit/n5000_m10", |b| {
        b.iter(|| TemperatureScalingConfig::new().fit(logits.clone(), labels.clone()))
    });
}

criterion_group!(composed, penalties, evaluation);
criterion_main!(composed);
