//! The same numbers on every backend that is compiled in: estimates, losses with their gradients,
//! tests with the same seed, fits. The reference is Flex in f64, which the other modules check.

mod classes;
mod medians;
mod non_finite;
mod pair_statistics;
mod real_numbers;

use crate::prelude::*;

/// The other backends that are compiled in, with the dtypes they know and a tolerance relative to the largest
/// number of a kind: 1e-12 in f64, 2e-5 in f32.
fn others() -> Vec<(&'static str, Device, DType, f64)> {
    #[allow(unused_mut)] // without other backends
    let mut backends = Vec::new();
    #[cfg(feature = "ndarray")]
    {
        #[allow(deprecated)] // upstream deprecates the backend; it stays a supported feature here
        let device = Device::ndarray();
        backends.push(("ndarray", device.clone(), DType::F64, 1e-12));
        backends.push(("ndarray", device, DType::F32, 2e-5));
    }
    #[cfg(feature = "wgpu")]
    backends.push(("wgpu", Device::wgpu(Default::default()), DType::F32, 2e-5));
    #[cfg(feature = "cuda")]
    {
        backends.push(("cuda", Device::cuda(0), DType::F64, 1e-12));
        backends.push(("cuda", Device::cuda(0), DType::F32, 2e-5));
    }
    #[cfg(feature = "cubecl-cpu")]
    {
        backends.push(("cpu", Device::cpu(), DType::F64, 1e-12));
        backends.push(("cpu", Device::cpu(), DType::F32, 2e-5));
    }
    backends
}

const N: usize = 24;
const M: usize = 3;

fn logits() -> Vec<Vec<f64>> {
    let mut rows = random_rows(N, M, 2.0, &mut rng(61));
    rows[1] = rows[0].clone(); // coincident predictions
    rows
}

fn classes() -> Vec<usize> {
    random_labels(N, M, &mut rng(62))
}

/// Named numbers.
type Found = Vec<(String, Vec<f64>)>;

/// What is computed on Flex with each instruction set, the best one in f64 first, and on the other backends, with
/// tolerances as above.
fn on_each(compute: impl Fn(&Device, DType) -> Found + Sync) -> Vec<(String, f64, Found)> {
    let mut all = Vec::new();
    for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 2e-5)] {
        let found = on_instruction_sets(|| compute(&Device::flex(), dtype));
        let named = |(name, found)| (format!("flex {name} {dtype:?}"), tolerance, found);
        all.extend(found.into_iter().map(named));
    }
    all.extend(
        others()
            .into_iter()
            .map(|(name, device, dtype, tolerance)| {
                let found = compute(&device, dtype);
                (format!("{name} {dtype:?}"), tolerance, found)
            }),
    );
    all
}

/// Computes named numbers on each backend and compares each kind with the reference; says all that differ.
fn compare(compute: impl Fn(&Device, DType) -> Found + Sync) {
    compare_within(|_| 0.0, compute);
}

/// Compares numbers that are made of products of matrices, for which Burn on CUDA rounds f32 to TF32, of 10
/// binary digits.
fn compare_products(compute: impl Fn(&Device, DType) -> Found + Sync) {
    compare_within(|name| if name == "cuda F32" { 1e-3 } else { 0.0 }, compute);
}

/// The same of several products in a row, or of sums that nearly cancel.
fn compare_many_products(compute: impl Fn(&Device, DType) -> Found + Sync) {
    compare_within(|name| if name == "cuda F32" { 1e-2 } else { 0.0 }, compute);
}

/// Compares within the tolerance of the backend, or `least` where that is larger.
fn compare_within(least: impl Fn(&str) -> f64, compute: impl Fn(&Device, DType) -> Found + Sync) {
    let mut found = on_each(compute).into_iter();
    let (_, _, reference) = found.next().expect("Flex");
    let mut wrong = Vec::new();
    for (name, tolerance, numbers) in found {
        let before = wrong.len();
        let tolerance = tolerance.max(least(&name));
        for ((what, expected), (_, found)) in reference.iter().zip(numbers) {
            assert_eq!(expected.len(), found.len());
            let largest = largest(expected);
            let pairs = expected.iter().zip(&found);
            let differs = |(e, f): &(&f64, &f64)| {
                let error = (*e - *f).abs();
                error.is_nan() || error > tolerance * largest
            };
            if let Some((e, f)) = pairs.clone().find(differs) {
                let (count, of) = (pairs.filter(differs).count(), found.len());
                wrong.push(format!("{name} {what}: {f}, not {e}; {count} of {of}"));
            }
        }
        let agree = reference.len() - (wrong.len() - before);
        println!("{name}: {agree} kinds of numbers agree");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
