//! Nulls by resampling: `R` quadratic forms in `H`, through one pass over its tiles.

use burn::tensor::Tensor;
use rand::{Rng, RngExt};

use super::sums::Sums;
use crate::{
    estimator::PairMatrix,
    host::{tensor_like, to_vec},
};

/// `T = n·SKCE_uq` of the data, and its replicates.
pub(super) type Replicates = (f64, Vec<f64>);

/// [`NullDistribution::Bootstrap`](super::NullDistribution::Bootstrap).
pub(super) fn arcones_gine(
    pairs: &impl PairMatrix,
    replicates: usize,
    rng: &mut dyn Rng,
) -> Replicates {
    let n = pairs.samples();
    let weights = on_device(pairs, centred_counts(n, replicates, rng), [n, replicates]); // v
    let sums = Sums::over(pairs, &weights);
    let size = n as f64;
    let centred = |(h, row): (&f64, &f64)| h - 2.0 * row / size + sums.total / (size * size);
    let centred: Vec<f64> = sums.diagonal.iter().zip(&sums.rows).map(centred).collect(); // H̃_ii
    let centred_sum: f64 = centred.iter().sum();
    let corrections = to_vec(on_device(pairs, centred, [1, n]).matmul(weights)); // Σ_i v_i H̃_ii
    let replicate = |(form, correction): (&f64, &f64)| (form - correction - centred_sum) / size;
    let replicates = sums.forms.iter().zip(&corrections).map(replicate).collect();
    (sums.statistic(), replicates)
}

/// [`NullDistribution::Multiplier`](super::NullDistribution::Multiplier).
///
/// Given the data its variance is `2 (n − 1)⁻² Σ_{i≠j} H_ij²`, an unbiased estimate of the
/// variance of `T` under the hypothesis.
pub(super) fn multiplier(
    pairs: &impl PairMatrix,
    replicates: usize,
    rng: &mut dyn Rng,
) -> Replicates {
    let n = pairs.samples();
    let mut sign = || if rng.random() { 1.0 } else { -1.0 };
    let signs = (0..n * replicates).map(|_| sign()).collect();
    let sums = Sums::over(pairs, &on_device(pairs, signs, [n, replicates]));
    let replicate = |form: &f64| (form - sums.trace()) / (n as f64 - 1.0); // ε_i² = 1
    (sums.statistic(), sums.forms.iter().map(replicate).collect())
}

fn on_device(pairs: &impl PairMatrix, values: Vec<f64>, shape: [usize; 2]) -> Tensor<2> {
    tensor_like(values, shape, &pairs.diagonal().unsqueeze())
}

/// The number of times that each of `n` samples is drawn in `n` draws, less 1, for each replicate:
/// `n × replicates` in row-major order.
fn centred_counts(n: usize, replicates: usize, rng: &mut dyn Rng) -> Vec<f64> {
    let mut counts = vec![-1.0; n * replicates];
    for replicate in 0..replicates {
        for _ in 0..n {
            counts[rng.random_range(0..n) * replicates + replicate] += 1.0;
        }
    }
    counts
}
