use crate::{
    error::{Error, Result, check_parameter, checks::check_classes},
    kernel::{Bandwidth, Kernel},
    ops::block_sums,
};

/// The U-statistics `u_b = 2/(B(B−1)) Σ_{i<j} h_ij` of the SKCE over blocks of `size` consecutive rows on the
/// host, each to the last bit a function of the rows of its block alone; rows after the last whole block are in
/// none. With weights they are `Σ_{i<j} w_i w_j h_ij/Σ_{i<j} w_i w_j`. For sums that merge in any order.
///
/// # Shapes
///
/// - probabilities: `n × m`, row by row
/// - labels: `[n]`, each less than `m`
/// - weights: `[n]`, positive; their products in a block are not all 0
///
/// Cost: `(B − 1)/2` pairs of `m` operations and an exponential for each row, on all threads.
///
/// # Errors
///
/// A bandwidth that is the median ([`Error::Unsupported`]) or not positive, a profile that is not valid, fewer
/// than two rows in a block or than two classes.
///
/// # Panics
///
/// If the numbers do not fill rows, or labels or weights are not as many.
pub fn block_values(
    kernel: &Kernel,
    size: usize,
    classes: usize,
    probabilities: &[f64],
    labels: &[u32],
    weights: Option<&[f64]>,
) -> Result<Vec<f64>> {
    kernel.validate()?;
    let name = "the number of samples of a block";
    check_parameter(size >= 2, name, size as f64, "at least 2")?;
    check_classes(classes)?;
    let Bandwidth::Fixed(bandwidth) = kernel.bandwidth else {
        return Err(Error::Unsupported {
            what: "the median bandwidth is not known from pieces of the predictions".into(),
            expected: "a fixed one, such as the median of some thousand predictions",
        });
    };
    assert_eq!(
        probabilities.len(),
        labels.len() * classes,
        "the numbers fill rows"
    );
    let count = weights.map_or(labels.len(), <[f64]>::len);
    assert_eq!(count, labels.len(), "a weight for each row");
    let sums = block_sums(
        (probabilities, classes),
        (labels, weights),
        size,
        kernel.fused(),
        bandwidth,
    );
    let pairs = |block: usize| match weights {
        Some(weights) => pair_weight(&weights[block * size..(block + 1) * size]),
        None => (size * (size - 1) / 2) as f64,
    };
    let values = sums.into_iter().enumerate();
    Ok(values.map(|(block, sum)| sum / pairs(block)).collect())
}

/// The weight `Σ_{i<j} w_i w_j` of all pairs of samples: their number where each weight is 1.
pub fn pair_weight(weights: &[f64]) -> f64 {
    let pairs = weights
        .iter()
        .fold((0.0, 0.0), |(pairs, sum), w| (pairs + w * sum, sum + w));
    pairs.0
}
