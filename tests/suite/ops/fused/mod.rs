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

/// All kernels in full simulations, else eight: each profile, and each distance at least twice.
fn some_kernels() -> Vec<usize> {
    if is_full() {
        (0..KERNELS).collect()
    } else {
        vec![0, 3, 7, 10, 14, 17, 18, 21]
    }
}

/// Value and gradient with respect to probabilities.
fn value_and_gradient(
    skce: &Skce<impl JointKernel<Categorical>>,
    rows: &[Vec<f64>],
    labels: &Tensor<1, Int>,
    dtype: DType,
) -> (f64, Vec<f64>) {
    with_gradient(rows, dtype, |p| skce.value(&of_probabilities(p), labels))
}

/// The largest `|h_ij|`-like scale that a mean of signed numbers is relative to: the biased value,
/// which has no cancellation.
fn agree(
    skce: Skce<impl JointKernel<Categorical>>,
    rows: &[Vec<f64>],
    labels: &[usize],
) -> Result<(), TestCaseError> {
    let labels = crate::data::labels(labels);
    let composed = skce.clone().with_computation(Computation::Composed);
    let exact = value_and_gradient(&composed, rows, &labels, DType::F64);
    let biased = Skce::biased(skce.kernel.clone()).with_computation(Computation::Composed);
    let biased = scalar(biased.value(&of_probabilities(tensor(rows)), &labels));
    let scale = exact.0.abs().max(biased.abs());
    for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 1e-5)] {
        let fused = skce.clone().with_computation(Computation::Fused);
        let (value, gradient) = value_and_gradient(&fused, rows, &labels, dtype);
        let near = (value - exact.0).abs() <= tolerance * scale;
        prop_assert!(near, "{skce:?} {dtype:?}: {value}, not {}", exact.0);
        let largest = largest(&exact.1).max(1e-30);
        for (k, (found, expected)) in gradient.iter().zip(&exact.1).enumerate() {
            let near = (found - expected).abs() <= tolerance * largest;
            prop_assert!(near, "{skce:?} {dtype:?} {k}: {found}, not {expected}");
        }
        let inner = tensor_on(rows, &device(), dtype);
        let without_gradient = scalar(fused.value(&of_probabilities(inner), &labels));
        prop_assert!((without_gradient - value).abs() <= tolerance * scale);
    }
    Ok(())
}

/// Predictions whose entries are multiples of 2⁻²⁰ or 0, so that they are the same in f32: ties of
/// coordinates are ties in both.
pub fn predictions(n: usize, m: usize, sharpness: f64, seed: u64) -> Vec<Vec<f64>> {
    let rows = softmax_rows(&random_rows(n, m, sharpness, &mut rng(seed)));
    let mut rows = mapped(&rows, |p| (p * 1048576.0).round() / 1048576.0);
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
    let rows = table(m, m, |i, j| dot(&a[i], &a[j]));
    MatrixKernel::from_rows(kernel, &rows).unwrap()
}
