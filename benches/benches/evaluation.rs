//! Estimates, tests and fits from data, on Burn's default device in f32.

use burn_calibration::{hypothesis::NullDistribution, prelude::*};
use burn_calibration_benches::data;
use criterion::{Criterion, criterion_group, criterion_main};
use rand::{SeedableRng, rngs::StdRng};

fn evaluation(criterion: &mut Criterion) {
    let device = Default::default();
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
        let test = AsymptoticSkceTest::new(kernel).with_null(NullDistribution::Bootstrap);
        b.iter(|| test.evaluate(&predictions, &labels, &mut StdRng::seed_from_u64(0)))
    });
    let (logits, labels) = data(10_000, 10, &device);
    let predictions = Categorical::from_logits(logits).expect("finite logits");
    group.bench_function("median_estimate_bootstrap/n10000_m10_r1000", |b| {
        b.iter(|| {
            let kernel = Kernel::exponential()
                .with_bandwidth_of(&predictions.probabilities())
                .expect("a valid kernel");
            let estimate = Skce::unbiased(kernel).estimate(&predictions, &labels);
            let test = AsymptoticSkceTest::new(kernel).with_null(NullDistribution::Bootstrap);
            let outcome = test.evaluate(&predictions, &labels, &mut StdRng::seed_from_u64(0));
            (estimate, outcome)
        })
    });
    group.bench_function("gamma_test/n10000_m10", |b| {
        let test = AsymptoticSkceTest::new(kernel);
        b.iter(|| test.evaluate(&predictions, &labels, &mut StdRng::seed_from_u64(0)))
    });
    let (logits, labels) = data(5000, 10, &device);
    group.bench_function("temperature_fit/n5000_m10", |b| {
        b.iter(|| TemperatureScalingConfig::new().fit(logits.clone(), labels.clone()))
    });
}

criterion_group!(all, evaluation);
criterion_main!(all);
