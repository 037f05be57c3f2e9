//! The same numbers on every backend that is compiled in: estimates, losses with their gradients,
//! tests with the same seed, fits. The reference is Flex in f64, which the other modules check.

mod classes;
mod medians;
mod pair_statistics;
mod real_numbers;

use crate::data::*;

/// The backends compiled in, with the dtypes they know and a tolerance relative to the largest
/// number of a kind: 1e-12 in f64, 2e-5 in f32.
fn backends() -> Vec<(&'static str, Device, DType, f64)> {
    #[allow(unused_mut)] // without other backends
    let mut backends = vec![
        ("flex", Device::flex(), DType::F64, 1e-12),
        ("flex", Device::flex(), DType::F32, 2e-5),
    ];
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

/// Computes named numbers on each backend and compares each kind with the reference; says all that differ.
fn compare(compute: impl Fn(&Device, DType) -> Vec<(String, Vec<f64>)>) {
    compare_within(|_, _| 0.0, compute);
}

/// Compares numbers that are made of products of matrices, for which Burn on CUDA rounds f32 to TF32, of 10
/// binary digits.
fn compare_products(compute: impl Fn(&Device, DType) -> Vec<(String, Vec<f64>)>) {
    let is_tf32 = |name: &str, dtype| name == "cuda" && dtype == DType::F32;
    compare_within(
        |name, dtype| if is_tf32(name, dtype) { 1e-3 } else { 0.0 },
        compute,
    );
}

/// Compares within the tolerance of the backend, or `least` where that is larger.
fn compare_within(
    least: impl Fn(&str, DType) -> f64,
    compute: impl Fn(&Device, DType) -> Vec<(String, Vec<f64>)>,
) {
    let reference = compute(&Device::flex(), DType::F64);
    let mut wrong = Vec::new();
    for (name, device, dtype, tolerance) in &backends() {
        let before = wrong.len();
        let tolerance = tolerance.max(least(name, *dtype));
        for ((what, expected), (_, found)) in reference.iter().zip(compute(device, *dtype)) {
            assert_eq!(expected.len(), found.len());
            let largest = expected
                .iter()
                .fold(0.0f64, |largest, x| largest.max(x.abs()));
            let pairs = expected.iter().zip(&found);
            let differs = |(e, f): &(&f64, &f64)| {
                let error = (*e - *f).abs();
                error.is_nan() || error > tolerance * largest
            };
            if let Some((e, f)) = pairs.clone().find(differs) {
                let count = pairs.filter(differs).count();
                wrong.push(format!(
                    "{name} {dtype:?} {what}: {f}, not {e}; {count} of {}",
                    found.len()
                ));
            }
        }
        let agree = reference.len() - (wrong.len() - before);
        println!("{name} {dtype:?}: {agree} kinds of numbers agree");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
