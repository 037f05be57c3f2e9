use crate::{kernel::Kernel, ops::block_sums};

/// The U-statistics `u_b = 2/(B(B−1)) Σ_{i<j} h_ij` of the SKCE over blocks of `size` consecutive rows on the
/// host, each to the last bit a function of the rows of its block alone; rows after the last whole block are in
/// none. With weights they are `Σ_{i<j} w_i w_j h_ij/Σ_{i<j} w_i w_j`. For the sums of `burn-calibration-accumulator`,
/// which merge in any order, and which check all arguments.
///
/// # Shapes
///
/// - probabilities: `n × m`, row by row
/// - labels: `[n]`, each less than `m`
/// - weights: `[n]`, positive; their products in a block are not all 0
#[doc(hidden)]
pub fn block_values(
    kernel: &Kernel,
    size: usize,
    classes: usize,
    probabilities: &[f64],
    labels: &[u32],
    weights: Option<&[f64]>,
) -> Vec<f64> {
    let rows = (probabilities, classes);
    let bandwidth = kernel.fixed_bandwidth();
    let sums = block_sums(rows, (labels, weights), size, kernel.fused(), bandwidth);
    let pairs = |block: usize| match weights {
        Some(weights) => pair_weight(&weights[block * size..(block + 1) * size]),
        None => (size * (size - 1) / 2) as f64,
    };
    let values = sums.into_iter().enumerate();
    values.map(|(block, sum)| sum / pairs(block)).collect()
}

/// The weight `Σ_{i<j} w_i w_j` of all pairs of samples: their number where each weight is 1.
#[doc(hidden)]
pub fn pair_weight(weights: &[f64]) -> f64 {
    let (mut pairs, mut sum) = (0.0, 0.0);
    for w in weights {
        pairs += w * sum;
        sum += w;
    }
    pairs
}
