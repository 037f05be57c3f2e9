//! Estimates, tests and fits from data, on Burn's default device in f32:
//! `cargo bench -p burn-calibration-benches --bench evaluation`.

use burn_calibration::{
    estimator::Estimator, hypothesis::AsymptoticSkceTest, prelude::*, recalibration::MapKind,
};
use burn_calibration_benches::data;
use criterion::{Criterion, criterion_group, criterion_main};
use rand::{SeedableRng, rngs::StdRng};

fn kernel() -> Kernel {
    Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.5))
}

fn skce_estimate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("skce_estimate");
    group.sample_size(10);
    for n in [2000, 10_000] {
        let (logits, labels) = data(n, 10, &Default::default());
        let predictions = Categorical::from_logits(logits).expect("finite logits");
        group.bench_function(format!("n{n}_m10"), |b| {
            b.iter(|| Skce::unbiased(kernel()).estimate(&predictions, &labels))
        });
    }
}

fn gamma_test(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gamma_test");
    group.sample_size(10);
    let (logits, labels) = data(10_000, 10, &Default::default());
    let predictions = Categorical::from_logits(logits).expect("finite logits");
    group.bench_function("n10000_m10", |b| {
        let test = AsymptoticSkceTest::new(kernel());
        b.iter(|| test.outcome(&predictions, &labels, &mut StdRng::seed_from_u64(0)))
    });
}

/// 999 redraws: of uniform points of the simplex, where most labels are not the most likely class, and of
/// confident predictions, like those of a network with few errors.
fn redraws(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("redraws_999");
    group.sample_size(10);
    for (name, scale) in [("uniform", 1.0), ("confident", 8.0)] {
        let (logits, labels) = data(10_000, 10, &Default::default());
        let predictions = Categorical::from_logits(logits * scale).expect("finite logits");
        group.bench_function(format!("skce/{name}/n10000_m10"), |b| {
            let test = ExactTest::new(Skce::unbiased(kernel()));
            b.iter(|| test.outcome(&predictions, &labels, &mut StdRng::seed_from_u64(0)))
        });
        group.bench_function(format!("ece/{name}/n10000_m10"), |b| {
            let test = ExactTest::new(Ece::default());
            b.iter(|| test.outcome(&predictions, &labels, &mut StdRng::seed_from_u64(0)))
        });
        group.bench_function(format!("omnibus/{name}/n10000_m10"), |b| {
            let test = OmnibusTest::new().with_redraws(999);
            b.iter(|| test.outcome(&predictions, &labels, &mut StdRng::seed_from_u64(0)))
        });
    }
    let (logits, labels) = data(1_000_000, 10, &Default::default());
    let predictions = Categorical::from_logits(logits * 8.0).expect("finite logits");
    group.bench_function("omnibus/confident/n1000000_m10", |b| {
        let test = OmnibusTest::new().with_redraws(999);
        b.iter(|| test.outcome(&predictions, &labels, &mut StdRng::seed_from_u64(0)))
    });
}

/// Fits of every map of logits as it is by default.
fn fits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fits");
    group.sample_size(10);
    let (logits, labels) = data(5000, 10, &Default::default());
    for kind in MapKind::ALL {
        group.bench_function(format!("{}/n5000_m10", kind.name()), |b| {
            b.iter(|| kind.config(0).fit(logits.clone(), labels.clone()))
        });
    }
}

criterion_group!(evaluation, skce_estimate, gamma_test, redraws, fits);
criterion_main!(evaluation);
