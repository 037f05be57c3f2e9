//! The fused pair statistic against its composition from tensor operations: values, gradients with
//! respect to predictions, logits and the bandwidth, for all that it has.

mod agreement;
mod definitions;
mod degenerate;
mod median;

use burn::tensor::activation;
use proptest::prelude::*;

use crate::prelude::*;

/// How many [`kernel`]s there are: each profile over each distance.
const KERNELS: usize = 24;

fn kernel(which: usize, bandwidth: Bandwidth) -> Kernel {
    let profiles = [
        Profile::Exponential,
        Profile::Gaussian,
        Profile::Matern32,
        Profile::Matern52,
        Profile::RationalQuadratic { alpha: 0.7 },
        Profile::RationalQuadratic { alpha: 1e4 },
        Profile::GeneralisedExponential { exponent: 0.6 },
        Profile::GeneralisedExponential { exponent: 1.5 },
    ];
    Kernel {
        profile: profiles[which / 6 * 2 + which % 2],
        distance: Distance::ALL[which / 2 % 3],
        bandwidth,
    }
}

/// `κ(r)` as it is defined.
fn kappa(profile: Profile, r: f64) -> f64 {
    match profile {
        Profile::Exponential => (-r).exp(),
        Profile::Gaussian => (-0.5 * r * r).exp(),
        Profile::Matern32 => (1.0 + 3f64.sqrt() * r) * (-3f64.sqrt() * r).exp(),
        Profile::Matern52 => (1.0 + 5f64.sqrt() * r + 5.0 / 3.0 * r * r) * (-5f64.sqrt() * r).exp(),
        Profile::RationalQuadratic { alpha } => (-alpha * (r * r / (2.0 * alpha)).ln_1p()).exp(),
        Profile::GeneralisedExponential { exponent } => (-r.powf(exponent)).exp(),
    }
}

/// Value and gradient with respect to probabilities.
fn value_and_gradient(
    skce: &Skce<impl JointKernel<Categorical>>,
    rows: &[Vec<f64>],
    labels: &Tensor<1, Int>,
    dtype: DType,
) -> (f64, Vec<f64>) {
    let p = tensor_on(rows, &device().autodiff(), dtype).require_grad();
    let value = skce.value(&of_probabilities(p.clone()), labels);
    assert_eq!(value.dtype(), dtype);
    let gradients = value.backward();
    (scalar(value), vector(p.grad(&gradients).unwrap()))
}

/// The largest `|h_ij|`-like scale that a mean of signed numbers is relative to: the biased value,
/// which has no cancellation.
fn agree(
    skce: Skce<impl JointKernel<Categorical>>,
    rows: &[Vec<f64>],
    labels: &[usize],
) -> Result<(), TestCaseError> {
    let labels = crate::data::labels(labels);
    let exact = value_and_gradient(
        &skce.clone().with_computation(Computation::Composed),
        rows,
        &labels,
        DType::F64,
    );
    let scale = {
        let biased = Skce::biased(skce.kernel.clone()).with_computation(Computation::Composed);
        value_and_gradient(&biased, rows, &labels, DType::F64)
            .0
            .abs()
    };
    for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 1e-5)] {
        let fused = skce.clone().with_computation(Computation::Fused);
        let (value, gradient) = value_and_gradient(&fused, rows, &labels, dtype);
        let error = (value - exact.0).abs();
        prop_assert!(
            error <= tolerance * exact.0.abs().max(scale),
            "{skce:?} {dtype:?}: {value}, not {}",
            exact.0
        );
        let largest = exact.1.iter().fold(0.0f64, |a, g| a.max(g.abs()));
        for (k, (found, expected)) in gradient.iter().zip(&exact.1).enumerate() {
            prop_assert!(
                (found - expected).abs() <= tolerance * largest.max(1e-30),
                "{skce:?} {dtype:?} entry {k}: {found}, not {expected}, largest {largest}"
            );
        }
        let inner = tensor_on(rows, &device(), dtype);
        let without_gradient = scalar(fused.value(&of_probabilities(inner), &labels));
        prop_assert!((without_gradient - value).abs() <= tolerance * exact.0.abs().max(scale));
    }
    Ok(())
}

/// Predictions whose entries are multiples of 2⁻²⁰ or 0, so that they are the same in f32: ties of
/// coordinates are ties in both.
fn predictions(n: usize, m: usize, sharpness: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = random_rows(n, m, sharpness, &mut rng(seed))
        .iter()
        .map(|row| {
            let grid = |p: f64| (p * 1048576.0).round() / 1048576.0;
            softmax(row).into_iter().map(grid).collect()
        })
        .collect();
    if n > 3 {
        rows[1] = rows[0].clone(); // coincident
        rows[2] = (0..m).map(|c| f64::from(c == 0)).collect(); // one-hot
        rows[3] = rows[2].clone();
    }
    rows
}

/// `M = A Aᵀ` for a random `A` with fewer columns than rows, so that residuals are shorter than points.
fn matrix_kernel(kernel: Kernel, m: usize, seed: u64) -> MatrixKernel {
    let a = random_rows(m, m.div_ceil(2), 1.0, &mut rng(seed));
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let rows: Vec<Vec<f64>> = a
        .iter()
        .map(|x| a.iter().map(|y| product(x, y)).collect())
        .collect();
    MatrixKernel::from_rows(kernel, &rows).unwrap()
}
